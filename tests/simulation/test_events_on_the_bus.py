"""Every kind of event on the bus, in order per task, with an id of its own.

What is heard is heard by a rule of the test's own, through the running stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from duecourse.domain.tasks.event import EventType

from local.runtime.template import ROOT
from tests.simulation.bus_scenarios import (
    SCENARIOS,
    never_delivered,
    version_of,
    with_a_specification,
)
from tests.support.bus_listener import BusListener
from tests.support.stack_client import StackClient, running_stack

RUN = {"run_id", "nominal_at"}
FAILURE = RUN | {"error", "category", "run_status"}
START = {"run_id", "attempt", "reason"}
# Those that programs outside may rely on, with what each of them must say.
PROMISED: dict[str, set[str]] = {
    "task:created": {"due_at", "type"},
    "task:started": START,
    "task:delivered": RUN | {"late_ms"},
    "task:completed": RUN | {"late_ms"},
    "task:failed": FAILURE,
    "task:retry_scheduled": FAILURE | {"next_retry_at", "attempt"},
    "task:retry_executed": START,
    "task:retry_exhausted": FAILURE | {"attempt", "reason"},
    "task:recovery_action": {"action", "guidance"},
    "task:spec_refresh_requested": FAILURE,
    "task:escalated": FAILURE,
    "task:permanently_blocked": FAILURE,
    "task:unblocked": {"from", "due_at"},
    "task:cancelled": set(),
    "task:indeterminate": FAILURE | {"key"},
    "task:skipped": {"count", "skip_reason", "reason", "next_at"},
    "budget:exceeded": {"run_id", "budget"},
    "breaker:opened": {"provider", "failures", "until"},
    "breaker:closed": {"provider", "failures", "opened_at"},
}


@pytest.fixture
def bus(client: StackClient) -> BusListener:
    del client
    return BusListener()


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_what_happens_is_told_in_its_order(
    client: StackClient, bus: BusListener, scenario: Callable[[StackClient], str]
) -> None:
    told_of = scenario(client)
    assert bus.types(told_of) == SCENARIOS[scenario]


# One long story with all of it in it


@pytest.fixture(scope="module")
def story() -> list[dict[str, Any]]:
    """All that was heard of it. The stack is gone by then: there is never more than one."""
    with running_stack() as client:
        bus = BusListener()
        for scenario in (*SCENARIOS, with_a_specification):
            scenario(client)
        return bus.messages()


def events_in(story: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message["detail"] for message in story]


def test_every_kind_that_is_promised_comes_with_its_fields(story: list[dict[str, Any]]) -> None:
    told = events_in(story)
    assert {event["type"] for event in told} >= PROMISED.keys()
    for event in told:
        wanted = PROMISED.get(event["type"], set())
        assert event["detail"].keys() >= {*wanted, "event_id"}, event
        assert all(event["detail"][name] is not None for name in wanted), event


def test_a_message_says_in_its_envelope_what_its_detail_says(story: list[dict[str, Any]]) -> None:
    for message in story:
        told = message["detail"]
        assert told.keys() == {"type", "task_id", "at", "detail"}
        assert (message["source"], message["detail-type"]) == ("duecourse", told["type"])
        assert message["time"] == f"{told['at'].partition('.')[0]}Z"
        assert message["resources"] == []


def test_no_id_is_given_twice_and_of_a_task_they_go_up(story: list[dict[str, Any]]) -> None:
    told = events_in(story)
    assert len({event["detail"]["event_id"] for event in told}) == len(told)
    for task_id in {event["task_id"] for event in told}:
        versions = [version_of(event) for event in told if event["task_id"] == task_id]
        assert versions == sorted(versions)


def test_a_retry_to_come_says_when_why_and_which_attempt_it_is(
    client: StackClient, bus: BusListener
) -> None:
    task_id = never_delivered(client)
    told = [e["detail"] for e in bus.events(task_id) if e["type"] == "task:retry_scheduled"]
    assert [(one["category"], one["attempt"], one["next_retry_at"]) for one in told] == [
        ("transient", 2, "2026-02-17T12:02:10.000Z"),
        ("transient", 3, "2026-02-17T12:04:10.000Z"),
    ]


# What docs/events.md says of them

PAGE = (ROOT / "docs" / "events.md").read_text()
ROWS = dict(re.findall(r"^\| `(\w+:\w+)` \| [^|]+ \|(.*)\|$", PAGE, re.MULTILINE))
LEARNT = {"learned", "adapted"}


def named(text: str) -> set[str]:
    spelt_out = text.replace("*failure*", " ".join(f"`{name}`" for name in FAILURE))
    return set(re.findall(r"`(\w+)`", spelt_out))


def test_the_page_knows_every_kind() -> None:
    assert ROWS.keys() == set(EventType)


def test_what_is_told_is_what_the_page_says(story: list[dict[str, Any]]) -> None:
    for event in events_in(story):
        row = ROWS[event["type"]]
        always = named(re.sub(r"\(.*\)", "", row)) | {"event_id"}
        assert always <= event["detail"].keys() <= always | named(row) | LEARNT, event
