"""The example consumer of docs/events.md: which events it gets, and how it drops repeats."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import cfnlint.api
import pytest

from local.runtime import aws_clients
from local.runtime.functions import Context
from local.runtime.template import REGION, ROOT, load_template, resources_of_type
from tests.simulation import bus_scenarios as scenarios
from tests.support.bus_listener import BusListener
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

FOLDER = ROOT / "docs" / "examples" / "consumer"
EXPECTED_TYPES = {"task:escalated", "task:retry_exhausted"}
Handler = Callable[[dict[str, Any], Any], dict[str, str]]


def example() -> dict[str, Any]:
    return load_template(FOLDER / "template.yaml")


def test_cfn_lint_finds_nothing_in_its_template() -> None:
    config = cfnlint.api.ManualArgs(regions=[REGION])
    assert [
        str(problem) for problem in cfnlint.api.lint(json.dumps(example()), config=config)
    ] == []


def test_the_page_shows_the_files_verbatim() -> None:
    page = (ROOT / "docs" / "events.md").read_text()
    code_blocks = re.findall(r"```(?:yaml|python)\n(.*?)```", page, re.DOTALL)
    for name in ("template.yaml", "tickets/app.py"):
        assert (FOLDER / name).read_text() in code_blocks, name


def test_it_pins_the_same_library_version() -> None:
    [pin] = (FOLDER / "tickets" / "requirements.txt").read_text().split()
    assert pin in (ROOT / "layers" / "deps" / "requirements.txt").read_text().split()


# With the stack


@pytest.fixture
def all_events(client: StackClient) -> BusListener:
    del client
    return BusListener(name="everything")


@pytest.fixture
def rule(client: StackClient) -> BusListener:
    del client
    [definition] = resources_of_type(example(), "AWS::Events::Rule").values()
    return BusListener(definition["EventPattern"])


@pytest.fixture
def tickets(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with Receiver() as receiver:
        monkeypatch.setenv("TICKETS_URL", receiver.url("/tickets"))
        yield receiver


@pytest.fixture
def handler(client: StackClient, tickets: Receiver, monkeypatch: pytest.MonkeyPatch) -> Handler:
    """Load its code as Lambda would, with its own table."""
    del client, tickets
    [table] = resources_of_type(example(), "AWS::DynamoDB::Table").values()
    table_fields = ("AttributeDefinitions", "BillingMode", "KeySchema")
    aws_clients.client("dynamodb").create_table(
        TableName="seen", **{name: table[name] for name in table_fields}
    )
    monkeypatch.setenv("SEEN_TABLE", "seen")
    loaded: Handler = import_module("docs.examples.consumer.tickets.app").handler
    return loaded


def test_its_rule_matches_only_events_that_need_a_person(
    client: StackClient, all_events: BusListener, rule: BusListener
) -> None:
    for scenario in (
        scenarios.block_permanently,
        scenarios.exhaust_retries,
        scenarios.deliver_reminder,
    ):
        scenario(client)

    assert set(rule.types()) == EXPECTED_TYPES < set(all_events.types())
    assert rule.events() == [
        event for event in all_events.events() if event["type"] in EXPECTED_TYPES
    ]


def test_a_repeated_event_opens_one_ticket(
    client: StackClient, rule: BusListener, tickets: Receiver, handler: Handler
) -> None:
    task_id = scenarios.block_permanently(client)
    escalated, exhausted = rule.messages()
    context = Context("TicketFunction", 256, client.stack.clock.now(), client.stack.clock)
    for message in (escalated, escalated, exhausted, escalated, {**exhausted, "id": "another"}):
        assert handler(message, context) == {"opened_for": task_id}

    titles = [request.json["title"] for request in tickets.requests]
    assert titles == [f"Task {task_id[:8]} needs a person (code_error)"] * 2
    assert "task:escalated" in tickets.requests[0].json["text"]
    assert "task:retry_exhausted" in tickets.requests[1].json["text"]


def test_a_failed_ticket_is_retried(
    client: StackClient, rule: BusListener, tickets: Receiver, handler: Handler
) -> None:
    scenarios.exhaust_retries(client)
    [exhausted] = rule.messages()
    context = Context("TicketFunction", 256, client.stack.clock.now(), client.stack.clock)
    tickets.answer(503)
    tickets.answer(201)
    with pytest.raises(OSError, match="503"):
        handler(exhausted, context)
    for _ in range(2):
        handler(exhausted, context)
    assert len(tickets.requests) == 2
