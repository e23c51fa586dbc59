"""Every five minutes: take up what a crash left lying, what nobody dispatched, and what waited for
mended code; end what was blocked too long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse import offered, parts
from duecourse.usecases.dispatch_due import all_shards
from duecourse.usecases.guard_provider import close_breakers
from duecourse.usecases.sweep import Sweeper, sweep
from duecourse.usecases.take_up_mended import Mender, take_up_mended
from duecourse.usecases.time_out_blocked import time_out_blocked

SPARE_MS = 20_000
logger = Logger(service="sweeper")
metrics = Metrics(service="sweeper")


@logger.inject_lambda_context
@metrics.log_metrics
def handler(_event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    def has_time() -> bool:
        return context.get_remaining_time_in_millis() > SPARE_MS

    sweeper = Sweeper(
        store=parts.task_store(),
        queue=parts.work_queue(),
        failures=parts.failure_queue(),
        clock=parts.clock(),
        has_time=has_time,
    )
    shards = all_shards(parts.cursors().load(), parts.settings().shard_count)
    swept = sweep(sweeper, shards)
    closed = close_breakers(parts.breakers(), now=parts.clock().now())
    taken_up = take_up_mended(offered.version(), _mender(has_time))
    timed_out = time_out_blocked(sweeper, parts.settings().blocked_for)
    metrics.add_metric("RunsRecovered", MetricUnit.Count, swept.recovered)
    metrics.add_metric("OverdueSentAgain", MetricUnit.Count, swept.sent_again)
    metrics.add_metric("TasksTakenUp", MetricUnit.Count, taken_up)
    metrics.add_metric("BlockedTimedOut", MetricUnit.Count, timed_out)
    counts = {**asdict(swept), "breakers_closed": closed, "taken_up": taken_up}
    counts["timed_out"] = timed_out
    if any(counts.values()):
        logger.info("swept", **counts)
    return counts


def _mender(has_time: Callable[[], bool]) -> Mender:
    return Mender(
        store=parts.task_store(),
        deployments=parts.deployments(),
        queue=parts.work_queue(),
        clock=parts.clock(),
        has_time=has_time,
    )
