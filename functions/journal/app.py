"""Follows the tasks table's stream and keeps what happened."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.dynamo_db_stream_event import DynamoDBRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse import wiring
from duecourse.adapters.dynamodb.journal import task_from_image
from duecourse.usecases.record_history import record_history

logger = Logger(service="journal")


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    processor = BatchProcessor(
        event_type=EventType.DynamoDBStreams, raise_on_entire_batch_failure=False
    )
    return process_partial_response(event, _record, processor, context)


def _record(record: DynamoDBRecord) -> None:
    change = record.raw_event["dynamodb"]
    try:
        record_history(
            task_from_image(change.get("OldImage")),
            task_from_image(change.get("NewImage")),
            at=_written_at(change),
            journal=wiring.journal(),
        )
    except Exception:
        logger.exception("the record will be tried again", keys=change.get("Keys"))
        raise


def _written_at(change: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(float(change["ApproximateCreationDateTime"]), tz=UTC)
