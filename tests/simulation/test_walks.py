"""The walks of docs/architecture.md are the paths that tasks take through the running stack."""

from __future__ import annotations

import pytest

from tests.support.stack_client import StackClient
from tests.support.walks import Step, first_step_out_of_order, line_of, traced_calls, walks

FAILING_SCRIPT = [
    {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432"}},
    {"reply": "Done.\nACTION_OUTCOME: success"},
]


def _run_reminder(client: StackClient) -> None:
    client.create(**{"in": "10m"})
    client.advance("11m")


def _run_failing_action(client: StackClient) -> None:
    payload = {"provider": "scripted", "script": FAILING_SCRIPT}
    client.create(**{"in": "1s", "type": "action", "payload": payload})
    client.advance("2m")


def _run_chat_command(client: StackClient) -> None:
    client.say("/remind in 10s stretch")
    client.advance("20s")


SCENARIOS = {
    "A reminder": _run_reminder,
    "A failing action": _run_failing_action,
    "A chat command": _run_chat_command,
}


def test_every_walk_is_documented() -> None:
    assert list(walks()) == list(SCENARIOS)


@pytest.mark.parametrize("heading", SCENARIOS)
def test_a_walk_names_each_function_with_its_line(heading: str) -> None:
    """`make walks` writes the current lines into the page."""
    assert {step: step.line for step in walks()[heading]} == {
        step: line_of(step) for step in walks()[heading]
    }


@pytest.mark.parametrize("heading", SCENARIOS)
def test_a_task_takes_the_documented_walk(heading: str, client: StackClient) -> None:
    with traced_calls() as calls:
        SCENARIOS[heading](client)
    assert first_step_out_of_order(walks()[heading], calls) is None


def test_a_walk_in_another_order_would_be_found() -> None:
    first, second = Step("a.py", "f", 1), Step("b.py", "g", 1)
    assert first_step_out_of_order([second, first], [("a.py", "f"), ("b.py", "g")]) == first


@pytest.mark.parametrize("heading", SCENARIOS)
def test_no_walk_returns_to_a_file_that_it_has_left(heading: str) -> None:
    """Only stores and queues are used again: they are where a walk reads and writes."""
    paths = [step.path for step in walks()[heading] if "/adapters/" not in step.path]
    entered = [path for path, before in zip(paths, [None, *paths], strict=False) if path != before]
    assert sorted(set(entered)) == sorted(entered)
