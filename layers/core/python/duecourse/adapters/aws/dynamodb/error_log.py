"""The error log and the failure counters. Each error is written once, in one transaction.

An error is stored under its task, under its subject (if it has one), and under its category and
day; in each partition sorted by time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from itertools import count

from pynamodb.exceptions import DoesNotExist, TransactWriteError
from pynamodb.expressions.condition import Condition
from pynamodb.transactions import TransactWrite

from duecourse.adapters.aws.dynamodb.error_cursor import (
    ERROR_PREFIX,
    decode_cursor,
    encode_cursor,
)
from duecourse.adapters.aws.dynamodb.journal import list_latest
from duecourse.adapters.aws.dynamodb.models import JournalItem
from duecourse.adapters.aws.dynamodb.stats import (
    TRACKER,
    to_tracker,
    to_tracker_item,
    to_update_actions,
    tracker_key,
)
from duecourse.adapters.aws.dynamodb.stored_item import read_item, read_items
from duecourse.adapters.aws.dynamodb.tracking_models import CounterItem, TrackerItem
from duecourse.adapters.aws.dynamodb.transaction import write_transaction
from duecourse.domain.errors import UnreadableItemError
from duecourse.domain.journal.counters import (
    FirstFailure,
    Increment,
    Recovery,
    failure_increments,
    recovery_increments,
)
from duecourse.domain.journal.error_log import LoggedError, error_from_json, error_to_json
from duecourse.domain.journal.failure_tracker import FailureTracker, last_days, utc_day
from duecourse.domain.tasks.run import Run
from duecourse.domain.time.instant import from_text, to_text
from duecourse.ports.journal import ErrorPage

MAX_ATTEMPTS = 6
MAX_DAYS = 30
_CONDITION_FAILED = "ConditionalCheckFailed"
# Another writer changed the same counter or tracker at that moment, or writes were throttled.
_RETRYABLE_REASONS = {_CONDITION_FAILED, "TransactionConflict", "ThrottlingError"}
_FIRST_FAILURE_PREFIX, _RECOVERY_PREFIX = "o#", "s#"


class DynamoErrorLog:
    """`backoff` is called with the number of the failed attempt before each retry."""

    def __init__(self, *, retention: timedelta, backoff: Callable[[int], None]) -> None:
        self._retention = retention
        self._backoff = backoff

    def record_error(self, error: LoggedError, run: Run) -> bool:
        return self._write_once(lambda transaction: self._write_error(transaction, error, run))

    def record_recovery(self, recovery: Recovery) -> bool:
        increments = recovery_increments(recovery, self._load_first_failure(recovery))
        return self._write_once(
            lambda transaction: self._write_recovery(transaction, recovery, increments)
        )

    def list_by_task(self, task_id: str) -> Sequence[LoggedError]:
        return list(read_items(list_latest(task_id, ERROR_PREFIX), _to_error))

    def list_by_subject(
        self, subject: str, *, limit: int, cursor: str | None, now: datetime
    ) -> ErrorPage:
        return self._read_page([_subject_key(subject)], limit, decode_cursor(cursor), now)

    def list_by_category(
        self, category: str, *, limit: int, cursor: str | None, now: datetime
    ) -> ErrorPage:
        position, today = decode_cursor(cursor), utc_day(now)
        days = last_days(today, MAX_DAYS + 1)
        left = [day for day in days if f"{ERROR_PREFIX}{day}" <= position]
        return self._read_page([_category_key(category, day) for day in left], limit, position, now)

    def to_journal_items(self, error: LoggedError) -> list[JournalItem]:
        """Return one item per partition. The task's comes first, as `_write_once` requires."""
        keys = [error.task_id, _category_key(error.category, utc_day(error.at))]
        if error.subject:
            keys.append(_subject_key(error.subject))
        stored = {name: value for name, value in error_to_json(error).items() if value is not None}
        entry, at, expiry = _entry_key(error), to_text(error.at), self._expiry(error.at)
        return [JournalItem(key, entry, at=at, error=stored, expires_at=expiry) for key in keys]

    def to_first_failure_item(self, error: LoggedError, run: Run) -> JournalItem:
        """Return the marker with the day and category under which a later recovery is counted."""
        return JournalItem(
            error.task_id,
            _FIRST_FAILURE_PREFIX + run.mutation.idempotency_key,
            at=to_text(error.at),
            detail={"day": utc_day(error.at), "category": error.category},
            expires_at=self._expiry(error.at),
        )

    def _write_error(self, transaction: TransactWrite, error: LoggedError, run: Run) -> None:
        own, *copies = self.to_journal_items(error)
        transaction.save(own, JournalItem.entry.does_not_exist())
        for copy in copies:
            transaction.save(copy)
        if error.attempt == 1:
            transaction.save(self.to_first_failure_item(error, run))
        fresh = FailureTracker.for_error(error)
        try:
            tracker = _load_tracker(fresh)
        except UnreadableItemError:
            # The tracker stays as it is, until newer code reads it or its TTL removes it.
            tracker = fresh
        else:
            transaction.save(to_tracker_item(tracker.record(error)), _version_condition(tracker))
        is_newly_blocked = tracker.is_newly_blocked(error)
        _add_increments(
            transaction, failure_increments(error, run, is_newly_blocked=is_newly_blocked)
        )

    def _write_recovery(
        self, transaction: TransactWrite, recovery: Recovery, increments: Iterable[Increment]
    ) -> None:
        at = recovery.recovered_at
        marker = JournalItem(
            recovery.task_id,
            _RECOVERY_PREFIX + recovery.run_id,
            at=to_text(at),
            expires_at=self._expiry(at),
        )
        transaction.save(marker, JournalItem.entry.does_not_exist())
        _add_increments(transaction, increments)

    def _write_once(self, fill: Callable[[TransactWrite], None]) -> bool:
        """Write the transaction and return True, or False if it was written before.

        `fill` puts a conditional item first: if it exists, the whole transaction was written.
        """
        for attempt in count(1):
            try:
                with write_transaction() as transaction:
                    fill(transaction)
            except TransactWriteError as error:
                codes = [reason and reason.code for reason in error.cancellation_reasons]
                if codes[:1] == [_CONDITION_FAILED]:
                    return False
                if attempt == MAX_ATTEMPTS or _RETRYABLE_REASONS.isdisjoint(codes):
                    raise
            else:
                return True
            self._backoff(attempt)
        raise AssertionError("count() has no end")

    def _load_first_failure(self, recovery: Recovery) -> FirstFailure | None:
        """Return the marker of the first failure; None if there is none or it is unreadable."""
        key = _FIRST_FAILURE_PREFIX + recovery.occurrence_key
        try:
            item = JournalItem.get(recovery.task_id, key, consistent_read=True)
        except DoesNotExist:
            return None
        return next(read_items([item], lambda item: FirstFailure(**item.detail)), None)

    def _read_page(
        self, partitions: Iterable[str], limit: int, position: str, now: datetime
    ) -> ErrorPage:
        """Return up to `limit` errors before `position`, newest first.

        Items past their retention are left out, even if DynamoDB has not deleted them yet.
        """
        oldest = ERROR_PREFIX + to_text(now - self._retention)
        items: list[JournalItem] = []
        for partition in partitions:
            # One extra item shows whether there is another page.
            item_count = limit + 1 - len(items)
            found = JournalItem.query(
                partition, JournalItem.entry < position, scan_index_forward=False, limit=item_count
            )
            items += [item for item in found if item.entry >= oldest]
            if len(items) > limit:
                break
        errors = list(read_items(items[:limit], _to_error))
        return ErrorPage(errors, _cursor_at(items[limit - 1]) if len(items) > limit else None)

    def _expiry(self, at: datetime) -> int:
        return int((at + self._retention).timestamp())


def _add_increments(transaction: TransactWrite, increments: Iterable[Increment]) -> None:
    for one in increments:
        transaction.update(CounterItem(one.day, one.counter), to_update_actions(one))


def _load_tracker(fresh: FailureTracker) -> FailureTracker:
    """Return the stored tracker; `fresh` if there is none."""
    try:
        item = TrackerItem.get(tracker_key(fresh), TRACKER, consistent_read=True)
    except DoesNotExist:
        return fresh
    return read_item(item, to_tracker)


def _version_condition(tracker: FailureTracker) -> Condition:
    """Require the tracker to be unchanged since it was read; otherwise the write is retried."""
    if tracker.version == 0:
        return TrackerItem.version.does_not_exist()
    return TrackerItem.version == tracker.version


def _subject_key(subject: str) -> str:
    return f"subject#{subject}"


def _category_key(category: str, day: str) -> str:
    return f"category#{category}#{day}"


def _entry_key(error: LoggedError) -> str:
    return f"{ERROR_PREFIX}{to_text(error.at)}#{error.id}"


def _to_error(item: JournalItem) -> LoggedError:
    return error_from_json(item.error)


def _cursor_at(item: JournalItem) -> str:
    _, at, run_id = item.entry.split("#", 2)
    return encode_cursor(from_text(at), run_id)
