"""Scheduled every five minutes: recover overdue tasks, retry after deploys, expire blocked ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.runtime.unreadable_items import reports_unreadable, unreadable_items
from duecourse.app import queues, registry, services, stores
from duecourse.domain.chat.settings_retention import is_daily_run
from duecourse.domain.errors import UnreadableItemError
from duecourse.usecases.dispatch.expire_blocked import expire_blocked_tasks
from duecourse.usecases.dispatch.retry_after_deploy import RedeployDeps, retry_tasks_after_deploy
from duecourse.usecases.dispatch.scan_due import list_partitions
from duecourse.usecases.limits.circuit_breaker import close_recovered_breakers
from duecourse.usecases.runs.recover_expired_leases import SweepDeps, recover_expired_leases

RESERVED_MS = 20_000
COUNT_OF = {
    "RunsRecovered": "runs_recovered",
    "OverdueTasksRequeued": "overdue_tasks_requeued",
    "TasksRetriedAfterDeploy": "retried_after_deploy",
    "BlockedTasksExpired": "timed_out",
}
logger = Logger(service="sweeper")
metrics = Metrics(service="sweeper")


@logger.inject_lambda_context
@reports_unreadable(logger, metrics, has_to_flush=True)
def handler(_event: dict[str, Any], context: LambdaContext) -> dict[str, int]:
    def has_time() -> bool:
        return context.get_remaining_time_in_millis() > RESERVED_MS

    deps = SweepDeps(
        store=stores.task_store(),
        queue=queues.work_queue(),
        failure_queue=queues.failure_queue(),
        clock=stores.clock(),
        has_time=has_time,
    )
    shard_count = stores.settings().shard_count
    partitions = list_partitions(stores.scan_cursors().load(), shard_count)
    counts = asdict(recover_expired_leases(deps, partitions))
    counts |= {
        "breakers_closed": _run_duty(
            lambda: close_recovered_breakers(services.breaker_deps(), now=stores.clock().now())
        ),
        "retried_after_deploy": _run_duty(
            lambda: retry_tasks_after_deploy(registry.deployed_version(), _redeploy_deps(has_time))
        ),
        "timed_out": _run_duty(
            lambda: expire_blocked_tasks(deps, stores.settings().blocked_timeout)
        ),
        "days_summed_up": _run_duty(lambda: stores.counters().compact(now=stores.clock().now())),
        "quiet_hours_expired": _run_duty(_expire_quiet_hours),
        "unreadable": _note_unreadable(),
    }
    _write_metrics(counts)
    if any(counts.values()):
        logger.info("swept", **counts)
    return counts


def _write_metrics(counts: dict[str, int]) -> None:
    """Write what happened. A metric costs more a month than all ticks, so zeros are left out."""
    happened = {metric: counts[name] for metric, name in COUNT_OF.items() if counts[name]}
    for metric, count in happened.items():
        metrics.add_metric(metric, MetricUnit.Count, count)
    if happened:
        metrics.flush_metrics()


def _run_duty(duty: Callable[[], int]) -> int:
    """Return the count of `duty`. An unreadable item must not stop the other duties."""
    try:
        return duty()
    except UnreadableItemError:
        return 0  # set aside and reported


def _expire_quiet_hours() -> int:
    return stores.quiet_hours().expire() if is_daily_run(stores.clock().now()) else 0


def _note_unreadable() -> int:
    """Store which items were unreadable, for the alerts; return how many."""
    found = unreadable_items()
    if found:
        stores.unreadable_notes().write(found, at=stores.clock().now())
    return len(found)


def _redeploy_deps(has_time: Callable[[], bool]) -> RedeployDeps:
    return RedeployDeps(
        store=stores.task_store(),
        deployments=stores.deployments(),
        queue=queues.work_queue(),
        clock=stores.clock(),
        has_time=has_time,
    )
