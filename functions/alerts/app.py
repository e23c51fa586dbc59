"""Scheduled every five minutes: collect signals, emit metrics, and alert the operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.app import services, stores
from duecourse.domain.alerts.rules import find_alerts
from duecourse.domain.errors import UnreadableItemError
from duecourse.usecases.alerts.collect import CollectedSignals, collect_signals
from duecourse.usecases.alerts.send import send_alerts

logger = Logger(service="alerts")
metrics = Metrics(service="alerts")


@logger.inject_lambda_context
@metrics.log_metrics
@reports_unreadable(logger, metrics)
def handler(_event: dict[str, Any], _context: LambdaContext) -> dict[str, list[str]]:
    """Return the names of the raised and the sent alerts. Metrics are emitted in any case.

    A source that cannot be read fails the invocation, after the alerts of the others are sent.
    """
    collected = collect_signals(services.alert_sources(), now=stores.clock().now())
    _log_errors(collected.errors)
    _add_metrics(collected)
    alerts = find_alerts(collected.signals, services.alert_limits())
    sent = send_alerts(alerts, services.alert_deps(), now=collected.signals.now)
    raised = [alert.name for alert in alerts]
    if raised:
        logger.warning("alerts_raised", raised=raised, sent=sent)
    _raise_errors(collected.errors)
    return {"raised": raised, "sent": sent}


def _add_metrics(collected: CollectedSignals) -> None:
    """Add the metrics of all sources that could be read."""
    signals, errors = collected.signals, collected.errors
    if "last_hour" not in errors:
        hour = signals.last_hour
        metrics.add_metric("ErrorRatePercent", MetricUnit.Percent, float(hour.failed_percent))
        metrics.add_metric("LateRunsPercent", MetricUnit.Percent, float(hour.late_percent))
    if "budgets" not in errors:
        metrics.add_metric("BudgetUsedPercent", MetricUnit.Percent, signals.max_budget_used_percent)
    if "breakers" not in errors:
        metrics.add_metric("BreakersOpen", MetricUnit.Count, len(signals.open_breakers))
    if "dead_letters" not in errors:
        metrics.add_metric("DeadLettersStored", MetricUnit.Count, len(signals.dead_letters))
    if "unreadable" not in errors:
        count = signals.unreadable.count if signals.unreadable else 0
        metrics.add_metric("ItemsUnreadable", MetricUnit.Count, count)


def _log_errors(errors: Mapping[str, Exception]) -> None:
    for name, error in errors.items():
        logger.error("alert_source_failed", source=name, error=repr(error))


def _raise_errors(errors: Mapping[str, Exception]) -> None:
    """Raise the errors, except for unreadable items: those are reported, and a retry fails too."""
    unexpected = [one for one in errors.values() if not isinstance(one, UnreadableItemError)]
    if unexpected:
        raise ExceptionGroup("some alert sources could not be read", unexpected)
