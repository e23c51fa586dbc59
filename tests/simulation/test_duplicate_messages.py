"""Ten workers receive the same message at once: one run, one effect.

First through the whole system. There one activity runs at a time, and each AWS call takes a
millisecond on the local clock: all ten have read the task before the first of them claims it.
Then below it, where ten threads really run at once and have all read the task.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from botocore.endpoint import Endpoint
from duecourse.app import services, stores
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import from_text, to_text
from duecourse.usecases.runs.execute_task import RunOutcome, execute_task

from local.runtime.template import ACCOUNT, REGION
from tests.simulation.handler_scenarios import (
    SCENARIOS,
    Harness,
    Scenario,
    outcomes_of,
    running_stack_with_lambda,
    start_scenario,
)
from tests.support.stack_client import StackClient

TEN = 10
CALL_SECONDS = 0.001
every_handler = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.type)


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    with running_stack_with_lambda() as client:
        yield client


def _lose_first_message(harness: Harness) -> Dispatch:
    """Let a worker die on the task's message, which SQS then hides for minutes."""
    harness.fault("dynamodb.GetItem", when="before")
    harness.client.advance("11s")
    return Dispatch(from_text(harness.task["due_at"]), harness.task_id)


def _record(dispatch: Dispatch, message_id: str = "same-message") -> dict[str, Any]:
    """Return an SQS record of the slow queue, whose worker runs tasks of every type."""
    body = {"task_id": dispatch.task_id, "due_at": to_text(dispatch.due_at)}
    return {
        "messageId": message_id,
        "body": json.dumps(body),
        "attributes": {"ApproximateReceiveCount": "1"},
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:SlowWorkQueue",
    }


def _assert_one_run_and_one_effect(harness: Harness) -> None:
    assert (harness.status, harness.effects) == (harness.scenario.final_status, 1)
    assert outcomes_of(harness.runs) == [("committed", "applied")]
    assert harness.history == [
        "task:created",
        "task:started",
        f"task:{harness.scenario.final_status}",
    ]


@every_handler
def test_ten_invocations_with_the_same_message_give_one_run_and_one_effect(
    shared: StackClient, scenario: Scenario
) -> None:
    with start_scenario(shared, scenario) as harness:
        dispatch = _lose_first_message(harness)
        event = {"Records": [_record(dispatch)]}
        calls = shared.stack.calls
        calls.latency = CALL_SECONDS
        recorded: list[str] = []
        calls.before_call = lambda function, call: (
            recorded.append(call) if function == "worker" else None
        )
        for _ in range(TEN):
            shared.stack.scheduler.spawn(lambda: shared.stack.functions.invoke("worker", event))

        shared.advance("1m")

        assert recorded[:TEN] == ["dynamodb.GetItem"] * TEN, "all have read it before one claims it"
        assert harness.effects == 1, "before the first message is visible again"
        shared.advance("1d")
        _assert_one_run_and_one_effect(harness)


@every_handler
def test_one_batch_of_ten_copies_gives_one_run_and_one_effect(
    shared: StackClient, scenario: Scenario
) -> None:
    with start_scenario(shared, scenario) as harness:
        dispatch = _lose_first_message(harness)
        copies = [_record(dispatch, f"copy-{n}") for n in range(TEN)]

        reply = shared.stack.invoke("worker", {"Records": copies})

        assert reply == {"batchItemFailures": []}
        assert harness.effects == 1, "before the first message is visible again"
        shared.advance("1d")
        _assert_one_run_and_one_effect(harness)


# --- ten threads ------------------------------------------------------------------------------


@pytest.fixture
def _one_call_at_a_time(shared: StackClient, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """Serialise calls: DynamoDB writes atomically, moto only if it gets one call at a time."""
    endpoint_class: Any = Endpoint
    lock, real = threading.Lock(), endpoint_class._do_get_response

    def call_in_turn(*args: Any) -> Any:
        with lock:
            return real(*args)

    monkeypatch.setattr(endpoint_class, "_do_get_response", call_in_turn)


class BarrierStore:
    """The first read of each thread waits until all ten threads have read the task."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._barrier = threading.Barrier(TEN)
        self._thread_state = threading.local()

    def peek(self, task_id: str) -> Task | None:
        task: Task | None = self._store.peek(task_id)
        if not getattr(self._thread_state, "has_met", False):
            self._thread_state.has_met = True
            self._barrier.wait(timeout=30)
        return task

    def __getattr__(self, name: str) -> Callable[..., Any]:
        attribute: Callable[..., Any] = getattr(self._store, name)
        return attribute


@every_handler
@pytest.mark.usefixtures("_one_call_at_a_time")
def test_ten_threads_with_the_same_message_give_one_run_and_one_effect(
    shared: StackClient, scenario: Scenario
) -> None:
    with start_scenario(shared, scenario) as harness:
        dispatch = _lose_first_message(harness)
        store: Any = BarrierStore(stores.task_store())
        worker = replace(services.worker_deps(), store=store)

        with ThreadPoolExecutor(TEN) as pool:
            outcomes = list(
                pool.map(
                    lambda _: execute_task(dispatch, worker, is_slow_queue=True).outcome, range(TEN)
                )
            )

        assert sorted(outcomes) == sorted(
            [RunOutcome.DELIVERED, *[RunOutcome.DUPLICATE] * (TEN - 1)]
        )
        shared.advance("1d")
        _assert_one_run_and_one_effect(harness)
