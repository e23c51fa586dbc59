"""Journal failures while publishing: no event is lost, and a repeat keeps its first id."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulation.bus_scenarios import (
    DOWN,
    SCENARIOS,
    complete_on_second_attempt,
    exhaust_retries,
    open_and_close_breaker,
    version_of,
)
from tests.support.bus_listener import BusListener
from tests.support.stack_client import StackClient


@pytest.fixture
def bus(client: StackClient) -> BusListener:
    del client
    return BusListener()


def comparable(event: dict[str, Any]) -> tuple[Any, ...]:
    """Return the event without its random fields."""
    stable = {
        name: value
        for name, value in event["detail"].items()
        if name not in ("event_id", "run_id", "next_retry_at", "late_ms", "key")
    }
    return event["type"], version_of(event), stable


def assert_all_published(bus: BusListener, task_id: str, expected: list[str]) -> None:
    """Check that all types were published in order, and that repeats equal their first copy."""
    published = bus.events(task_id)
    by_id = {event["detail"]["event_id"]: event for event in reversed(published)}
    assert all(by_id[event["detail"]["event_id"]] == event for event in published)
    unique = sorted(by_id.values(), key=version_of)
    assert [event["type"] for event in unique] == expected
    assert [comparable(event) for event in _first_by_id(published)] == [
        comparable(event) for event in unique
    ]


def _first_by_id(published: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first: dict[str, dict[str, Any]] = {}
    for event in published:
        first.setdefault(event["detail"]["event_id"], event)
    return list(first.values())


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["crash", "throttle", "timeout", "error"])
@pytest.mark.parametrize("nth", [1, 2, 3])
def test_no_event_is_lost_when_publishing_fails(
    client: StackClient, bus: BusListener, kind: str, when: str, nth: int
) -> None:
    client.add_fault(function="journal", call="events.PutEvents", when=when, nth=nth, kind=kind)
    task_id = complete_on_second_attempt(client)

    assert_all_published(bus, task_id, SCENARIOS[complete_on_second_attempt])
    history = [event["type"] for event in client.items(f"/tasks/{task_id}/history")]
    assert history == SCENARIOS[complete_on_second_attempt]
    stats = client.call("GET", "/stats").body
    assert (stats["lateness"]["count"], stats["recovery_rate"][0]["recovered"]) == (1, 1)
    assert stats["errors_by_category"][0]["count"] == 1


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", ["dynamodb.BatchWriteItem", "dynamodb.PutItem"])
def test_no_event_is_lost_when_the_journal_crashes_around_publishing(
    client: StackClient, bus: BusListener, call: str, when: str
) -> None:
    client.add_fault(function="journal", call=call, when=when)
    task_id = complete_on_second_attempt(client)
    assert_all_published(bus, task_id, SCENARIOS[complete_on_second_attempt])


@pytest.mark.parametrize("when", ["before", "after"])
def test_no_circuit_breaker_event_is_lost_when_the_journal_crashes(
    client: StackClient, bus: BusListener, when: str
) -> None:
    client.add_fault(function="journal", call="events.PutEvents", when=when, times=3)
    breaker = open_and_close_breaker(client)
    assert_all_published(bus, breaker, SCENARIOS[open_and_close_breaker])


def test_people_are_notified_once_when_events_are_published_repeatedly(
    client: StackClient, bus: BusListener
) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN, times=3)
    task_id = client.create(**{"in": "10s"})["id"]
    client.advance("3m")
    client.add_fault(function="journal", call="events.PutEvents", when="after", times=4)
    client.advance("1h")

    assert_all_published(bus, task_id, SCENARIOS[exhaust_retries])
    assert len(bus.events(task_id)) >= len(SCENARIOS[exhaust_retries]) + 4
    [notification] = client.outbox("ada")
    assert " after 3 attempts: " in notification["text"]


def test_history_does_not_wait_for_an_unavailable_bus(
    client: StackClient, bus: BusListener
) -> None:
    client.add_fault(function="journal", call="events.PutEvents", kind="error", times=24)
    task_id = client.create(**{"in": "1h"})["id"]
    client.advance("2s")

    assert bus.types() == []
    assert [e["type"] for e in client.items(f"/tasks/{task_id}/history")] == ["task:created"]
    client.advance("5m")
    assert bus.types() == ["task:created"]
