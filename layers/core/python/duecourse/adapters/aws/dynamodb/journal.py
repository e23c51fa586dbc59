"""Task history, ended runs and the audit log, with a retention."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from datetime import date, datetime, timedelta

from duecourse.adapters.aws.dynamodb.batch_write import delete_all, put_all
from duecourse.adapters.aws.dynamodb.journal_models import JournalItem
from duecourse.adapters.aws.dynamodb.run_records import (
    amend_record,
    correct_record,
    to_pointer_items,
    to_record,
    to_record_item,
)
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.domain.chat.audit_operator import OperatorChange
from duecourse.domain.journal.audit import AuditEntry, audit_position, erase_personal_data
from duecourse.domain.journal.audit_api import ApiChange
from duecourse.domain.journal.journal_entries import JournalEntries, StoredEvent
from duecourse.domain.journal.run_record import RunRecord
from duecourse.domain.limits.budget import utc_date
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.time.instant import from_text, to_text
from duecourse.ports.journal import AuditItem, AuditPage

MAX_ENTRIES = 500
LATE = "late"  # in the key of an event whose change kept the task's version
_FIRST_POSITION = "0"
_CURSOR_PATTERN = re.compile(r"[0-9T:.Z-]{24}#[ -~]{1,100}")


class DynamoJournal:
    """`batches_audit`: False if the role refuses audit entries in a batch, which may delete."""

    def __init__(self, *, retention: timedelta, batches_audit: bool = True) -> None:
        self._retention = retention
        self._batches_audit = batches_audit

    def write(self, batch: Sequence[JournalEntries]) -> None:
        """Write the entries of a batch of changes with as few requests as possible.

        Keys contain the task's version or the run's id, so writing twice stores the same items.
        """
        items = [item for entries in batch for item in self._to_items(entries)]
        audit = [item for entries in batch for item in self._to_audit_items(entries)]
        put_all([*items, *audit] if self._batches_audit else items)
        if not self._batches_audit:
            for item in audit:
                item.save()
        for entries in batch:
            if entries.record is not None and entries.record.is_amendment:
                amend_record(entries.record, retention=self._retention)
            if (late := entries.late) is not None:
                correct_record(late.task_id, late.report, retention=self._retention)

    def record_change(self, change: ApiChange | OperatorChange) -> None:
        self._make_audit_item(change, change.id).save()

    def erase(self, task_ids: Set[str], *, at: datetime) -> None:
        for task_id in task_ids:
            delete_all(list(JournalItem.query(task_id, consistent_read=True)))
        days = range(self._retention.days + 1)
        for day in (utc_date(at - timedelta(days=n)) for n in days):
            for item in JournalItem.query(_audit_key(day), consistent_read=True):
                _erase_audit_item(item, task_ids)

    def list_events(self, task_id: str) -> Sequence[StoredEvent]:
        return list(read_items(list_latest(task_id, "e#"), _to_stored_event))

    def list_runs(self, task_id: str) -> Sequence[RunRecord]:
        return list(read_items(list_latest(task_id, "r#"), to_record))

    def list_audit(self, day: date, *, limit: int, after: str | None) -> AuditPage:
        if after is not None and not _CURSOR_PATTERN.fullmatch(after):
            raise ValueError("is not a cursor of this listing")
        found = JournalItem.query(
            _audit_key(day), JournalItem.entry > (after or _FIRST_POSITION), limit=limit + 1
        )
        found_items = list(found)  # one extra item shows whether there is another page
        has_more = len(found_items) > limit
        items = list(read_items(found_items[:limit], _to_audit_item))
        return AuditPage(items, found_items[limit - 1].entry if has_more else None)

    def _to_items(self, entries: JournalEntries) -> Iterator[JournalItem]:
        for index, event in enumerate(entries.events):
            yield self._to_event_item(entries.version, str(index), event)
        if entries.late is not None:
            yield self._to_event_item(entries.version, LATE, entries.late.event)
        if entries.record is not None:
            yield from to_pointer_items(
                entries.record,
                retention=self._retention,
                by_category=not entries.is_named_by_counters,
            )
            if not entries.record.is_amendment:
                yield to_record_item(entries.record, retention=self._retention)

    def _to_audit_items(self, entries: JournalEntries) -> Iterator[JournalItem]:
        if entries.execution is not None:
            yield self._make_audit_item(entries.execution, entries.execution.run_id)

    def _make_audit_item(
        self, entry: AuditEntry | ApiChange | OperatorChange, entry_id: str
    ) -> JournalItem:
        at = to_text(entry.at)
        return JournalItem(
            _audit_key(utc_date(entry.at)),
            audit_position(entry.at, entry_id),
            at=at,
            detail=entry.to_json(),
            expires_at=_expiry(entry.at, self._retention),
        )

    def _to_event_item(self, version: int, index: str, event: Event) -> JournalItem:
        return JournalItem(
            event.task_id,
            f"e#{version:010d}#{index}",
            at=to_text(event.at),
            type=str(event.type),
            detail=event.detail or None,
            expires_at=_expiry(event.at, self._retention),
        )


def list_latest(partition: str, prefix: str) -> list[JournalItem]:
    """Return the last MAX_ENTRIES entries with `prefix`, oldest first.

    A series may have more of them in a month than one response can hold.
    """
    found = JournalItem.query(
        partition, JournalItem.entry.startswith(prefix), scan_index_forward=False, limit=MAX_ENTRIES
    )
    return list(found)[::-1]


def to_event(item: JournalItem) -> Event:
    return Event(EventType(item.type), item.task_id, from_text(item.at), item.detail or {})


def _to_stored_event(item: JournalItem) -> StoredEvent:
    return StoredEvent(int(item.entry.split("#")[1]), to_event(item))


def _to_audit_item(item: JournalItem) -> AuditItem:
    return AuditItem(item.entry, item.detail)


def _erase_audit_item(item: JournalItem, task_ids: Set[str]) -> None:
    if (item.detail or {}).get("task_id") in task_ids:
        erased = erase_personal_data(item.detail)
        item.update([JournalItem.detail.set(erased)], condition=JournalItem.task_id.exists())


def _audit_key(day: date) -> str:
    return f"audit#{day.isoformat()}"


def _expiry(at: datetime, retention: timedelta) -> int:
    return int((at + retention).timestamp())
