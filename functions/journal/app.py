"""Consumes the DynamoDB streams: journals changes, counts them, publishes events and notifies."""

from __future__ import annotations

from functools import partial
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.aws.dynamodb.stream import Record, parse_changes, sequence_number, shard_of
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.app import journaling, queues
from duecourse.domain.dispatch.unjournaled import UnjournaledRecords
from duecourse.domain.errors import PublishError
from duecourse.domain.events.stream_change import StreamChange
from duecourse.usecases.journal.process_changes import process_changes

logger = Logger(service="journal")
metrics = Metrics(service="journal")


@logger.inject_lambda_context
@reports_unreadable(logger, metrics, has_to_flush=True)
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Process a batch and return from which record on Lambda has to deliver it again.

    Lambda also calls this at the end of each window, without records. It expects `state` back,
    which is not used: the window is configured for the shard's id.
    """
    records: list[Record] = event["Records"]
    changes = parse_changes(records)
    by_number = {sequence_number(record): record for record in records}
    deps = journaling.journal_deps(
        set_aside=partial(_set_aside, by_number),
        on_retry=_log_retry,
        on_publish_error=_log_unpublished,
    )
    done = process_changes(changes, shard_of(event), deps)
    failed = [sequence_number(record) for record in records[done : done + 1]]
    reply = {"batchItemFailures": [{"itemIdentifier": number} for number in failed]}
    return {**reply, "state": event["state"]} if "state" in event else reply


def _set_aside(records: dict[str, Record], change: StreamChange, error: Exception) -> None:
    """Send the record to the dead-letter queue. It would fail each time and stop the shard."""
    logger.error("record_set_aside", task_id=change.task_id, exc_info=error)
    record = records[change.sequence_number]
    queues.journal_dead_letters().send(
        UnjournaledRecords([record], change.task_id, type(error).__name__)
    )
    metrics.add_metric("RecordsSetAside", MetricUnit.Count, 1)
    metrics.flush_metrics()  # a batch without such a record writes no line of metrics


def _log_retry(change: StreamChange, error: Exception) -> None:
    logger.error("records_not_processed", first_task_id=change.task_id, exc_info=error)


def _log_unpublished(error: PublishError) -> None:
    logger.error("events_not_published", published=error.published_count, exc_info=error)
