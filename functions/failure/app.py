"""Records the failures reported on the failures queue."""

from __future__ import annotations

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
from duecourse.adapters.aws.sqs import report_from_body
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.app import services
from duecourse.usecases.failures.record_failure import RecordedFailure, record_failure

logger = Logger(service="failure")
metrics = Metrics(service="failure")


@logger.inject_lambda_context
@metrics.log_metrics
@reports_unreadable(logger, metrics)
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    metrics.add_metric("FailureReportsReceived", MetricUnit.Count, len(event["Records"]))
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    return process_partial_response(event, _handle_record, processor, context)


def _handle_record(record: SQSRecord) -> None:
    try:
        recorded = record_failure(report_from_body(record.body), services.failure_deps())
    except Exception:
        logger.exception("the report goes back to the queue", message_id=record.message_id)
        raise
    if recorded is not None:
        _log_recorded(recorded)


def _log_recorded(recorded: RecordedFailure) -> None:
    decision = recorded.decision
    metrics.add_metric("FailuresRecorded", MetricUnit.Count, 1)
    logger.info(
        "failure_recorded",
        task_id=recorded.task.id,
        category=decision.category.name,
        pattern=recorded.diagnosis.pattern,
        next_step=str(decision.action),
        retry_count=decision.retry_count,
    )
