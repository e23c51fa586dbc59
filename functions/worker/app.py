"""Runs each task that the work queue hands over, soonest first."""

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
from duecourse.usecases.runs.execute_task import Outcome, Ran, run_task

logger = Logger(service="worker")
metrics = Metrics(service="worker")
METRIC_OF = {
    Outcome.DELIVERED: "TasksDelivered",
    Outcome.FAILED: "RunsFailed",
    Outcome.DUPLICATE: "DuplicatesDropped",
    Outcome.EARLY: "SentAgainTooEarly",
    Outcome.PARKED: "TasksParked",
    Outcome.SENT_ON: "SentToTheSlowLane",
    Outcome.TO_BE_VERIFIED: "TasksToBeVerified",
    Outcome.VERIFIED: "VerificationsLookedAt",
}


@logger.inject_lambda_context
@metrics.log_metrics
@reports_unreadable(logger, metrics)
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    metrics.add_metric("MessagesTaken", MetricUnit.Count, len(event["Records"]))
    soonest_first = {**event, "Records": sorted(event["Records"], key=_due)}
    # A failing message is logged and reported by itself; the invocation stays a success. The
    # processor holds one batch's results: on the laptop, batches that wait overlap.
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    return process_partial_response(soonest_first, _run, processor, context)


def _run(record: SQSRecord) -> None:
    try:
        dispatch = dispatch_from_body(record.body)
        ran = run_task(dispatch, services.worker(), is_slow_lane=_is_slow_lane(record))
    except Exception:
        logger.exception("the message goes back to the queue", message_id=record.message_id)
        raise
    _report(dispatch.task_id, ran)


def _is_slow_lane(record: SQSRecord) -> bool:
    queue = stores.settings().slow_work_queue_url.rpartition("/")[2]
    return record.event_source_arn.rpartition(":")[2] == queue


def _report(task_id: str, ran: Ran) -> None:
    metrics.add_metric(METRIC_OF[ran.outcome], MetricUnit.Count, 1)
    late_ms = None
    if ran.late is not None:
        late_ms = round(ran.late.total_seconds() * 1000)
        metrics.add_metric("Lateness", MetricUnit.Milliseconds, late_ms)
    logger.info(
        str(ran.outcome),
        task_id=task_id,
        run_id=ran.run_id,
        late_ms=late_ms,
        error=ran.error,
        call=asdict(ran.call) if ran.call else None,
    )


def _due(record: dict[str, Any]) -> str:
    try:
        return str(dispatch_from_body(record["body"]).due_at)
    except ValueError:
        return ""
