"""Answers chat messages, those of one sender in order."""

from __future__ import annotations

from aws_lambda_powertools import Logger, Metrics
from duecourse.adapters.aws.sqs import message_from_body
from duecourse.adapters.aws.sqs_batch import QueueRecord, sqs_batch_handler
from duecourse.app import queues, registry, services, stores
from duecourse.app.lazy import lazy
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import RecipientGoneError
from duecourse.ports.integrations import Channel
from duecourse.usecases.chat.handle_message import (
    ReplyDeps,
    ReplyOutcome,
    ReplyResult,
    handle_message,
)

logger = Logger(service="chat")
metrics = Metrics(service="chat")


def _handle_record(record: QueueRecord) -> None:
    message = message_from_body(record.body)
    channel = registry.channels().get(message.channel)
    if channel is None:
        # The channel was removed after the message arrived; a retry would hardly find it.
        logger.warning("message_dropped", channel=message.channel, reason="channel not configured")
        return
    _reply(message, channel)


def _reply(message: Message, channel: Channel) -> None:
    deps = ReplyDeps(channel, stores.replies(), lazy(queues.notification_queue))
    try:
        result = handle_message(message, services.chat_context(), deps, now=stores.clock().now())
    except RecipientGoneError as error:
        # The command is done. Only the reply is lost, and a retry could not deliver it either.
        logger.warning("reply_undeliverable", channel=message.channel, reason=str(error))
        return
    _log_result(message, result)


def _log_result(message: Message, result: ReplyResult) -> None:
    is_deferred = result.outcome is ReplyOutcome.DEFERRED
    reason = None if result.error is None else f"{type(result.error).__name__}: {result.error}"
    log = logger.warning if is_deferred else logger.info
    log(str(result.outcome), channel=message.channel, reason=reason)


handler = sqs_batch_handler(
    _handle_record,
    logger=logger,
    metrics=metrics,
    received_metric="MessagesReceived",
    is_fifo=True,  # the messages of one sender are a group
)
