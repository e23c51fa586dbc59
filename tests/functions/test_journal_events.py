"""The journal function and the event bus: one request per batch, and redelivery if it fails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from duecourse.app import queues, stores
from duecourse.domain.errors import PublishError
from duecourse.domain.events.event import LiveEvent
from duecourse.ports.integrations import EventBus

from tests.functions.test_journal import (
    VALIDATION_ERROR,
    failed_ids,
    read_counts,
    reset_and_collect_records,
    run_failing_and_fine_reminder,
    sequence_numbers,
)
from tests.support.bus_listener import BusListener
from tests.support.stack_client import StackClient


@pytest.fixture
def bus(client: StackClient) -> BusListener:
    del client
    return BusListener()


@pytest.fixture
def changed_tasks(client: StackClient, bus: BusListener) -> tuple[str, str, list[dict[str, Any]]]:
    """Return a reminder that failed first, one that did not, and all their stream records."""
    failing, fine = run_failing_and_fine_reminder(client)
    bus.clear()
    client.stack.calls.counts.clear()
    return failing, fine, reset_and_collect_records(client)


def process_records(client: StackClient, records: list[dict[str, Any]]) -> list[str]:
    """Process the records and return the sequence numbers that are to be redelivered."""
    return failed_ids(client.stack.invoke("journal", {"Records": records}))


def ids(bus: BusListener, task_id: str | None = None) -> list[str]:
    return [event["detail"]["event_id"] for event in bus.events(task_id)]


def test_the_events_of_a_batch_are_published_in_one_request(
    client: StackClient, bus: BusListener, changed_tasks: tuple[str, str, list[dict[str, Any]]]
) -> None:
    *_, records = changed_tasks
    assert process_records(client, records) == []
    assert len(bus.events()) == 9
    assert client.stack.calls.counts["journal", "events.PutEvents"] == 1


def test_the_same_records_publish_the_same_events(
    client: StackClient, bus: BusListener, changed_tasks: tuple[str, str, list[dict[str, Any]]]
) -> None:
    *_, records = changed_tasks
    process_records(client, records)
    first_events = list(bus.events())
    bus.clear()
    process_records(client, records)
    assert bus.events() == first_events


def test_nothing_is_published_that_is_not_in_the_history(
    client: StackClient, bus: BusListener, changed_tasks: tuple[str, str, list[dict[str, Any]]]
) -> None:
    *_, records = changed_tasks
    client.add_fault(function="journal", call="dynamodb.BatchWriteItem", kind="throttle", times=9)
    assert process_records(client, records) == sequence_numbers(records)[:1]
    assert bus.events() == []
    client.call("DELETE", "/_local/faults")
    assert process_records(client, records) == []
    assert len(ids(bus)) == len(set(ids(bus))) == 9


def test_a_failed_publish_is_retried_and_counted_once(
    client: StackClient, bus: BusListener, changed_tasks: tuple[str, str, list[dict[str, Any]]]
) -> None:
    *_, records = changed_tasks
    client.add_fault(
        function="journal", call="events.PutEvents", kind="error", error=VALIDATION_ERROR
    )
    assert process_records(client, records) == sequence_numbers(records)[:1]
    assert client.call("GET", "/stats").body["lateness"]["count"] == 0
    assert bus.events() == []

    assert process_records(client, records) == []
    assert read_counts(client) == (1, 1, 2)
    assert len(ids(bus)) == len(set(ids(bus))) == 9


class RejectingBus:
    """Publishes only the events before the first one of a type."""

    def __init__(self, real: EventBus, event_type: str) -> None:
        self._real = real
        self._event_type = event_type

    def publish(self, events: Sequence[LiveEvent]) -> None:
        event_types = [str(event.type) for event in events]
        published_count = (
            event_types.index(self._event_type) if self._event_type in event_types else len(events)
        )
        self._real.publish(events[:published_count])
        if published_count < len(events):
            raise PublishError(published_count, "NotThisOne")


def test_an_event_that_keeps_failing_holds_back_only_later_events(
    client: StackClient,
    bus: BusListener,
    changed_tasks: tuple[str, str, list[dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failing, fine, records = changed_tasks
    with monkeypatch.context() as patch:
        patch.setattr(
            queues, "event_bus", partial(RejectingBus, queues.event_bus(), "task:retry_executed")
        )
        [failed] = process_records(client, records)
        position = sequence_numbers(records).index(failed)
        assert position > 0
        rest = records[position:]
        assert process_records(client, rest) == [failed]  # the rejected event is now the first
    assert client.call("GET", "/stats").body["lateness"]["count"] == 1
    assert bus.types(fine) == ["task:created", "task:started", "task:delivered"]
    assert bus.types(failing)[-1] == "task:started"

    assert process_records(client, rest) == []
    assert read_counts(client) == (1, 1, 2)
    assert bus.types(failing)[-2:] == ["task:retry_executed", "task:delivered"]


def test_a_failed_notification_is_retried_with_its_change(
    client: StackClient, bus: BusListener
) -> None:
    script = [{"reply": "All done.\nACTION_OUTCOME: success"}]
    task = client.create(
        type="action", payload={"provider": "scripted", "script": script}, **{"in": "10s"}
    )
    client.add_fault(
        function="journal", call="sqs.SendMessageBatch", kind="error", error=VALIDATION_ERROR
    )
    client.advance("1m")

    assert len(client.outbox("ada")) == 1
    event_types = bus.types(task["id"])
    assert event_types == ["task:created", "task:started", *["task:completed"] * 2]


@pytest.fixture
def set_bus_events(monkeypatch: pytest.MonkeyPatch, client: StackClient) -> Iterator[Any]:
    del client
    settings = stores.settings()

    def set_setting(bus_events: str) -> None:
        monkeypatch.setattr(stores, "settings", lambda: replace(settings, bus_events=bus_events))

    yield set_setting
    monkeypatch.undo()


def test_bus_events_failures_publishes_only_failures(
    client: StackClient,
    bus: BusListener,
    changed_tasks: tuple[str, str, list[dict[str, Any]]],
    set_bus_events: Any,
) -> None:
    *_, records = changed_tasks
    set_bus_events("failures")
    assert process_records(client, records) == []
    assert bus.types() == ["task:retry_scheduled"]


def test_bus_events_none_makes_no_request(
    client: StackClient,
    bus: BusListener,
    changed_tasks: tuple[str, str, list[dict[str, Any]]],
    set_bus_events: Any,
) -> None:
    *_, records = changed_tasks
    set_bus_events("none")
    assert process_records(client, records) == []
    assert bus.types() == []
    assert client.stack.calls.counts["journal", "events.PutEvents"] == 0
    assert read_counts(client) == (1, 1, 2)
