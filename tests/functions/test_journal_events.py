"""The journal function and the bus: one telling for the batch, and what comes again if it fails."""

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
    REFUSED,
    counts,
    failed_in,
    forgotten,
    sequences,
    two_reminders_of_which_one_fails_first,
)
from tests.support.bus_listener import BusListener
from tests.support.stack_client import StackClient


@pytest.fixture
def bus(client: StackClient) -> BusListener:
    del client
    return BusListener()


@pytest.fixture
def story(client: StackClient, bus: BusListener) -> tuple[str, str, list[dict[str, Any]]]:
    """A reminder that failed first, one that did not, and all their changes: to be told again."""
    failing, fine = two_reminders_of_which_one_fails_first(client)
    bus.clear()
    client.stack.calls.counts.clear()
    return failing, fine, forgotten(client)


def told_by(client: StackClient, records: list[dict[str, Any]]) -> list[str]:
    """The sequence numbers of what is to come again."""
    return failed_in(client.stack.invoke("journal", {"Records": records}))


def ids(bus: BusListener, task_id: str | None = None) -> list[str]:
    return [event["detail"]["event_id"] for event in bus.events(task_id)]


def test_what_came_together_is_told_in_one_request(
    client: StackClient, bus: BusListener, story: tuple[str, str, list[dict[str, Any]]]
) -> None:
    *_, records = story
    assert told_by(client, records) == []
    assert len(bus.events()) == 9
    assert client.stack.calls.counts["journal", "events.PutEvents"] == 1


def test_the_same_records_tell_the_same(
    client: StackClient, bus: BusListener, story: tuple[str, str, list[dict[str, Any]]]
) -> None:
    *_, records = story
    told_by(client, records)
    once = list(bus.events())
    bus.clear()
    told_by(client, records)
    assert bus.events() == once


def test_after_a_change_that_could_not_be_kept_its_task_is_not_told_of_any_further(
    client: StackClient, bus: BusListener, story: tuple[str, str, list[dict[str, Any]]]
) -> None:
    failing, fine, records = story
    client.add_fault(
        function="journal", call="dynamodb.TransactWriteItems", kind="error", error=REFUSED
    )
    [first, *_] = told_by(client, records)
    assert bus.types(failing) == ["task:created", "task:started"]
    assert bus.types(fine) == ["task:created", "task:started", "task:delivered"]
    bus.clear()

    assert told_by(client, records[sequences(records).index(first) :]) == []
    assert bus.types(failing) == [
        *("task:retry_scheduled", "task:started", "task:retry_executed", "task:delivered")
    ]


def test_what_cannot_be_told_comes_again_and_counts_once(
    client: StackClient, bus: BusListener, story: tuple[str, str, list[dict[str, Any]]]
) -> None:
    *_, records = story
    client.add_fault(function="journal", call="events.PutEvents", kind="error", error=REFUSED)
    assert told_by(client, records) == sequences(records)
    assert counts(client) == (1, 1, 0)
    assert bus.events() == []

    assert told_by(client, records) == []
    assert counts(client) == (1, 1, 2)
    assert len(ids(bus)) == len(set(ids(bus))) == 9


class RefusingBus:
    """Takes what comes before the first event of a kind."""

    def __init__(self, real: EventBus, kind: str) -> None:
        self._real = real
        self._kind = kind

    def publish(self, events: Sequence[LiveEvent]) -> None:
        kinds = [str(event.type) for event in events]
        taken = kinds.index(self._kind) if self._kind in kinds else len(events)
        self._real.publish(events[:taken])
        if taken < len(events):
            raise PublishError(taken, "NotThisOne")


def test_one_event_that_is_refused_again_and_again_holds_up_only_what_follows_it(
    client: StackClient,
    bus: BusListener,
    story: tuple[str, str, list[dict[str, Any]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failing, fine, records = story
    with monkeypatch.context() as refusing:
        refusing.setattr(
            queues, "event_bus", partial(RefusingBus, queues.event_bus(), "task:retry_executed")
        )
        left = told_by(client, records)
        assert left == sequences(records)[-len(left) :] != sequences(records)
        rest = records[-len(left) :]
        assert told_by(client, rest) == left  # it is the first now
    assert counts(client) == (1, 1, 1)
    assert bus.types(fine) == ["task:created", "task:started", "task:delivered"]
    assert bus.types(failing)[-1] == "task:started"

    assert told_by(client, rest) == []
    assert counts(client) == (1, 1, 2)
    assert bus.types(failing)[-2:] == ["task:retry_executed", "task:delivered"]


def test_a_notice_that_cannot_be_sent_comes_again_with_its_change(
    client: StackClient, bus: BusListener
) -> None:
    script = [{"reply": "All done.\nACTION_OUTCOME: success"}]
    task = client.create(
        type="action", payload={"provider": "scripted", "script": script}, **{"in": "10s"}
    )
    client.add_fault(function="journal", call="sqs.SendMessage", kind="error", error=REFUSED)
    client.advance("1m")

    assert len(client.outbox("ada")) == 1
    told = bus.types(task["id"])
    assert told == ["task:created", "task:started", *["task:completed"] * 2]


@pytest.fixture
def wanted(monkeypatch: pytest.MonkeyPatch, client: StackClient) -> Iterator[Any]:
    del client
    known = stores.settings()

    def choose(bus_events: str) -> None:
        monkeypatch.setattr(stores, "settings", lambda: replace(known, bus_events=bus_events))

    yield choose
    monkeypatch.undo()


def test_failures_leaves_out_what_goes_as_it_should(
    client: StackClient,
    bus: BusListener,
    story: tuple[str, str, list[dict[str, Any]]],
    wanted: Any,
) -> None:
    *_, records = story
    wanted("failures")
    assert told_by(client, records) == []
    assert bus.types() == ["task:retry_scheduled"]


def test_with_none_the_bus_is_not_even_asked(
    client: StackClient,
    bus: BusListener,
    story: tuple[str, str, list[dict[str, Any]]],
    wanted: Any,
) -> None:
    *_, records = story
    wanted("none")
    assert told_by(client, records) == []
    assert bus.types() == []
    assert client.stack.calls.counts["journal", "events.PutEvents"] == 0
    assert counts(client) == (1, 1, 2)
