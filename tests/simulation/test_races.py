"""Create, cancel and dispatch racing in any order: never both cancelled and delivered.

Each AWS call takes a millisecond on the local clock, and the cancel is sent in at every half
millisecond around the due time, so that it falls between any two calls of the worker. All
sleeping is on that clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from duecourse import parts
from duecourse.domain.dispatch import Dispatch
from duecourse.domain.instant import from_text

from tests.stack_client import StackClient

CALL_SECONDS = 0.001


def start_at(client: StackClient, instant: datetime, work: Callable[[], object]) -> None:
    """Have the work done as an activity of the stack, at that moment of its clock."""

    def wait_then_work() -> None:
        time.sleep((instant - client.stack.clock.now()).total_seconds())
        work()

    client.stack.conductor.spawn(wait_then_work)


@pytest.mark.parametrize("half_millisecond", range(-4, 16))
def test_a_task_is_never_both_cancelled_and_delivered(
    client: StackClient, half_millisecond: int
) -> None:
    task = client.create(**{"in": "20s"})
    client.stack.calls.latency = CALL_SECONDS
    moment = from_text(task["due_at"]) + half_millisecond * timedelta(seconds=CALL_SECONDS / 2)
    event = cancel_event(task["id"])
    start_at(client, moment, lambda: client.stack.functions.invoke("api", event))

    client.advance("1m")

    status = client.task(task["id"])["status"]
    assert (status, len(client.sent())) in {("cancelled", 0), ("delivered", 1)}


def cancel_event(task_id: str) -> dict[str, object]:
    path = f"/tasks/{task_id}/cancel"
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"authorization": "Bearer local"},
        "requestContext": {"http": {"method": "POST", "path": path}, "stage": "$default"},
        "isBase64Encoded": False,
    }


def test_the_races_really_end_both_ways(client: StackClient) -> None:
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


def test_ten_copies_of_one_message_give_one_run(client: StackClient) -> None:
    task = client.create(**{"in": "20s"})
    client.stack.calls.latency = CALL_SECONDS
    due_at = from_text(task["due_at"])
    for _ in range(10):
        client.stack.conductor.call(
            lambda: parts.work_queue().send(
                [Dispatch(due_at, task["id"])], now=client.stack.clock.now()
            )
        )

    client.advance("1m")

    assert len(client.sent()) == 1
    assert len(client.items(f"/tasks/{task['id']}/runs")) == 1
    assert sum(client.stack.functions.metrics["DuplicatesDropped"]) == 10
