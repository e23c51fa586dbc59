"""Whatever becomes of the journal as it tells: no event is lost, and a repeat has its first id."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulation.bus_scenarios import (
    DOWN,
    SCENARIOS,
    completed_at_the_second_attempt,
    never_delivered,
    outage,
    version_of,
)
from tests.support.bus_listener import BusListener
from tests.support.stack_client import StackClient


@pytest.fixture
def bus(client: StackClient) -> BusListener:
    del client
    return BusListener()


def comparable(event: dict[str, Any]) -> tuple[Any, ...]:
    """Without what is drawn by chance."""
    kept = {
        name: value
        for name, value in event["detail"].items()
        if name not in ("event_id", "run_id", "next_retry_at", "late_ms", "key")
    }
    return event["type"], version_of(event), kept


def assert_all_was_told(bus: BusListener, task_id: str, wanted: list[str]) -> None:
    """In order, each with one id; what comes again is the same, and begins further back."""
    told = bus.events(task_id)
    by_id = {event["detail"]["event_id"]: event for event in reversed(told)}
    assert all(by_id[event["detail"]["event_id"]] == event for event in told)
    first_told = sorted(by_id.values(), key=version_of)
    assert [event["type"] for event in first_told] == wanted
    assert [comparable(one) for one in _first_of_each(told)] == [comparable(e) for e in first_told]


def _first_of_each(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    seen: dict[str, dict[str, Any]] = {}
    for event in told:
        seen.setdefault(event["detail"]["event_id"], event)
    return list(seen.values())


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["crash", "throttle", "timeout", "error"])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_events_survive_whatever_befalls_the_journal_as_it_tells_them(
    client: StackClient, bus: BusListener, kind: str, when: str, nth: int
) -> None:
    client.add_fault(function="journal", call="events.PutEvents", when=when, nth=nth, kind=kind)
    task_id = completed_at_the_second_attempt(client)

    assert_all_was_told(bus, task_id, SCENARIOS[completed_at_the_second_attempt])
    history = [event["type"] for event in client.items(f"/tasks/{task_id}/history")]
    assert history == SCENARIOS[completed_at_the_second_attempt]
    stats = client.call("GET", "/stats").body
    assert (stats["lateness"]["count"], stats["recovery_rate"][0]["recovered"]) == (1, 1)
    assert stats["errors_by_category"][0]["count"] == 1


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    "call", ["dynamodb.BatchWriteItem", "dynamodb.TransactWriteItems", "dynamodb.UpdateItem"]
)
def test_a_crash_around_the_telling_loses_no_event(
    client: StackClient, bus: BusListener, call: str, when: str
) -> None:
    client.add_fault(function="journal", call=call, when=when)
    task_id = completed_at_the_second_attempt(client)
    assert_all_was_told(bus, task_id, SCENARIOS[completed_at_the_second_attempt])


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_happens_to_a_breaker_survives_a_crash(
    client: StackClient, bus: BusListener, when: str
) -> None:
    client.add_fault(function="journal", call="events.PutEvents", when=when, times=3)
    breaker = outage(client)
    assert_all_was_told(bus, breaker, SCENARIOS[outage])


def test_people_hear_once_of_what_was_told_to_programs_again_and_again(
    client: StackClient, bus: BusListener
) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN, times=3)
    task_id = client.create(**{"in": "10s"})["id"]
    client.advance("3m")
    client.add_fault(function="journal", call="events.PutEvents", when="after", times=4)
    client.advance("1h")

    assert_all_was_told(bus, task_id, SCENARIOS[never_delivered])
    assert len(bus.events(task_id)) >= len(SCENARIOS[never_delivered]) + 4
    [notice] = client.outbox("ada")
    assert "failed for good after 3 attempts" in notice["text"]


def test_history_does_not_wait_for_a_bus_that_is_away(
    client: StackClient, bus: BusListener
) -> None:
    client.add_fault(function="journal", call="events.PutEvents", kind="error", times=24)
    task_id = client.create(**{"in": "1h"})["id"]
    client.advance("2s")

    assert bus.types() == []
    assert [e["type"] for e in client.items(f"/tasks/{task_id}/history")] == ["task:created"]
    client.advance("1m")
    assert bus.types() == ["task:created"]
