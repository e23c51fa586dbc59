"""What happens so that each kind of event is told, and what is told of it in its order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.simulation.test_failures import (
    OVER_BUDGET,
    REFUSED,
    SUCCESS,
    TYPE_ERROR,
    an_action,
)
from tests.support.stack_client import StackClient

DOWN = {"message": "503 Service Unavailable"}
ONE_ATTEMPT = ["task:started", "task:retry_scheduled"]
A_RETRY = ["task:started", "task:retry_executed"]
GUIDED = ["task:retry_scheduled", "task:recovery_action"]


def delivered(client: StackClient) -> str:
    task_id = client.create(**{"in": "10s"})["id"]
    client.advance("1m")
    return str(task_id)


def completed_at_the_second_attempt(client: StackClient) -> str:
    task_id = an_action(client, REFUSED, SUCCESS)["id"]
    client.advance("5m")
    return str(task_id)


def never_delivered(client: StackClient) -> str:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN, times=3)
    task_id = client.create(**{"in": "10s"})["id"]
    client.advance("1h")
    return str(task_id)


def blocked_for_good(client: StackClient) -> str:
    task_id = an_action(client, TYPE_ERROR)["id"]
    client.advance("1h")
    assert client.call("POST", f"/tasks/{task_id}/unblock").status == 200
    client.advance("1m")
    return str(task_id)


def with_a_specification(client: StackClient) -> str:
    task_id = an_action(client, TYPE_ERROR, payload={"spec": "a page of words"})["id"]
    client.advance("9m")
    return str(task_id)


def cancelled(client: StackClient) -> str:
    task_id = client.create(**{"in": "1h"})["id"]
    assert client.call("POST", f"/tasks/{task_id}/cancel").status == 200
    return str(task_id)


def in_doubt(client: StackClient) -> str:
    client.add_fault(function="worker", call="provider.call")
    task_id = an_action(client, SUCCESS)["id"]
    client.advance("20m")
    return str(task_id)


def missed(client: StackClient) -> str:
    """The series' time passed while nobody looked."""
    task_id = client.create(repeat="*/20 * * * *", **{"in": "20m"})["id"]
    for function in ("scanner", "sweeper"):
        client.add_fault(function=function, call="dynamodb.GetItem", times=1_000_000)
    client.advance("65m")
    assert client.call("DELETE", "/_local/faults").status == 200
    client.advance("6m")
    assert client.call("POST", f"/tasks/{task_id}/cancel").status == 200
    return str(task_id)


def over_budget(client: StackClient) -> str:
    task_id = an_action(client, OVER_BUDGET, SUCCESS, payload={"budget": "llm"})["id"]
    client.advance("1m")
    return str(task_id)


def outage(client: StackClient) -> str:
    for _ in range(10):
        an_action(client, REFUSED, SUCCESS)
    client.advance("1h")
    return "breaker#scripted"


SCENARIOS: dict[Callable[[StackClient], str], list[str]] = {
    delivered: ["task:created", "task:started", "task:delivered"],
    completed_at_the_second_attempt: [
        *("task:created", "task:started", *GUIDED),
        *(*A_RETRY, "task:completed"),
    ],
    never_delivered: [
        *("task:created", *ONE_ATTEMPT),
        *(*A_RETRY, "task:retry_scheduled"),
        *(*A_RETRY, "task:retry_exhausted", "task:failed"),
    ],
    blocked_for_good: [
        *("task:created", "task:started", *GUIDED),
        *(*A_RETRY, *GUIDED),
        *(*A_RETRY, *GUIDED),
        *(*A_RETRY, "task:recovery_action", "task:escalated", "task:unblocked"),
        *(*A_RETRY, "task:recovery_action", "task:retry_exhausted", "task:permanently_blocked"),
    ],
    cancelled: ["task:created", "task:cancelled"],
    in_doubt: ["task:created", "task:started", "task:indeterminate"],
    missed: [
        *("task:created", "task:started", "task:delivered", "task:skipped"),
        "task:cancelled",
    ],
    over_budget: ["task:created", "task:started", "budget:exceeded", "task:retry_scheduled"],
    outage: ["breaker:opened", "breaker:closed"],
}


def version_of(event: dict[str, Any]) -> tuple[int, int]:
    task_id, version, n = event["detail"]["event_id"].rsplit(":", 2)
    assert task_id == event["task_id"]
    return int(version), int(n)
