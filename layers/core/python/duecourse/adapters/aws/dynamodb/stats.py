"""Daily counters, updated as events happen, so statistics need a few reads per day counted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pynamodb.exceptions import UpdateError
from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action

from duecourse.adapters.aws.dynamodb.conditions import is_condition_failed
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.adapters.aws.dynamodb.subjects import to_subject
from duecourse.adapters.aws.dynamodb.tracking_models import (
    CounterItem,
    RepeatIndex,
    SubjectItem,
    TrackerItem,
)
from duecourse.domain.failures.subject import Subject
from duecourse.domain.journal.counters import Increment, merge_increments
from duecourse.domain.journal.failure_tracker import FailureTracker
from duecourse.domain.journal.stats import DailyCounter
from duecourse.domain.time.instant import from_text, to_text

RETENTION = timedelta(days=32)  # the longest window, plus the days in which it starts and ends
# A day has a few dozen counters. Only callers that invent provider names could reach this limit.
MAX_COUNTERS = 1_000
MAX_REPEATED = 200
MAX_ATTEMPTS = 5
TRACKER = "tracker"
_GAVE_UP_PARTITION = "y"
_REPEATS_PARTITION = "y"


class DynamoStats:
    def add(self, increments: Iterable[Increment]) -> None:
        """Add the increments, one write per counter.

        A write whose response was lost is sent again and then counts twice. Counts that must be
        exact are written by the error log, in a transaction.
        """
        for increment in merge_increments(increments):
            _add_increment(increment)

    def read_counters(self, days: Sequence[str]) -> Sequence[DailyCounter]:
        found = [CounterItem.query(day, limit=MAX_COUNTERS) for day in days]
        return [one for items in found for one in read_items(items, _to_daily_counter)]

    def list_given_up(self, limit: int) -> Sequence[Subject]:
        found = SubjectItem.gave_up_index.query(
            _GAVE_UP_PARTITION, scan_index_forward=False, limit=limit
        )
        return list(read_items(found, to_subject))

    def list_repeated(self, *, since: datetime) -> Sequence[FailureTracker]:
        """Return trackers with repeated failures since then, latest first, at most MAX_REPEATED."""
        found = TrackerItem.repeat_index.query(
            _REPEATS_PARTITION,
            RepeatIndex.repeated_since >= to_text(since),
            scan_index_forward=False,
            limit=MAX_REPEATED,
        )
        return list(read_items(found, to_tracker))


def to_update_actions(increment: Increment) -> list[Action]:
    """Return the update actions of `increment`, except for maximums, which need a condition."""
    sums = [Path(name).add(number) for name, number in increment.sums.items()]
    firsts = [Path(name).set(Path(name) | text) for name, text in increment.earliest.items()]
    lasts = [Path(name).set(text) for name, text in increment.latest.items()]
    midnight = datetime.fromisoformat(increment.day).replace(tzinfo=UTC)
    expiry = Path("expires_at").set(int((midnight + RETENTION).timestamp()))
    return [*sums, *firsts, *lasts, expiry]


def tracker_key(tracker: FailureTracker) -> str:
    """Return a partition of its own, which no query for a day's counters reads."""
    kind = "subject" if tracker.subject else "task"
    return f"{TRACKER}#{kind}#{tracker.subject or tracker.task_id}"


def to_tracker_item(tracker: FailureTracker) -> TrackerItem:
    since = tracker.repeated_since
    values: dict[str, Any] = {
        "subject": tracker.subject,
        "task_id": tracker.task_id,
        "errors": dict(tracker.errors_by_day),
        "blocked": sorted(tracker.budget_blocked_days) or None,
        "recent": [to_text(at) for at in tracker.recent_errors_at],
        "last_error_category": tracker.last_error_category,
        "version": tracker.version,
        "repeats": _REPEATS_PARTITION if since else None,
        "repeated_since": to_text(since) if since else None,
        "expires_at": int((tracker.last_error_at + RETENTION).timestamp()),
    }
    set_values = {name: value for name, value in values.items() if value is not None}
    return TrackerItem(tracker_key(tracker), TRACKER, **set_values)


def to_tracker(item: TrackerItem) -> FailureTracker:
    return FailureTracker(
        subject=item.subject,
        task_id=item.task_id,
        errors_by_day=item.errors,
        budget_blocked_days=frozenset(item.blocked or ()),
        recent_errors_at=tuple(from_text(text) for text in item.recent),
        last_error_category=item.last_error_category,
        version=int(item.version),
    )


def _add_increment(increment: Increment) -> None:
    """Apply `increment`; if it has a maximum, update that too.

    A new maximum is rare. So the first update requires that the stored one is not exceeded, and
    only if that fails is the maximum set.
    """
    item, actions = CounterItem(increment.day, increment.counter), to_update_actions(increment)
    if not increment.maximums:
        item.update(actions)
        return
    [(name, number)] = increment.maximums.items()
    is_reached, is_exceeded = (
        Path(name) >= number,
        Path(name).does_not_exist() | (Path(name) < number),
    )
    choices = [(actions, is_reached), ([*actions, Path(name).set(number)], is_exceeded)]
    for attempt in range(2 * MAX_ATTEMPTS):
        actions_to_try, condition = choices[attempt % 2]
        try:
            item.update(actions_to_try, condition)
        except UpdateError as error:
            if not is_condition_failed(error) or attempt == 2 * MAX_ATTEMPTS - 1:
                raise
            continue
        return


def _to_daily_counter(item: CounterItem) -> DailyCounter:
    return DailyCounter(item.day, item.counter, item.numbers, item.texts)
