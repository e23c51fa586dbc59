"""A stored task is a success: if its message cannot be sent, it runs once and within minutes.

Each change stores a task that is due soon and then sends its message. The send fails with every
retry, before the message reaches SQS or after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.time.instant import from_text
from duecourse.usecases.runs.recover_expired_leases import GRACE_PERIOD

from tests.simulation.test_failures import REFUSED, SUCCESS, TYPE_ERROR, create_action
from tests.support.stack_client import StackClient

SEND = "sqs.SendMessageBatch"
ALL_ATTEMPTS = 3  # of the SQS client
SWEEP_INTERVAL = timedelta(minutes=5)
MAX_DELAY = GRACE_PERIOD + SWEEP_INTERVAL
FAULTS = [
    {"when": when, "kind": kind}
    for when in ("before", "after")
    for kind in ("timeout", "throttle", "error")
]
every_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda one: "-".join(one.values()))
Task = dict[str, Any]


def break_sends(client: StackClient, function: str, fault: dict[str, str]) -> None:
    client.add_fault(function=function, call=SEND, times=ALL_ATTEMPTS, **fault)


def post(client: StackClient, task: Task, action: str, body: Any = None) -> Task:
    response = client.call("POST", f"/tasks/{task['id']}/{action}", body)
    assert response.status == 200, response.body
    return dict(response.body)


def started_times(client: StackClient, task: Task) -> list[str]:
    return [run["started_at"] for run in client.items(f"/tasks/{task['id']}/runs")]


def assert_ran_once(client: StackClient, task: Task, fault: dict[str, str]) -> None:
    """Check that the task had one more run, and when it began."""
    client.advance("15m")
    [at] = [from_text(one) for one in started_times(client, task) if one >= task["due_at"]]
    lateness = at - from_text(task["due_at"])
    if fault["when"] == "after":
        assert lateness < timedelta(seconds=2), "the message did arrive"
    else:
        assert timedelta(0) <= lateness <= MAX_DELAY
    assert client.stack.functions.metrics["DispatchesNotSent"] == [1]


# --- over HTTP --------------------------------------------------------------------------------


@every_fault
def test_a_created_task_is_a_success_and_runs_once(
    client: StackClient, fault: dict[str, str]
) -> None:
    break_sends(client, "api", fault)
    body = {"in": "10s", "description": "stretch", "sender_id": "ada", "reply_target": "ada"}

    response = client.call("POST", "/tasks", body)

    assert response.status == 201
    assert_ran_once(client, response.body, fault)
    assert len(client.outbox()) == 1


def test_a_repeat_of_the_create_sends_the_message(client: StackClient) -> None:
    break_sends(client, "api", {"when": "before", "kind": "error"})
    body = {"in": "10s", "description": "stretch", "reply_target": "ada"}
    statuses = [
        client.call("POST", "/tasks", body, headers={"idempotency-key": "k"}).status
        for _ in range(2)
    ]
    client.advance("15s")
    assert statuses == [201, 200]
    assert len(client.outbox()) == 1


def patch(client: StackClient, task: Task) -> Task:
    response = client.call("PATCH", f"/tasks/{task['id']}", {"in": "10s"})
    assert response.status == 200, response.body
    return dict(response.body)


def pause_for_resume(client: StackClient) -> Task:
    return post(client, client.create(**{"in": "20s"}), "pause")


def failed_task(client: StackClient) -> Task:
    client.add_fault(function="worker", call="channel.send", kind="error", times=3)
    task = client.create(**{"in": "10s"})
    client.advance("1h")
    assert client.task(task["id"])["status"] == "failed"
    return task


def blocked_task(client: StackClient) -> Task:
    task = create_action(client, *[TYPE_ERROR] * 4, SUCCESS)
    client.advance("1h")
    assert client.task(task["id"])["status"] == "blocked"
    return task


@dataclass(frozen=True)
class Change:
    name: str
    prepare: Callable[[StackClient], Task]
    apply: Callable[[StackClient, Task], Task]


CHANGES = [
    Change("patch", lambda client: client.create(**{"in": "2h"}), patch),
    Change("run", lambda c: c.create(**{"in": "2h"}), lambda c, task: post(c, task, "run")),
    Change("resume", pause_for_resume, lambda c, task: post(c, task, "resume")),
    Change("unblock", blocked_task, lambda c, task: post(c, task, "unblock")),
    Change("retry", failed_task, lambda c, task: post(c, task, "retry")),
]


@every_fault
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.name)
def test_a_change_over_http_is_a_success_and_the_task_runs_once(
    client: StackClient, change: Change, fault: dict[str, str]
) -> None:
    task = change.prepare(client)
    break_sends(client, "api", fault)

    assert_ran_once(client, change.apply(client, task), fault)


# --- in chat ----------------------------------------------------------------------------------


@every_fault
def test_a_reminder_from_chat_is_confirmed_and_comes_once(
    client: StackClient, fault: dict[str, str]
) -> None:
    break_sends(client, "chat", fault)
    body = {"sender_id": "ada", "reply_target": "ada", "text": "/remind in 1 minute stretch"}

    client.call("POST", "/webhooks/console", body, token=None)
    client.advance("10s")  # the retries of the send take some seconds

    [confirmation] = client.outbox()
    assert confirmation["text"].startswith("Reminder ")
    assert_ran_once(client, client.items("/tasks")[0], fault)
    assert [sent["text"] for sent in client.outbox()][1:] == ["Reminder: stretch"]


@every_fault
def test_a_snoozed_reminder_comes_once(client: StackClient, fault: dict[str, str]) -> None:
    client.say("/remind in 10 seconds stretch")
    client.advance("20s")
    [task] = client.items("/tasks")
    break_sends(client, "chat", fault)

    client.say(f"/snooze {task['short_id']} 1 minute")

    [snoozed] = [one for one in client.items("/tasks") if one["id"] != task["id"]]
    assert_ran_once(client, snoozed, fault)


# --- after a run ------------------------------------------------------------------------------


@every_fault
def test_a_committed_run_counts_as_delivered_and_its_series_continues(
    client: StackClient, fault: dict[str, str]
) -> None:
    task = client.create(repeat="* * * * *")
    break_sends(client, "worker", fault)

    client.advance("20m")

    metrics = client.stack.functions.metrics
    runs = client.items(f"/tasks/{task['id']}/runs")
    assert {run["status"] for run in runs} == {"committed"}
    assert len({run["nominal_at"] for run in runs}) == len(client.outbox()) == len(runs)
    assert client.outbox()[-1]["at"] == "2026-02-17T12:20:00.000Z"
    assert sum(metrics["TasksDelivered"]) == len(runs)
    assert metrics["RunsFailed"] == []
    assert metrics["DispatchesNotSent"] == [1]


@every_fault
def test_a_retry_of_the_failure_function_comes_once(
    client: StackClient, fault: dict[str, str]
) -> None:
    break_sends(client, "failure", fault)
    task = create_action(client, REFUSED, SUCCESS)
    client.advance("15s")
    waiting = client.task(task["id"])
    assert (waiting["status"], waiting["retry_count"]) == ("pending", 1)

    assert_ran_once(client, waiting, fault)

    assert client.task(task["id"])["status"] == "completed"
    assert client.stack.functions.metrics["FailuresRecorded"] == [1]
