"""Executes the tasks from the work queues, soonest first."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from duecourse.adapters.aws.sqs import dispatch_from_body
from duecourse.adapters.aws.sqs_batch import QueueRecord, sqs_batch_handler
from duecourse.app import services, stores
from duecourse.usecases.runs.execute_task import ExecutionResult, RunOutcome, execute_task

logger = Logger(service="worker")
metrics = Metrics(service="worker")
METRIC_BY_OUTCOME = {
    RunOutcome.DELIVERED: "TasksDelivered",
    RunOutcome.FAILED: "RunsFailed",
    RunOutcome.DUPLICATE: "DuplicatesDropped",
    RunOutcome.REQUEUED_EARLY: "TasksRequeuedEarly",
    RunOutcome.DEFERRED: "TasksDeferred",
    RunOutcome.REROUTED: "TasksRerouted",
    RunOutcome.AWAITING_VERIFICATION: "TasksAwaitingVerification",
    RunOutcome.VERIFICATION_CHECKED: "VerificationsChecked",
    RunOutcome.REPORTED_LATE: "RunsReportedLate",
}


def _handle_record(record: QueueRecord) -> None:
    dispatch = dispatch_from_body(record.body)
    result = execute_task(dispatch, services.worker_deps(), is_slow_queue=_is_slow_queue(record))
    _log_result(dispatch.task_id, result)


def _is_slow_queue(record: QueueRecord) -> bool:
    queue = stores.settings().slow_work_queue_url.rpartition("/")[2]
    return record.event_source_arn.rpartition(":")[2] == queue


def _log_result(task_id: str, result: ExecutionResult) -> None:
    metrics.add_metric(METRIC_BY_OUTCOME[result.outcome], MetricUnit.Count, 1)
    late_ms = None
    if result.lateness is not None:
        late_ms = round(result.lateness.total_seconds() * 1000)
        metrics.add_metric("Lateness", MetricUnit.Milliseconds, late_ms)
    if result.follow_up_error is not None:
        metrics.add_metric("FollowUpsFailed", MetricUnit.Count, 1)
    log = logger.warning if result.follow_up_error else logger.info
    log(
        str(result.outcome),
        task_id=task_id,
        run_id=result.run_id,
        late_ms=late_ms,
        error=result.error,
        follow_up_error=result.follow_up_error,
        call=asdict(result.call) if result.call else None,
    )


def _due_at(record: dict[str, Any]) -> str:
    try:
        return str(dispatch_from_body(record["body"]).due_at)
    except ValueError:
        return ""


handler = sqs_batch_handler(
    _handle_record,
    logger=logger,
    metrics=metrics,
    received_metric="MessagesReceived",
    sort_key=_due_at,
)
