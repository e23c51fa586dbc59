"""Which live events go on the bus."""

from __future__ import annotations

import pytest
from duecourse.domain.events.bus_filter import AS_IT_SHOULD, BusEvents, for_the_bus
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
    assert for_the_bus(of_every_type(), BusEvents.ALL) == of_every_type()


def test_failures_leaves_out_what_goes_as_it_should() -> None:
    told = for_the_bus(of_every_type(), BusEvents.FAILURES)
    assert told == [event for event in of_every_type() if event.type not in AS_IT_SHOULD]
    assert {event.type for event in of_every_type()} - {event.type for event in told} == {
        *("task:created", "task:started", "task:delivered", "task:completed"),
        "task:retry_executed",
    }


def test_none_is_none() -> None:
    assert for_the_bus(of_every_type(), BusEvents.NONE) == []


@pytest.mark.parametrize("wanted", BusEvents)
def test_where_nothing_happened_nothing_is_told(wanted: BusEvents) -> None:
    assert for_the_bus([], wanted) == []
