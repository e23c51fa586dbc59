"""Executes the tasks from the work queues, soonest first."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.aws.sqs import dispatch_from_body
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
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
}


@logger.inject_lambda_context
@metrics.log_metrics
@reports_unreadable(logger, metrics)
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    metrics.add_metric("MessagesReceived", MetricUnit.Count, len(event["Records"]))
    soonest_first = {**event, "Records": sorted(event["Records"], key=_due_at)}
    # A failed message is logged and reported; the invocation succeeds. The processor holds the
    # results of one batch, so each has its own: in the local runtime, batches overlap.
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    return process_partial_response(soonest_first, _handle_record, processor, context)


def _handle_record(record: SQSRecord) -> None:
    try:
        dispatch = dispatch_from_body(record.body)
        ran = execute_task(dispatch, services.worker_deps(), is_slow_queue=_is_slow_queue(record))
    except Exception:
        logger.exception("the message goes back to the queue", message_id=record.message_id)
        raise
    _log_result(dispatch.task_id, ran)


def _is_slow_queue(record: SQSRecord) -> bool:
    queue = stores.settings().slow_work_queue_url.rpartition("/")[2]
    return record.event_source_arn.rpartition(":")[2] == queue


def _log_result(task_id: str, result: ExecutionResult) -> None:
    metrics.add_metric(METRIC_BY_OUTCOME[result.outcome], MetricUnit.Count, 1)
    late_ms = None
    if result.lateness is not None:
        late_ms = round(result.lateness.total_seconds() * 1000)
        metrics.add_metric("Lateness", MetricUnit.Milliseconds, late_ms)
    logger.info(
        str(result.outcome),
        task_id=task_id,
        run_id=result.run_id,
        late_ms=late_ms,
        error=result.error,
        call=asdict(result.call) if result.call else None,
    )


def _due_at(record: dict[str, Any]) -> str:
    try:
        return str(dispatch_from_body(record["body"]).due_at)
    except ValueError:
        return ""
