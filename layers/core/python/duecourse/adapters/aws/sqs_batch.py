"""The Lambda handler of the functions that read a queue. Only functions import this module.

It is in the layer because the functions are separate packages on Lambda: there is no package above
them that could hold what they share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import (
    BasePartialBatchProcessor,
    BatchProcessor,
    EventType,
    SqsFifoPartialProcessor,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext

from duecourse.adapters.runtime.unreadable_items import reports_unreadable

RecordHandler = Callable[[SQSRecord], None]
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
    def handler(event: dict[str, Any], context: LambdaContext) -> Any:
        records = event["Records"]
        metrics.add_metric(received_metric, MetricUnit.Count, len(records))
        if sort_key is not None:
            event = {**event, "Records": sorted(records, key=sort_key)}
        # The processor holds the results of one batch. In the local runtime, batches overlap.
        processor = _new_processor(is_fifo=is_fifo)
        handle = _log_failures(handle_record, logger)
        return process_partial_response(event, handle, processor, context)

    return handler


def _new_processor(*, is_fifo: bool) -> BasePartialBatchProcessor:
    if not is_fifo:
        return BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    processor = SqsFifoPartialProcessor(skip_group_on_error=True)
    processor.raise_on_entire_batch_failure = False
    return processor


def _log_failures(handle_record: RecordHandler, logger: Logger) -> RecordHandler:
    def handle(record: SQSRecord) -> None:
        try:
            handle_record(record)
        except DeferredMessageError:
            raise
        except Exception:
            logger.exception("message_requeued", message_id=record.message_id)
            raise

    return handle
