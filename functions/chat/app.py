"""Answers chat messages, those of one sender in order."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.batch import (
    SqsFifoPartialProcessor,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.aws.sqs import message_from_body
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.app import registry, services, stores
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import RecipientGoneError
from duecourse.usecases.chat.handle_message import handle_message

logger = Logger(service="chat")
metrics = Metrics(service="chat")


@logger.inject_lambda_context
@metrics.log_metrics
@reports_unreadable(logger, metrics)
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    metrics.add_metric("MessagesReceived", MetricUnit.Count, len(event["Records"]))
    # After a failed message, later ones of the same sender wait for it; other senders do not.
    processor = SqsFifoPartialProcessor(skip_group_on_error=True)
    processor.raise_on_entire_batch_failure = False
    return process_partial_response(event, _handle_record, processor, context)


def _handle_record(record: SQSRecord) -> None:
    try:
        message = message_from_body(record.body)
        outcome = _handle_and_describe(message)
    except Exception:
        logger.exception("the message goes back to the queue", message_id=record.message_id)
        raise
    logger.info(outcome, channel=message.channel)


def _handle_and_describe(message: Message) -> str:
    """Handle the message and return the outcome for the log."""
    channel = registry.channels().get(message.channel)
    if channel is None:
        # The channel was removed after the message arrived; a retry would hardly find it.
        return "nobody there: the platform is not set up here"
    now = stores.clock().now()
    try:
        is_new = handle_message(
            message, services.chat_context(), channel, stores.replies(), now=now
        )
    except RecipientGoneError as gone:
        # The command is done. Only the reply is lost, and a retry could not deliver it either.
        return f"nobody there: {gone}"
    return "answered" if is_new else "answered before"
