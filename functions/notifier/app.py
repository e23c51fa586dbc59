"""Tells people what became of their tasks, through the channel they came by."""

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
from duecourse.adapters.aws.sqs import notice_from_body
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.app import services, stores
from duecourse.domain.chat.notification import Notice
from duecourse.usecases.chat.deliver_notification import Given, Told, give_notice

logger = Logger(service="notifier")
metrics = Metrics(service="notifier")


class HeldError(Exception):
    """Nothing went wrong: the message stays in the queue, where it is hidden until its time."""


@logger.inject_lambda_context
@metrics.log_metrics
@reports_unreadable(logger, metrics)
def handler(event: dict[str, Any], context: LambdaContext) -> Any:
    metrics.add_metric("NoticesTaken", MetricUnit.Count, len(event["Records"]))
    processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)
    return process_partial_response(event, _tell, processor, context)


def _tell(record: SQSRecord) -> None:
    now = stores.clock().now()
    try:
        notice = notice_from_body(record.body)
        given = give_notice(notice, services.crier(), has_waited=_was_given_before(record), now=now)
        if given.until is not None:
            stores.notices().hide(record.receipt_handle, until=given.until, now=now)
    except Exception:
        logger.exception("the notice goes back to the queue", message_id=record.message_id)
        raise
    _report(notice, given)
    if given.until is not None:
        raise HeldError


def _was_given_before(record: SQSRecord) -> bool:
    """It was held until quiet hours ended, or its chat was down: meanwhile things may change."""
    return int(record.attributes.approximate_receive_count) > 1


def _report(notice: Notice, given: Given) -> None:
    if given.told is Told.SENT:
        metrics.add_metric("NoticesSent", MetricUnit.Count, 1)
    is_lost = given.told in (Told.NO_CHANNEL, Told.NOBODY)
    (logger.warning if is_lost else logger.info)(
        str(given.told),
        task_id=notice.task_id,
        channel=notice.channel,
        kind=str(notice.kind),
        reason=given.reason,
        until=_shown(given.until),
    )


def _shown(until: datetime | None) -> str | None:
    return until.isoformat() if until else None
