"""Consumes the dead-letter queues: each message becomes a failure of its task or is stored."""

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
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.app import services
from duecourse.usecases.dead_letters.handle import handle_dead_letter

from .parsing import letter_from_record, parse_content

logger = Logger(service="deadletter")
metrics = Metrics(service="deadletter")


@logger.inject_lambda_context
@metrics.log_metrics
@reports_unreadable(logger, metrics)
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    metrics.add_metric("DeadLettersReceived", MetricUnit.Count, len(event["Records"]))
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    return process_partial_response(event, _handle_record, processor, context)


def _handle_record(record: SQSRecord) -> None:
    try:
        letter = letter_from_record(record)
        taken = handle_dead_letter(letter, parse_content(letter), services.dead_letter_deps())
    except Exception:
        logger.exception("the letter stays where it is", message_id=record.message_id)
        raise
    logger.warning("dead_letter", outcome=str(taken), queue=str(letter.queue), letter_id=letter.id)
