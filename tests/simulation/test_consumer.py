"""The consumer of docs/events.md: its rule hears what needs a person, a repeat opens nothing."""

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
HEARD = {"task:escalated", "task:retry_exhausted"}
Handler = Callable[[dict[str, Any], Any], dict[str, str]]


def example() -> dict[str, Any]:
    return load_template(FOLDER / "template.yaml")


def test_cfn_lint_finds_nothing_in_its_template() -> None:
    config = cfnlint.api.ManualArgs(regions=[REGION])
    assert [str(found) for found in cfnlint.api.lint(json.dumps(example()), config=config)] == []


def test_the_page_shows_the_files_as_they_are() -> None:
    page = (ROOT / "docs" / "events.md").read_text()
    shown = re.findall(r"```(?:yaml|python)\n(.*?)```", page, re.DOTALL)
    for name in ("template.yaml", "tickets/app.py"):
        assert (FOLDER / name).read_text() in shown, name


def test_it_uses_the_library_that_we_use() -> None:
    [pin] = (FOLDER / "tickets" / "requirements.txt").read_text().split()
    assert pin in (ROOT / "layers" / "deps" / "requirements.txt").read_text().split()


# With the stack


@pytest.fixture
def everything(client: StackClient) -> BusListener:
    del client
    return BusListener(name="everything")


@pytest.fixture
def rule(client: StackClient) -> BusListener:
    del client
    [found] = resources_of_type(example(), "AWS::Events::Rule").values()
    return BusListener(found["EventPattern"])


@pytest.fixture
def tickets(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with Receiver() as receiver:
        monkeypatch.setenv("TICKETS_URL", receiver.url("/tickets"))
        yield receiver


@pytest.fixture
def handler(client: StackClient, tickets: Receiver, monkeypatch: pytest.MonkeyPatch) -> Handler:
    """Its code as Lambda would load it, with its own table."""
    del client, tickets
    [table] = resources_of_type(example(), "AWS::DynamoDB::Table").values()
    wanted = ("AttributeDefinitions", "BillingMode", "KeySchema")
    aws_clients.client("dynamodb").create_table(
        TableName="seen", **{name: table[name] for name in wanted}
    )
    monkeypatch.setenv("SEEN_TABLE", "seen")
    loaded: Handler = import_module("docs.examples.consumer.tickets.app").handler
    return loaded


def test_its_rule_hears_what_needs_a_person_and_nothing_else(
    client: StackClient, everything: BusListener, rule: BusListener
) -> None:
    for scenario in (scenarios.blocked_for_good, scenarios.never_delivered, scenarios.delivered):
        scenario(client)

    assert set(rule.types()) == HEARD < set(everything.types())
    assert rule.events() == [one for one in everything.events() if one["type"] in HEARD]


def test_each_event_opens_one_ticket_however_often_it_comes(
    client: StackClient, rule: BusListener, tickets: Receiver, handler: Handler
) -> None:
    task_id = scenarios.blocked_for_good(client)
    escalated, exhausted = rule.messages()
    context = Context("TicketFunction", 256, client.stack.clock.now(), client.stack.clock)
    for message in (escalated, escalated, exhausted, escalated, {**exhausted, "id": "another"}):
        assert handler(message, context) == {"opened_for": task_id}

    titles = [request.json["title"] for request in tickets.requests]
    assert titles == [f"Task {task_id[:8]} needs a person (code_error)"] * 2
    assert "task:escalated" in tickets.requests[0].json["text"]
    assert "task:retry_exhausted" in tickets.requests[1].json["text"]


def test_a_ticket_that_could_not_be_opened_is_tried_again(
    client: StackClient, rule: BusListener, tickets: Receiver, handler: Handler
) -> None:
    scenarios.never_delivered(client)
    [exhausted] = rule.messages()
    context = Context("TicketFunction", 256, client.stack.clock.now(), client.stack.clock)
    tickets.answer(503)
    tickets.answer(201)
    with pytest.raises(OSError, match="503"):
        handler(exhausted, context)
    for _ in range(2):
        handler(exhausted, context)
    assert len(tickets.requests) == 2
