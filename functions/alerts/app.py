"""Scheduled every five minutes: collect signals, emit metrics, and alert the operators."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.app import services, stores
from duecourse.domain.alerts.rules import Signals, find_alerts
from duecourse.usecases.alerts.collect import collect_signals
from duecourse.usecases.alerts.send import send_alerts

logger = Logger(service="alerts")
metrics = Metrics(service="alerts")


@logger.inject_lambda_context
@metrics.log_metrics
def handler(_event: dict[str, Any], _context: LambdaContext) -> dict[str, list[str]]:
    """Return the names of the raised and the sent alerts. Metrics are emitted in any case."""
    signals = collect_signals(services.alert_sources(), now=stores.clock().now())
    _add_metrics(signals)
    alerts = find_alerts(signals, services.alert_limits())
    told = send_alerts(alerts, services.alert_deps(), now=signals.now)
    raised = [alert.name for alert in alerts]
    if raised:
        logger.warning("alerts_raised", raised=raised, told=told)
    return {"raised": raised, "told": told}


def _add_metrics(signals: Signals) -> None:
    hour = signals.last_hour
    metrics.add_metric("ErrorRatePercent", MetricUnit.Percent, float(hour.failed_percent))
    metrics.add_metric("LateRunsPercent", MetricUnit.Percent, float(hour.late_percent))
    metrics.add_metric("BudgetUsedPercent", MetricUnit.Percent, signals.max_budget_used_percent)
    metrics.add_metric("BreakersOpen", MetricUnit.Count, len(signals.open_breakers))
    metrics.add_metric("DeadLettersStored", MetricUnit.Count, len(signals.dead_letters))
    unreadable = signals.unreadable.count if signals.unreadable else 0
    metrics.add_metric("ItemsUnreadable", MetricUnit.Count, unreadable)
