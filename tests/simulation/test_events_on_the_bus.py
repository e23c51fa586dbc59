"""Every type of event on the bus, in order per task, each with its own id.

The tests read the bus through their own rule, on the running stack.
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
    exhaust_retries,
    request_spec_review,
    version_of,
)
from tests.support.bus_listener import BusListener
from tests.support.stack_client import StackClient, running_stack

RUN = {"run_id", "nominal_at"}
FAILURE = RUN | {"error", "category", "kind", "clears_by", "run_status"}
START = {"run_id", "attempt", "reason"}
# The types of the public contract, with the fields that each must have.
REQUIRED_FIELDS: dict[str, set[str]] = {
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
def test_events_are_published_in_order(
    client: StackClient, bus: BusListener, scenario: Callable[[StackClient], str]
) -> None:
    subject_id = scenario(client)
    assert bus.types(subject_id) == SCENARIOS[scenario]


# All scenarios in one stack


@pytest.fixture(scope="module")
def messages() -> list[dict[str, Any]]:
    """Return all messages. The stack is stopped by then: there is never more than one."""
    with running_stack() as client:
        bus = BusListener()
        for scenario in (*SCENARIOS, request_spec_review):
            scenario(client)
        return bus.messages()


def events_in(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [message["detail"] for message in messages]


def test_every_contract_type_is_published_with_its_fields(messages: list[dict[str, Any]]) -> None:
    events = events_in(messages)
    assert {event["type"] for event in events} >= REQUIRED_FIELDS.keys()
    for event in events:
        required = REQUIRED_FIELDS.get(event["type"], set())
        assert event["detail"].keys() >= {*required, "event_id"}, event
        assert all(event["detail"][name] is not None for name in required), event


def test_the_envelope_matches_the_detail(messages: list[dict[str, Any]]) -> None:
    for message in messages:
        events = message["detail"]
        assert events.keys() == {"type", "task_id", "at", "detail"}
        assert (message["source"], message["detail-type"]) == ("duecourse", events["type"])
        assert message["time"] == f"{events['at'].partition('.')[0]}Z"
        assert message["resources"] == []


def test_event_ids_are_unique_and_increase_per_task(messages: list[dict[str, Any]]) -> None:
    events = events_in(messages)
    assert len({event["detail"]["event_id"] for event in events}) == len(events)
    for task_id in {event["task_id"] for event in events}:
        versions = [version_of(event) for event in events if event["task_id"] == task_id]
        assert versions == sorted(versions)


def test_retry_scheduled_has_time_category_and_attempt(
    client: StackClient, bus: BusListener
) -> None:
    task_id = exhaust_retries(client)
    events = [e["detail"] for e in bus.events(task_id) if e["type"] == "task:retry_scheduled"]
    assert [(event["category"], event["attempt"], event["next_retry_at"]) for event in events] == [
        ("transient", 2, "2026-02-17T12:02:10.000Z"),
        ("transient", 3, "2026-02-17T12:04:10.000Z"),
    ]


# What docs/events.md documents

PAGE = (ROOT / "docs" / "events.md").read_text()
ROWS = dict(re.findall(r"^\| `(\w+:\w+)` \| [^|]+ \|(.*)\|$", PAGE, re.MULTILINE))
OPTIONAL_FIELDS = {"learned", "adapted"}


def field_names(text: str) -> set[str]:
    expanded = text.replace("*failure*", " ".join(f"`{name}`" for name in FAILURE))
    return set(re.findall(r"`(\w+)`", expanded))


def test_the_page_documents_every_type() -> None:
    assert ROWS.keys() == set(EventType)


def test_published_fields_are_documented(messages: list[dict[str, Any]]) -> None:
    for event in events_in(messages):
        row = ROWS[event["type"]]
        always = field_names(re.sub(r"\(.*\)", "", row)) | {"event_id"}
        assert always <= event["detail"].keys() <= always | field_names(row) | OPTIONAL_FIELDS, (
            event
        )
