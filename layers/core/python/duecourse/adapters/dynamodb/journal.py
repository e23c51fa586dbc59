"""History and runs, derived from committed changes and kept until they age out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from duecourse.adapters.dynamodb.conversion import to_task
from duecourse.adapters.dynamodb.items import JournalItem, TaskItem
from duecourse.domain.history import Event
from duecourse.domain.instant import from_text, to_text
from duecourse.domain.run import Run
from duecourse.domain.task import Task
from duecourse.domain.wire import run_from_stored, run_to_stored


class DynamoJournal:
    def __init__(self, *, retention: timedelta) -> None:
        self._retention = retention

    def write(self, task: Task, events: Sequence[Event], run: Run | None) -> None:
        """Entries are named by the task's version, so that a second writing overwrites itself."""
        items = [self._event(task, n, event) for n, event in enumerate(events)]
        if run is not None and run.ended_at is not None:
            items.append(self._run(task, run, run.ended_at))
        with JournalItem.batch_write() as batch:
            for item in items:
                batch.save(item)

    def history(self, task_id: str) -> Sequence[Event]:
        found = JournalItem.query(task_id, JournalItem.entry.startswith("e#"))
        return [
            Event(item.type or "", task_id, from_text(item.at), item.detail or {}) for item in found
        ]

    def runs(self, task_id: str) -> Sequence[Run]:
        found = JournalItem.query(task_id, JournalItem.entry.startswith("r#"))
        return [run_from_stored(item.run) for item in found]

    def _event(self, task: Task, n: int, event: Event) -> JournalItem:
        return JournalItem(
            task.id,
            f"e#{task.version:010d}#{n}",
            at=to_text(event.at),
            type=event.type,
            detail=event.detail or None,
            expires_at=self._expiry(event.at),
        )

    def _run(self, task: Task, run: Run, ended_at: datetime) -> JournalItem:
        return JournalItem(
            task.id,
            f"r#{to_text(run.started_at)}#{run.id}",
            at=to_text(ended_at),
            run=run_to_stored(run),
            expires_at=self._expiry(ended_at),
        )

    def _expiry(self, at: datetime) -> int:
        return int((at + self._retention).timestamp())


def task_from_image(image: dict[str, Any] | None) -> Task | None:
    """A task as a stream record shows it, before or after a change."""
    if not image:
        return None
    item = TaskItem()
    item.deserialize(image)
    return to_task(item)
