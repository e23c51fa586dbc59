"""Which live events go to EventBridge, where each event costs money."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING

from duecourse.domain.tasks.event import EventType

if TYPE_CHECKING:
    from duecourse.domain.events.event import LiveEvent

ROUTINE_EVENTS = frozenset(
    {
        EventType.TASK_CREATED,
        EventType.TASK_STARTED,
        EventType.TASK_DELIVERED,
        EventType.TASK_COMPLETED,
        EventType.TASK_RETRY_EXECUTED,
    }
)


class BusFilter(StrEnum):
    ALL = "all"
    FAILURES = "failures"  # without routine events
    NONE = "none"


def filter_for_bus(events: Iterable[LiveEvent], bus_filter: BusFilter) -> list[LiveEvent]:
    if bus_filter is BusFilter.NONE:
        return []
    excluded = ROUTINE_EVENTS if bus_filter is BusFilter.FAILURES else frozenset()
    return [event for event in events if event.type not in excluded]
