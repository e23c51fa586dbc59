"""Subjects that were given up, and subjects and tasks that failed repeatedly."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from pynamodb.exceptions import PutError

from duecourse.adapters.aws.dynamodb.conditions import is_condition_failed
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.adapters.aws.dynamodb.subjects import REPEATS_PARTITION, to_subject
from duecourse.adapters.aws.dynamodb.tracking_models import (
    RepeatedSubjectIndex,
    RepeatIndex,
    SubjectItem,
    TrackerItem,
)
from duecourse.domain.failures.subject import Subject
from duecourse.domain.journal.failure_tracker import FailureTracker, tracker_of_subject
from duecourse.domain.tasks.recent_errors import RecentErrors
from duecourse.domain.time.instant import from_text, to_text, to_text_or_none

RETENTION = timedelta(days=32)  # the longest window, plus the days in which it starts and ends
MAX_REPEATED = 200
TRACKER = "tracker"
_GAVE_UP_PARTITION = "y"


class DynamoStats:
    def list_given_up(self, limit: int) -> Sequence[Subject]:
        found = SubjectItem.gave_up_index.query(
            _GAVE_UP_PARTITION, scan_index_forward=False, limit=limit
        )
        return list(read_items(found, to_subject))

    def save_tracker(self, tracker: FailureTracker) -> None:
        """Store the tracker unless a later one of the task is stored. Idempotent."""
        is_later = TrackerItem.version.does_not_exist() | (TrackerItem.version < tracker.version)
        try:
            _to_item(tracker).save(is_later)
        except PutError as error:
            if not is_condition_failed(error):
                raise

    def delete_tracker(self, task_id: str) -> None:
        TrackerItem(_tracker_key(task_id), TRACKER).delete()

    def list_repeated(self, *, since: datetime) -> Sequence[FailureTracker]:
        """Return trackers with repeated failures since then, latest first, at most MAX_REPEATED."""
        tasks = TrackerItem.repeat_index.query(
            REPEATS_PARTITION,
            RepeatIndex.repeated_since >= to_text(since),
            scan_index_forward=False,
            limit=MAX_REPEATED,
        )
        subjects = SubjectItem.repeat_index.query(
            REPEATS_PARTITION,
            RepeatedSubjectIndex.repeated_since >= to_text(since),
            scan_index_forward=False,
            limit=MAX_REPEATED,
        )
        found = [
            *read_items(tasks, _to_tracker),
            *(tracker_of_subject(subject) for subject in read_items(subjects, to_subject)),
        ]
        # The later one wins: version 0.1 stored the errors of a subject among the tasks' trackers.
        by_id = {(one.subject, one.task_id): one for one in sorted(found, key=_last_error_at)}
        return sorted(by_id.values(), key=_last_error_at, reverse=True)[:MAX_REPEATED]


def _to_item(tracker: FailureTracker) -> TrackerItem:
    return TrackerItem(
        _tracker_key(tracker.task_id),
        TRACKER,
        task_id=tracker.task_id,
        recent_errors=tracker.errors,
        last_error_kind=tracker.last_kind,
        version=tracker.version,
        repeats=REPEATS_PARTITION,
        repeated_since=to_text_or_none(tracker.errors.repeated_since),
        expires_at=int((tracker.last_error_at + RETENTION).timestamp()),
    )


def _tracker_key(task_id: str | None) -> str:
    return f"{TRACKER}#task#{task_id}"


def _to_tracker(item: TrackerItem) -> FailureTracker:
    errors = item.recent_errors or RecentErrors(
        by_day=item.errors,
        latest=tuple(from_text(text) for text in item.recent),
        last_category=item.last_error_category,
    )
    return FailureTracker(
        subject=item.subject,
        task_id=item.task_id,
        errors=errors,
        last_kind=item.last_error_kind,
        version=int(item.version),
    )


def _last_error_at(tracker: FailureTracker) -> datetime:
    return tracker.last_error_at
