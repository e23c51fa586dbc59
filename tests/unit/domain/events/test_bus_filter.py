"""Which live events go on the bus."""

from __future__ import annotations

import pytest
from duecourse.domain.events.bus_filter import ROUTINE_EVENTS, BusFilter, filter_for_bus
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.tasks.event import EventType

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import ID


def of_every_type() -> list[LiveEvent]:
    return [
        LiveEvent(id=f"{ID}:{n}:0", type=kind, task_id=ID, at=NOW)
        for n, kind in enumerate(sorted(EventType))
    ]


def test_all_of_them_go_in_their_order() -> None:
    assert filter_for_bus(of_every_type(), BusFilter.ALL) == of_every_type()


def test_failures_leaves_out_what_goes_as_it_should() -> None:
    told = filter_for_bus(of_every_type(), BusFilter.FAILURES)
    assert told == [event for event in of_every_type() if event.type not in ROUTINE_EVENTS]
    assert {event.type for event in of_every_type()} - {event.type for event in told} == {
        *("task:created", "task:started", "task:delivered", "task:completed"),
        "task:retry_executed",
    }


def test_none_is_none() -> None:
    assert filter_for_bus(of_every_type(), BusFilter.NONE) == []


@pytest.mark.parametrize("wanted", BusFilter)
def test_where_nothing_happened_nothing_is_told(wanted: BusFilter) -> None:
    assert filter_for_bus([], wanted) == []
