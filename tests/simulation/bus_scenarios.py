"""Scenarios that publish every type of event, and the types each one publishes, in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.simulation.test_failures import (
    OVER_BUDGET,
    REFUSED,
    SUCCESS,
    TYPE_ERROR,
    create_action,
)
from tests.support.stack_client import StackClient

DOWN = {"message": "503 Service Unavailable"}
FAILED_ATTEMPT = ["task:started", "task:retry_scheduled"]
RETRY_STARTED = ["task:started", "task:retry_executed"]
RETRY_WITH_GUIDANCE = ["task:retry_scheduled", "task:recovery_action"]


def deliver_reminder(client: StackClient) -> str:
    task_id = client.create(**{"in": "10s"})["id"]
    client.advance("1m")
    return str(task_id)


def complete_on_second_attempt(client: StackClient) -> str:
    task_id = create_action(client, REFUSED, SUCCESS)["id"]
    client.advance("5m")
    return str(task_id)


def exhaust_retries(client: StackClient) -> str:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN, times=3)
    task_id = client.create(**{"in": "10s"})["id"]
    client.advance("1h")
    return str(task_id)


def block_permanently(client: StackClient) -> str:
    task_id = create_action(client, TYPE_ERROR)["id"]
    client.advance("1h")
    assert client.call("POST", f"/tasks/{task_id}/unblock").status == 200
    client.advance("1m")
    return str(task_id)


def request_spec_review(client: StackClient) -> str:
    task_id = create_action(client, TYPE_ERROR, payload={"spec": "a page of words"})["id"]
    client.advance("9m")
    return str(task_id)


def cancel_task(client: StackClient) -> str:
    task_id = client.create(**{"in": "1h"})["id"]
    assert client.call("POST", f"/tasks/{task_id}/cancel").status == 200
    return str(task_id)


def crash_during_effect(client: StackClient) -> str:
    client.add_fault(function="worker", call="provider.call")
    task_id = create_action(client, SUCCESS)["id"]
    client.advance("20m")
    return str(task_id)


def skip_occurrences(client: StackClient) -> str:
    """Stop scanner and sweeper while three occurrences of a series fall due."""
    task_id = client.create(repeat="*/20 * * * *", **{"in": "20m"})["id"]
    for function in ("scanner", "sweeper"):
        client.add_fault(function=function, call="dynamodb.GetItem", times=1_000_000)
    client.advance("65m")
    assert client.call("DELETE", "/_local/faults").status == 200
    client.advance("6m")
    assert client.call("POST", f"/tasks/{task_id}/cancel").status == 200
    return str(task_id)


def exceed_budget(client: StackClient) -> str:
    task_id = create_action(client, OVER_BUDGET, SUCCESS, payload={"budget": "llm"})["id"]
    client.advance("1m")
    return str(task_id)


def open_and_close_breaker(client: StackClient) -> str:
    for _ in range(10):
        create_action(client, REFUSED, SUCCESS)
    client.advance("1h")
    return "breaker#scripted"


SCENARIOS: dict[Callable[[StackClient], str], list[str]] = {
    deliver_reminder: ["task:created", "task:started", "task:delivered"],
    complete_on_second_attempt: [
        *("task:created", "task:started", *RETRY_WITH_GUIDANCE),
        *(*RETRY_STARTED, "task:completed"),
    ],
    exhaust_retries: [
        *("task:created", *FAILED_ATTEMPT),
        *(*RETRY_STARTED, "task:retry_scheduled"),
        *(*RETRY_STARTED, "task:retry_exhausted", "task:failed"),
    ],
    block_permanently: [
        *("task:created", "task:started", *RETRY_WITH_GUIDANCE),
        *(*RETRY_STARTED, *RETRY_WITH_GUIDANCE),
        *(*RETRY_STARTED, *RETRY_WITH_GUIDANCE),
        *(*RETRY_STARTED, "task:recovery_action", "task:escalated", "task:unblocked"),
        *(
            *RETRY_STARTED,
            "task:recovery_action",
            "task:retry_exhausted",
            "task:permanently_blocked",
        ),
    ],
    cancel_task: ["task:created", "task:cancelled"],
    crash_during_effect: ["task:created", "task:started", "task:indeterminate"],
    skip_occurrences: [
        *("task:created", "task:started", "task:delivered", "task:skipped"),
        "task:cancelled",
    ],
    exceed_budget: ["task:created", "task:started", "budget:exceeded", "task:retry_scheduled"],
    open_and_close_breaker: ["breaker:opened", "breaker:closed"],
}


def version_of(event: dict[str, Any]) -> tuple[int, int]:
    task_id, version, n = event["detail"]["event_id"].rsplit(":", 2)
    assert task_id == event["task_id"]
    return int(version), int(n)
