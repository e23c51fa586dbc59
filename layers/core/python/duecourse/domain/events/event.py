"""Live events: every change of a task or breaker, for the bus and for WebSockets.

The same change always yields the same events with the same ids, however often it is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from duecourse.domain.journal.history import events_between, start_events
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text


@dataclass(frozen=True, kw_only=True, slots=True)
class LiveEvent:
    """`owner` is the owner of the event's task, or None if it belongs to no task."""

    id: str
    type: EventType
    task_id: str
    at: datetime
    detail: dict[str, Any] = field(default_factory=dict)
    owner: Owner | None = None

    def to_json(self) -> dict[str, Any]:
        detail = {**self.detail, "event_id": self.id}
        values = {"type": str(self.type), "task_id": self.task_id, "at": to_text(self.at)}
        return {**values, "detail": detail}


def build_live_events(old: Task | None, new: Task | None, *, at: datetime) -> list[LiveEvent]:
    """Return the events of a change, in order. A task that expired (`new` is None) has none."""
    if new is None:
        return []
    # The journal records a start with the run, so `events_between` has no event for it.
    events = [*_start_events(old, new), *events_between(old, new, at=at)]
    return [
        _to_live_event(event, new.version, n, owner=new.owner) for n, event in enumerate(events)
    ]


def to_breaker_event(event: Event, version: int) -> LiveEvent:
    return _to_live_event(event, version, 0, owner=None)


def _start_events(old: Task | None, new: Task) -> list[Event]:
    run = new.run
    is_claimed = new.status is Status.IN_PROGRESS and run is not None
    if not is_claimed or run is None or (old and old.run and old.run.id == run.id):
        return []
    return start_events(new.id, run)


def _to_live_event(event: Event, version: int, index: int, *, owner: Owner | None) -> LiveEvent:
    return LiveEvent(
        id=f"{event.task_id}:{version}:{index}",
        type=event.type,
        task_id=event.task_id,
        at=event.at,
        detail=event.detail,
        owner=owner,
    )
