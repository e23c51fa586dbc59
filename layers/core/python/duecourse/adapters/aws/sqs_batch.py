"""The Lambda handler of the functions that read a queue. Only functions import this module.

It is in the layer because the functions are separate packages on Lambda: there is no package above
them that could hold what they share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from duecourse.adapters.runtime.unreadable_items import reports_unreadable


@dataclass(frozen=True, slots=True)
class QueueRecord:
    """One message of a batch. `group_id` is empty unless the queue is FIFO.

    Powertools' records and batch processor load asyncio and many event classes: a fifth of a cold
    start of the worker.
    """

    message_id: str
    body: str
    receipt_handle: str
    event_source_arn: str
    attributes: Mapping[str, str]
    message_attributes: Mapping[str, Any]

    @property
    def group_id(self) -> str:
        return self.attributes.get("MessageGroupId", "")

    @property
    def receive_count(self) -> int:
        return int(self.attributes["ApproximateReceiveCount"])


# A log line names its function and request; the rest is longer than many messages.
_LEFT_OUT = ("cold_start", "function_arn", "function_memory_size")
RecordHandler = Callable[[QueueRecord], None]
SortKey = Callable[[dict[str, Any]], str]


class DeferredMessageError(Exception):
    """Raised to keep a message on its queue, where it is hidden until its time. Not logged."""


def sqs_batch_handler(
    handle_record: RecordHandler,
    *,
    logger: Logger,
    metrics: Metrics,
    received_metric: str,
    sort_key: SortKey | None = None,
    is_fifo: bool = False,
) -> Callable[[dict[str, Any], LambdaContext], Any]:
    """Return the handler of a function that calls `handle_record` for each message of a batch.

    A message whose handler raises is logged and returns to its queue; the invocation succeeds. With
    `sort_key`, messages are handled in the order of that key of their raw record. With `is_fifo`,
    later messages of the same group wait for a failed one.
    """

    @logger.inject_lambda_context
    @metrics.log_metrics
    @reports_unreadable(logger, metrics)
    def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
        logger.remove_keys(_LEFT_OUT)
        records = event["Records"]
        metrics.add_metric(received_metric, MetricUnit.Count, len(records))
        if sort_key is not None:
            event = {**event, "Records": sorted(records, key=sort_key)}
        parsed = [_parse_record(record) for record in event["Records"]]
        failed = _handle_all(parsed, _log_failures(handle_record, logger), is_fifo=is_fifo)
        return {"batchItemFailures": [{"itemIdentifier": one.message_id} for one in failed]}

    return handler


def _handle_all(
    records: Sequence[QueueRecord], handle: RecordHandler, *, is_fifo: bool
) -> Iterator[QueueRecord]:
    """Handle the records in order and yield those that return to the queue."""
    failed_groups: set[str] = set()
    for record in records:
        if is_fifo and record.group_id in failed_groups:
            yield record
            continue
        try:
            handle(record)
        except Exception:  # noqa: BLE001 - logged already; the message returns to the queue
            failed_groups.add(record.group_id)
            yield record


def _parse_record(record: Mapping[str, Any]) -> QueueRecord:
    return QueueRecord(
        message_id=record["messageId"],
        body=record["body"],
        receipt_handle=record.get("receiptHandle", ""),  # only deferring needs it
        event_source_arn=record.get("eventSourceARN", ""),
        attributes=record.get("attributes") or {},
        message_attributes=record.get("messageAttributes") or {},
    )


def _log_failures(handle_record: RecordHandler, logger: Logger) -> RecordHandler:
    def handle(record: QueueRecord) -> None:
        try:
            handle_record(record)
        except DeferredMessageError:
            raise
        except Exception:
            logger.exception("message_requeued", message_id=record.message_id)
            raise

    return handle
