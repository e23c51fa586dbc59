"""The live events that each filter sends to the bus."""

from __future__ import annotations

import pytest
from duecourse.domain.events.bus_filter import ROUTINE_EVENTS, BusFilter, filter_for_bus
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.tasks.event import EventType

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import ID


def events_of_every_type() -> list[LiveEvent]:
    return [
        LiveEvent(id=f"{ID}:{n}:0", type=event_type, task_id=ID, at=NOW)
        for n, event_type in enumerate(sorted(EventType))
    ]


def test_all_sends_every_event_in_order() -> None:
    assert filter_for_bus(events_of_every_type(), BusFilter.ALL) == events_of_every_type()


def test_failures_omits_routine_events() -> None:
    sent = filter_for_bus(events_of_every_type(), BusFilter.FAILURES)
    assert sent == [event for event in events_of_every_type() if event.type not in ROUTINE_EVENTS]
    assert {event.type for event in events_of_every_type()} - {event.type for event in sent} == {
        *("task:created", "task:started", "task:delivered", "task:completed"),
        "task:retry_executed",
    }


def test_none_sends_no_event() -> None:
    assert filter_for_bus(events_of_every_type(), BusFilter.NONE) == []


@pytest.mark.parametrize("bus_filter", BusFilter)
def test_an_empty_list_sends_nothing(bus_filter: BusFilter) -> None:
    assert filter_for_bus([], bus_filter) == []
