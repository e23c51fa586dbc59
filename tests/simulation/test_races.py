"""Cancel and dispatch race in any order: a task is never both cancelled and delivered.

Each AWS call takes a millisecond on the local clock, and the cancel is sent at every half
millisecond around the due time, so that it falls between any two calls of the worker. All
sleeping is on that clock.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from duecourse.app import queues
from duecourse.domain.dispatch.lanes import Lane
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.time.instant import from_text

from tests.support.api_events import api_event
from tests.support.stack_client import StackClient

CALL_SECONDS = 0.001
HALF_MILLISECONDS = range(-8, 16)
WRITE_CALLS = ("dynamodb.PutItem", "dynamodb.UpdateItem")


@dataclass(frozen=True)
class RaceResult:
    """The status of the cancel, the final task status, and which functions tried to write it."""

    cancel_status: int
    final_status: str
    sent: int
    writers: frozenset[str]


def run_race(client: StackClient, half_milliseconds: int) -> RaceResult:
    """Cancel a task that long after its due time (before it if negative)."""
    calls = client.stack.calls
    calls.latency = 0
    task = client.create(**{"in": "20s"}, reply_target=f"ada {half_milliseconds}")
    moment = from_text(task["due_at"]) + half_milliseconds * timedelta(seconds=CALL_SECONDS / 2)
    event = api_event("POST", f"/tasks/{task['id']}/cancel")
    answers: list[Any] = []
    recorded: list[tuple[str, str]] = []

    def cancel_at_moment() -> None:
        time.sleep((moment - client.stack.clock.now()).total_seconds())
        answers.append(client.stack.functions.invoke("api", event))

    calls.latency = CALL_SECONDS
    calls.before_call = lambda function, call: recorded.append((function, call))
    client.stack.scheduler.spawn(cancel_at_moment)
    client.advance("1m")
    calls.before_call = None

    [answer] = answers
    final_status = client.task(task["id"])["status"]
    writers = frozenset(function for function, call in recorded if call in WRITE_CALLS)
    return RaceResult(
        answer["statusCode"], final_status, len(client.outbox(task["reply_target"])), writers
    )


def test_a_task_is_never_both_cancelled_and_delivered(client: StackClient) -> None:
    """The response to the cancel matches the outcome."""
    races = {moment: run_race(client, moment) for moment in HALF_MILLISECONDS}

    ends = {
        moment: (result.cancel_status, result.final_status, result.sent)
        for moment, result in races.items()
    }
    allowed = {(200, "cancelled", 0), (409, "delivered", 1)}
    assert {moment: end for moment, end in ends.items() if end not in allowed} == {}
    assert set(ends.values()) == allowed
    assert any(
        "worker" in result.writers for result in races.values() if result.cancel_status == 200
    ), "a worker tries to claim the task after it was cancelled, and cannot"
    assert any(
        "api" in result.writers for result in races.values() if result.cancel_status == 409
    ), "a cancel has read the task before it was claimed, and cannot write it"


def test_a_cancel_before_the_due_time_wins_and_one_after_it_loses(client: StackClient) -> None:
    """Cancelled just before the due time, and too late just after it."""
    early, late = client.create(**{"in": "20s"}), client.create(**{"in": "20s"})
    client.advance("19s")
    assert client.call("POST", f"/tasks/{early['id']}/cancel").status == 200
    client.advance("2s")

    assert client.call("POST", f"/tasks/{late['id']}/cancel").status == 409
    assert [client.task(task["id"])["status"] for task in (early, late)] == [
        "cancelled",
        "delivered",
    ]


@pytest.mark.parametrize("lane", [Lane.NEW_REMINDER, None], ids=["claimed unread", "read first"])
def test_ten_copies_of_one_message_cause_one_run(client: StackClient, lane: Lane | None) -> None:
    task = client.create(**{"in": "20s"})
    client.stack.calls.latency = CALL_SECONDS
    due_at = from_text(task["due_at"])
    for _ in range(10):
        client.stack.scheduler.call(
            lambda: queues.work_queue().send(
                [Dispatch(due_at, task["id"], lane)], now=client.stack.clock.now()
            )
        )

    client.advance("1m")

    assert len(client.outbox()) == 1
    assert len(client.items(f"/tasks/{task['id']}/runs")) == 1
    assert sum(client.stack.functions.metrics["DuplicatesDropped"]) == 10
