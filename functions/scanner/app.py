"""Scheduled every minute: enqueue tasks due before the next scan."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.app import queues, stores
from duecourse.usecases.dispatch.scan_due import ScanDeps, scan_due

RESERVED_MS = 10_000
logger = Logger(service="scanner")
metrics = Metrics(service="scanner")


@logger.inject_lambda_context
@reports_unreadable(logger, metrics, has_to_flush=True)
def handler(_event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    deps = ScanDeps(
        store=stores.task_store(),
        queue=queues.work_queue(),
        clock=stores.clock(),
        fan_out=stores.fan_out(),
        has_time=lambda: context.get_remaining_time_in_millis() > RESERVED_MS,
    )
    result = scan_due(deps, stores.scan_cursors(), shard_count=stores.settings().shard_count)
    if result.dispatched_count:  # a metric of zeros would cost more than the ticks
        metrics.add_metric("TasksDispatched", MetricUnit.Count, result.dispatched_count)
        metrics.flush_metrics()
    if result.dispatched_count or not result.is_complete:
        logger.info("scanned", dispatched=result.dispatched_count, is_complete=result.is_complete)
    return {"dispatched": result.dispatched_count, "is_complete": result.is_complete}
