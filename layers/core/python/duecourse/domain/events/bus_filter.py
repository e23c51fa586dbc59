"""Which live events go on the bus: each of them has its price there."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING

from duecourse.domain.tasks.event import EventType

if TYPE_CHECKING:
    from duecourse.domain.events.event import LiveEvent

AS_IT_SHOULD = frozenset(
    {
        EventType.TASK_CREATED,
        EventType.TASK_STARTED,
        EventType.TASK_DELIVERED,
        EventType.TASK_COMPLETED,
        EventType.TASK_RETRY_EXECUTED,
    }
)


class BusEvents(StrEnum):
    ALL = "all"
    FAILURES = "failures"  # without what goes as it should
    NONE = "none"


def for_the_bus(events: Iterable[LiveEvent], wanted: BusEvents) -> list[LiveEvent]:
    if wanted is BusEvents.NONE:
        return []
    is_left_out = AS_IT_SHOULD if wanted is BusEvents.FAILURES else frozenset()
    return [event for event in events if event.type not in is_left_out]
