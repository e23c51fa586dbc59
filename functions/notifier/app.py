"""Tells people what became of their tasks, through the channel they came by."""

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
from duecourse import offered
from duecourse.adapters.sqs import notice_from_body
from duecourse.domain.chat.notice import Notice
from duecourse.domain.errors import RecipientGoneError

logger = Logger(service="notifier")
metrics = Metrics(service="notifier")


@logger.inject_lambda_context
@metrics.log_metrics
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    metrics.add_metric("NoticesTaken", MetricUnit.Count, len(event["Records"]))
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    return process_partial_response(event, _tell, processor, context)


def _tell(record: SQSRecord) -> None:
    try:
        notice = notice_from_body(record.body)
        is_sent = _sent(notice)
    except Exception:
        logger.exception("the notice goes back to the queue", message_id=record.message_id)
        raise
    if is_sent:
        metrics.add_metric("NoticesSent", MetricUnit.Count, 1)
        logger.info("notice_sent", task_id=notice.task_id, channel=notice.channel)


def _sent(notice: Notice) -> bool:
    channel = offered.channels().get(notice.channel)
    if channel is None:
        # A channel that is not set up here will not be there at the next try either.
        logger.warning("nobody can be told", task_id=notice.task_id, channel=notice.channel)
        return False
    try:
        channel.send(notice.target, notice.saying, key=notice.key)
    except RecipientGoneError as gone:
        # Somebody who left, or who blocked us, will not hear it at the next try either.
        logger.warning(
            "nobody is there to be told",
            task_id=notice.task_id,
            channel=notice.channel,
            reason=str(gone),
        )
        return False
    return True
