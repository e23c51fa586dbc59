"""Follows the tasks table's stream, keeps what happened and has people told."""

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
from duecourse import parts
from duecourse.adapters.dynamodb.journal import task_from_image
from duecourse.domain.tally import Increment
from duecourse.usecases.record_history import record_history

logger = Logger(service="journal")


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    processor = BatchProcessor(
        event_type=EventType.DynamoDBStreams, raise_on_entire_batch_failure=False
    )
    batch = _Batch()
    reply = process_partial_response(event, batch.keep, processor, context)
    _count(batch.increments)
    return reply


class OutOfOrderError(Exception):
    """An earlier change of the same task is still to be kept."""


class _Batch:
    """What is to be counted of one batch, and whose changes could not be kept."""

    def __init__(self) -> None:
        self.increments: list[Increment] = []
        self._failed: set[str] = set()

    def keep(self, record: DynamoDBRecord) -> None:
        change = record.raw_event["dynamodb"]
        task_id = change["Keys"]["id"]["S"]
        try:
            if task_id in self._failed:
                raise OutOfOrderError(task_id)
            increments = _record(change)
        except Exception:
            logger.exception("the record will be tried again", keys=change.get("Keys"))
            self._failed.add(task_id)
            raise
        # From the first that failed, the whole rest of the batch comes again: it is counted then.
        if not self._failed:
            self.increments += increments


def _record(change: dict[str, Any]) -> list[Increment]:
    return record_history(
        task_from_image(change.get("OldImage")),
        task_from_image(change.get("NewImage")),
        at=_written_at(change),
        journal=parts.journal(),
        errors=parts.error_log(),
        notices=parts.notices(),
    )


def _count(increments: list[Increment]) -> None:
    """How late runs were: one write for the batch, which counts twice if the batch comes twice.

    By now all history is kept. To have the batch come again for the sake of this would replay it
    as long as the counters cannot be written, so what cannot be counted is logged and let go.
    """
    try:
        parts.stats().add(increments)
    except Exception:
        logger.exception("runs are missing in the statistics", increments=len(increments))


def _written_at(change: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(float(change["ApproximateCreationDateTime"]), tz=UTC)
