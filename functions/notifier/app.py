"""Delivers notifications through the channel that the task came from."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from duecourse.adapters.aws.sqs import notification_from_body
from duecourse.adapters.aws.sqs_batch import DeferredMessageError, QueueRecord, sqs_batch_handler
from duecourse.app import queues, services, stores
from duecourse.domain.chat.notification import Notification
from duecourse.usecases.chat.deliver_notification import (
    DeliveryOutcome,
    DeliveryResult,
    deliver_notification,
)

logger = Logger(service="notifier")
metrics = Metrics(service="notifier")


def _handle_record(record: QueueRecord) -> None:
    now = stores.clock().now()
    notification = notification_from_body(record.body)
    result = deliver_notification(
        notification, services.notification_deps(), is_redelivery=_is_redelivery(record), now=now
    )
    if result.outcome is DeliveryOutcome.DEFERRED:
        _defer(record, result, now=now)
    if result.outcome is DeliveryOutcome.CHANNEL_PAUSED:
        _send_later(notification, result, now=now)
    _log_result(notification, result)
    if result.outcome is DeliveryOutcome.DEFERRED:
        raise DeferredMessageError


def _defer(record: QueueRecord, result: DeliveryResult, *, now: datetime) -> None:
    until = result.deferred_until or now
    queues.notification_queue().defer(record.receipt_handle, until=until, now=now)


def _send_later(notification: Notification, result: DeliveryResult, *, now: datetime) -> None:
    """Replace the message by a new one: the receives of a message are limited, and this waits."""
    queues.notification_queue().send_later(
        notification.wait(now=now), at=result.deferred_until or now, now=now
    )


def _is_redelivery(record: QueueRecord) -> bool:
    """Return whether the record was received before: its task may have changed since."""
    return record.receive_count > 1


def _log_result(notification: Notification, result: DeliveryResult) -> None:
    if result.outcome is DeliveryOutcome.SENT:
        metrics.add_metric("NotificationsSent", MetricUnit.Count, 1)
    _log_level(result)(
        str(result.outcome),
        task_id=notification.task_id,
        channel=notification.channel,
        kind=str(notification.kind),
        reason=result.reason,
        until=_to_iso(result.deferred_until),
    )


def _log_level(result: DeliveryResult) -> Callable[..., None]:
    if result.outcome is DeliveryOutcome.CHANNEL_PAUSED and result.reason is not None:
        return logger.error  # it was just refused; others that wait for it are not news
    is_lost = result.outcome in (DeliveryOutcome.NO_CHANNEL, DeliveryOutcome.RECIPIENT_GONE)
    return logger.warning if is_lost else logger.info


def _to_iso(until: datetime | None) -> str | None:
    return until.isoformat() if until else None


handler = sqs_batch_handler(
    _handle_record, logger=logger, metrics=metrics, received_metric="NotificationsReceived"
)
