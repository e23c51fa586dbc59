"""Parse dead letters from SQS records."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from duecourse.adapters.aws.sqs import (
    dispatch_from_body,
    message_from_body,
    notification_from_body,
    report_from_body,
)
from duecourse.adapters.aws.sqs_batch import QueueRecord
from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue, parse_cause
from duecourse.domain.dispatch.unjournaled import parse_unjournaled
from duecourse.usecases.dead_letters.handle import DeadLetterContent


def letter_from_record(record: QueueRecord) -> DeadLetter:
    attributes = record.message_attributes
    return DeadLetter(
        id=record.message_id,
        queue=_queue_from_arn(record.event_source_arn),
        body=record.body,
        sent_at=_from_milliseconds(record.attributes["SentTimestamp"]),
        cause=parse_cause(
            _attribute_value(attributes, "ErrorCode"), _attribute_value(attributes, "ErrorMessage")
        ),
    )


def parse_content(letter: DeadLetter) -> DeadLetterContent | None:
    """Return the parsed body by queue; None if it cannot be parsed."""
    try:
        match letter.queue:
            case Queue.WORK | Queue.SLOW_WORK:
                return dispatch_from_body(letter.body)
            case Queue.FAILURES:
                return report_from_body(letter.body)
            case Queue.NOTIFICATIONS:
                return notification_from_body(letter.body)
            case Queue.CHAT:
                return message_from_body(letter.body)
            case Queue.JOURNAL:
                return parse_unjournaled(letter.body)
    except ValueError:
        pass
    return None


def _queue_from_arn(arn: str) -> Queue:
    """Find the queue by its name: …SlowWorkDeadLetterQueue…, …WorkDeadLetterQueue…."""
    name = arn.rpartition(":")[2].lower()
    named = (queue for queue in Queue if f"{queue.replace('_', '')}deadletterqueue" in name)
    return next(named, Queue.JOURNAL)


def _from_milliseconds(milliseconds: str) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, tz=UTC)


def _attribute_value(attributes: Mapping[str, Any], name: str) -> str | None:
    found = attributes.get(name) or {}
    return str(found.get("stringValue") or found.get("StringValue") or "") or None
