"""The error log: the records of failed runs, found by task, subject, or category and day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from duecourse.adapters.aws.dynamodb.error_cursor import ERROR_PREFIX, decode_cursor, encode_cursor
from duecourse.adapters.aws.dynamodb.journal import list_latest
from duecourse.adapters.aws.dynamodb.journal_models import JournalItem
from duecourse.adapters.aws.dynamodb.run_records import (
    category_key,
    record_key,
    subject_key,
    to_record,
    to_ref,
)
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.domain.journal.error_log import LoggedError, error_from_json
from duecourse.domain.journal.learning_counters import RunRef
from duecourse.domain.journal.run_record import RunRecord, to_logged_error
from duecourse.domain.time.instant import from_text, to_text
from duecourse.domain.time.utc_days import last_days, utc_day
from duecourse.ports.journal import ErrorPage

MAX_DAYS = 30


class DynamoErrorLog:
    def __init__(self, *, retention: timedelta) -> None:
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
        return self._read_page([subject_key(subject)], limit, decode_cursor(cursor), now)

    def list_by_category(
        self, category: str, *, limit: int, cursor: str | None, now: datetime
    ) -> ErrorPage:
        position, days = decode_cursor(cursor), last_days(utc_day(now), MAX_DAYS + 1)
        left = [day for day in days if f"{ERROR_PREFIX}{day}" <= position]
        return self._read_page([category_key(category, day) for day in left], limit, position, now)

    def find_records(self, refs: Iterable[RunRef]) -> Mapping[str, RunRecord]:
        keys = [record_key(ref) for ref in refs]
        found = JournalItem.batch_get(keys) if keys else ()
        return {record.run.id: record for record in read_items(found, to_record)}

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
        errors = self._load_errors(items[:limit])
        return ErrorPage(errors, _cursor_at(items[limit - 1]) if len(items) > limit else None)

    def _load_errors(self, items: Sequence[JournalItem]) -> Sequence[LoggedError]:
        """Return the errors that the items point to, or hold if older code wrote them."""
        pointers = [item for item in items if item.error is None]
        refs = {item.entry: ref for item in pointers for ref in read_items([item], to_ref)}
        records = self.find_records(refs.values())
        found: list[LoggedError] = []
        for item in items:
            if item.error is not None:
                found += read_items([item], _to_old_error)
            elif (ref := refs.get(item.entry)) and ref.run_id in records:
                found.append(to_logged_error(records[ref.run_id]))
        return found


def _is_own_error(record: RunRecord) -> bool:
    """Return whether the record is an error log entry. Older code stored the error apart.

    Only records of failed runs have a policy, also if a person cancelled the run afterwards.
    """
    return bool(record.policy) and record.events is not None


def _to_old_error(item: JournalItem) -> LoggedError:
    return error_from_json(item.error)


def _cursor_at(item: JournalItem) -> str:
    _, at, run_id = item.entry.split("#", 2)
    return encode_cursor(from_text(at), run_id)
