"""Delivers notifications through the channel that the task came from."""

from __future__ import annotations

from datetime import datetime
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
from duecourse.adapters.aws.sqs import notification_from_body
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.app import queues, services, stores
from duecourse.domain.chat.notification import Notification
from duecourse.usecases.chat.deliver_notification import (
    DeliveryOutcome,
    DeliveryResult,
    deliver_notification,
)

logger = Logger(service="notifier")
metrics = Metrics(service="notifier")


class DeferredError(Exception):
    """Raised to keep a deferred notification on the queue, where it is hidden until its time."""


@logger.inject_lambda_context
@metrics.log_metrics
@reports_unreadable(logger, metrics)
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    metrics.add_metric("NotificationsReceived", MetricUnit.Count, len(event["Records"]))
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    return process_partial_response(event, _handle_record, processor, context)


def _handle_record(record: SQSRecord) -> None:
    now = stores.clock().now()
    try:
        notice = notification_from_body(record.body)
        given = deliver_notification(
            notice, services.notification_deps(), is_redelivery=_is_redelivery(record), now=now
        )
        if given.deferred_until is not None:
            queues.notification_queue().defer(
                record.receipt_handle, until=given.deferred_until, now=now
            )
    except Exception:
        logger.exception("the notice goes back to the queue", message_id=record.message_id)
        raise
    _log_result(notice, given)
    if given.deferred_until is not None:
        raise DeferredError


def _is_redelivery(record: SQSRecord) -> bool:
    """Return whether the record was received before: its task may have changed since."""
    return int(record.attributes.approximate_receive_count) > 1


def _log_result(notification: Notification, result: DeliveryResult) -> None:
    if result.outcome is DeliveryOutcome.SENT:
        metrics.add_metric("NotificationsSent", MetricUnit.Count, 1)
    is_lost = result.outcome in (DeliveryOutcome.NO_CHANNEL, DeliveryOutcome.RECIPIENT_GONE)
    (logger.warning if is_lost else logger.info)(
        str(result.outcome),
        task_id=notification.task_id,
        channel=notification.channel,
        kind=str(notification.kind),
        reason=result.reason,
        until=_to_iso(result.deferred_until),
    )


def _to_iso(until: datetime | None) -> str | None:
    return until.isoformat() if until else None
