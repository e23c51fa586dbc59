"""Task history, ended runs and the audit log, with a retention."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Any

from duecourse.adapters.aws.dynamodb.models import JournalItem, TaskItem
from duecourse.adapters.aws.dynamodb.older_items import read_run
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.adapters.aws.dynamodb.task_mapper import to_task
from duecourse.domain.chat.audit_operator import OperatorChange
from duecourse.domain.journal.audit import AuditEntry
from duecourse.domain.journal.audit_api import ApiChange
from duecourse.domain.limits.budget import utc_date
from duecourse.domain.requests.json import run_to_stored
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import from_text, to_text
from duecourse.ports.journal import AuditPage

MAX_ENTRIES = 500
_FIRST_POSITION = "0"
_CURSOR_PATTERN = re.compile(r"[0-9T:.Z-]{24}#[ -~]{1,100}")


class DynamoJournal:
    def __init__(self, *, retention: timedelta) -> None:
        self._retention = retention

    def write(
        self,
        task: Task,
        events: Sequence[Event],
        run: Run | None,
        execution: AuditEntry | None = None,
    ) -> None:
        """Write the journal entries of one version of a task.

        Keys contain the task's version, so writing twice overwrites the same items.
        """
        items = [self._to_event_item(task, n, event) for n, event in enumerate(events)]
        if run is not None and run.ended_at is not None:
            items.append(to_run_item(task.id, run, retention=self._retention))
        if execution is not None:
            items.append(self._to_audit_item(execution, execution.run_id))
        with JournalItem.batch_write() as batch:
            for item in items:
                batch.save(item)

    def record_change(self, change: ApiChange | OperatorChange) -> None:
        self._to_audit_item(change, change.id).save()

    def list_events(self, task_id: str) -> Sequence[Event]:
        return list(read_items(list_latest(task_id, "e#"), to_event))

    def list_runs(self, task_id: str) -> Sequence[Run]:
        return list(read_items(list_latest(task_id, "r#"), lambda item: read_run(item.run)))

    def list_audit(self, day: date, *, limit: int, after: str | None) -> AuditPage:
        if after is not None and not _CURSOR_PATTERN.fullmatch(after):
            raise ValueError("is not a cursor of this listing")
        found = JournalItem.query(
            _audit_key(day), JournalItem.entry > (after or _FIRST_POSITION), limit=limit + 1
        )
        found_items = list(found)  # one extra item shows whether there is another page
        has_more = len(found_items) > limit
        items = list(read_items(found_items[:limit], lambda item: item.detail))
        return AuditPage(items, found_items[limit - 1].entry if has_more else None)

    def _to_audit_item(
        self, entry: AuditEntry | ApiChange | OperatorChange, entry_id: str
    ) -> JournalItem:
        at = to_text(entry.at)
        return JournalItem(
            _audit_key(utc_date(entry.at)),
            f"{at}#{entry_id}",
            at=at,
            detail=entry.to_json(),
            expires_at=_expiry(entry.at, self._retention),
        )

    def _to_event_item(self, task: Task, index: int, event: Event) -> JournalItem:
        return JournalItem(
            task.id,
            f"e#{task.version:010d}#{index}",
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


def _audit_key(day: date) -> str:
    return f"audit#{day.isoformat()}"


def to_run_item(task_id: str, run: Run, *, retention: timedelta) -> JournalItem:
    """Return the item of a run, keyed by start and id, so writing it twice gives the same item."""
    ended_at = run.ended_at or run.started_at
    return JournalItem(
        task_id,
        f"r#{to_text(run.started_at)}#{run.id}",
        at=to_text(ended_at),
        run=run_to_stored(run),
        expires_at=_expiry(ended_at, retention),
    )


def _expiry(at: datetime, retention: timedelta) -> int:
    return int((at + retention).timestamp())


def task_from_image(image: dict[str, Any] | None) -> Task | None:
    """Return the task from the old or new image of a stream record, or None if there is none."""
    return to_task(TaskItem.from_raw_data(image)) if image else None
