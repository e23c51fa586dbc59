"""Subjects on DynamoDB, each replaced only if its version is unchanged."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from pynamodb.exceptions import PutError
from pynamodb.expressions.condition import Condition

from duecourse.adapters.aws.dynamodb.conditions import is_conflict
from duecourse.adapters.aws.dynamodb.raw_items import find_item
from duecourse.adapters.aws.dynamodb.stored_item import read_item
from duecourse.adapters.aws.dynamodb.tracking_models import SubjectItem
from duecourse.domain.errors import StaleSubjectError
from duecourse.domain.failures.subject import Subject, SubjectStatus
from duecourse.domain.tasks.recent_errors import NO_ERRORS
from duecourse.domain.time.instant import from_text_or_none, to_text_or_none

REPEATS_PARTITION = "y"
RETENTION = timedelta(days=400)  # after the last attempt


class DynamoSubjects:
    def get(self, subject_id: str) -> Subject:
        item = find_item(SubjectItem, subject_id, is_consistent=True)
        return Subject(id=subject_id) if item is None else read_item(item, to_subject)

    def save(self, subject: Subject) -> None:
        try:
            to_subject_item(subject).save(version_condition(subject))
        except PutError as error:
            if not is_conflict(error):
                raise
            if self.get(subject.id) != subject:
                raise StaleSubjectError(subject.id) from error


def version_condition(subject: Subject) -> Condition:
    if subject.version == 1:
        return SubjectItem.id.does_not_exist()
    return SubjectItem.version == subject.version - 1


def to_subject_item(subject: Subject) -> SubjectItem:
    since = subject.recent_errors.repeated_since
    values: dict[str, Any] = {
        "failure_count": subject.failure_count,
        "gave_up": "y" if subject.is_given_up else None,
        "status": str(subject.status) if subject.status else None,
        "last_error_category": subject.last_error_category,
        "last_error_kind": subject.last_error_kind,
        "last_error_message": subject.last_error_message,
        "last_attempt_at": to_text_or_none(subject.last_attempt_at),
        "cooldown_until": to_text_or_none(subject.cooldown_until),
        "recent_errors": subject.recent_errors,
        "repeats": REPEATS_PARTITION if since else None,
        "repeated_since": to_text_or_none(since),
        "version": subject.version,
        "expires_at": _expiry(subject.last_attempt_at),
    }
    return SubjectItem(
        subject.id, **{name: value for name, value in values.items() if value is not None}
    )


def _expiry(last_attempt_at: datetime | None) -> int | None:
    return int((last_attempt_at + RETENTION).timestamp()) if last_attempt_at else None


def to_subject(item: SubjectItem) -> Subject:
    return Subject(
        id=item.id,
        failure_count=int(item.failure_count),
        status=SubjectStatus(item.status) if item.status else None,
        last_error_category=item.last_error_category,
        last_error_kind=item.last_error_kind,
        last_error_message=item.last_error_message,
        last_attempt_at=from_text_or_none(item.last_attempt_at),
        cooldown_until=from_text_or_none(item.cooldown_until),
        recent_errors=item.recent_errors or NO_ERRORS,
        version=int(item.version),
    )
