"""The error log: the records of failed runs, found by task, subject, or category and day."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import merge
from itertools import chain, groupby, islice, takewhile

from duecourse.adapters.aws.dynamodb.error_cursor import ERROR_PREFIX, decode_cursor, encode_cursor
from duecourse.adapters.aws.dynamodb.journal import list_latest
from duecourse.adapters.aws.dynamodb.journal_models import JournalItem
from duecourse.adapters.aws.dynamodb.run_records import (
    category_key,
    error_entry,
    record_key,
    subject_key,
    to_record,
    to_ref,
)
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.domain.journal.error_log import LoggedError, error_from_json
from duecourse.domain.journal.learning_counters import RunRef
from duecourse.domain.journal.run_record import RunRecord, to_logged_error
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.time.instant import to_text
from duecourse.domain.time.utc_days import last_days, utc_day
from duecourse.ports.journal import Counters, ErrorPage

MAX_DAYS = 30


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A failed run that may be listed: by its reference, or the copy that version 0.1 stored."""

    entry: str
    ref: RunRef | None = None
    old_item: JournalItem | None = None


class DynamoErrorLog:
    """`counters` name the runs that failed on the day they began; the others have pointers."""

    def __init__(self, counters: Counters, *, retention: timedelta) -> None:
        self._counters = counters
        self._retention = retention

    def list_by_task(self, task_id: str) -> Sequence[LoggedError]:
        records = read_items(list_latest(task_id, "r#"), to_record)
        errors = {one.run.id: to_logged_error(one) for one in records if _is_own_error(one)}
        for error in read_items(list_latest(task_id, ERROR_PREFIX), _to_old_error):
            errors.setdefault(error.id, error)
        return sorted(errors.values(), key=lambda error: (error.at, error.id))

    def list_by_subject(
        self, subject: str, *, limit: int, cursor: str | None, now: datetime
    ) -> ErrorPage:
        position = decode_cursor(cursor)
        found = _query_pointers(subject_key(subject), position, page_size=limit + 1)
        return self._read_page(found, limit, now)

    def list_by_category(
        self, category: str, *, limit: int, cursor: str | None, now: datetime
    ) -> ErrorPage:
        position, days = decode_cursor(cursor), last_days(utc_day(now), MAX_DAYS + 1)
        left = [day for day in days if f"{ERROR_PREFIX}{day}" <= position]
        found = chain.from_iterable(
            self._list_day(category, day, position, page_size=limit + 1) for day in left
        )
        return self._read_page(found, limit, now, category=category)

    def _list_day(
        self, category: str, day: str, position: str, *, page_size: int
    ) -> Iterator[_Candidate]:
        """Yield the failures of a day before `position`, newest first.

        Includes those that were reclassified from `category`, but not the others of that day.
        """
        named = [
            _Candidate(error_entry(run.ref.ended_at, run.ref.run_id), run.ref)
            for run in self._counters.list_failed_runs(day)
            if run.category == category
        ]
        named = [one for one in sorted(named, key=_by_entry, reverse=True) if one.entry < position]
        pointers = _query_pointers(category_key(category, day), position, page_size=page_size)
        merged = merge(named, pointers, key=_by_entry, reverse=True)
        yield from (next(same) for _, same in groupby(merged, key=_by_entry))

    def find_records(self, refs: Iterable[RunRef]) -> Mapping[str, RunRecord]:
        keys = [record_key(ref) for ref in refs]
        found = JournalItem.batch_get(keys) if keys else ()
        return {record.run.id: record for record in read_items(found, to_record)}

    def _read_page(
        self,
        candidates: Iterator[_Candidate],
        limit: int,
        now: datetime,
        *,
        category: str | None = None,
    ) -> ErrorPage:
        """Return up to `limit` errors, newest first.

        Items past their retention are left out, even if DynamoDB has not deleted them yet.
        """
        oldest = ERROR_PREFIX + to_text(now - self._retention)
        recent = takewhile(lambda one: one.entry >= oldest, candidates)
        errors: list[LoggedError] = []
        # One extra error shows whether there is another page.
        while chunk := list(islice(recent, limit + 1 - len(errors))):
            found = self._load_errors(chunk)
            errors += [error for error in found if category in (None, error.category)]
        last = errors[limit - 1] if len(errors) > limit else None
        return ErrorPage(errors[:limit], encode_cursor(last.at, last.id) if last else None)

    def _load_errors(self, candidates: Sequence[_Candidate]) -> Iterator[LoggedError]:
        records = self.find_records(one.ref for one in candidates if one.ref)
        for one in candidates:
            if one.old_item is not None:
                yield from read_items([one.old_item], _to_old_error)
            elif one.ref is not None and one.ref.run_id in records:
                record = records[one.ref.run_id]
                if not _is_corrected_to_success(record):
                    yield to_logged_error(record)


def _by_entry(candidate: _Candidate) -> str:
    return candidate.entry


def _query_pointers(partition: str, position: str, *, page_size: int) -> Iterator[_Candidate]:
    found = JournalItem.query(
        partition, JournalItem.entry < position, scan_index_forward=False, page_size=page_size
    )
    for item in found:
        if item.error is not None:
            yield _Candidate(item.entry, old_item=item)
        else:
            yield from read_items([item], lambda one: _Candidate(one.entry, to_ref(one)))


def _is_own_error(record: RunRecord) -> bool:
    """Return whether the record is an error log entry. Older code stored the error apart.

    Only records of failed runs have a policy, also if a person cancelled the run afterwards.
    """
    is_error = bool(record.policy) and record.events is not None
    return is_error and not _is_corrected_to_success(record)


def _is_corrected_to_success(record: RunRecord) -> bool:
    """Return whether the run was taken for crashed, until its worker reported a success."""
    return record.run.status is RunStatus.COMMITTED


def _to_old_error(item: JournalItem) -> LoggedError:
    return error_from_json(item.error)
