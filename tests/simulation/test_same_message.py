"""Ten workers given the same message at once: one run, one effect.

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
    Scenario,
    Stage,
    a_stage,
    stack_that_may_call_a_function,
    told_of,
)
from tests.support.stack_client import StackClient

TEN = 10
CALL_SECONDS = 0.001
every_handler = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.type)


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    with stack_that_may_call_a_function() as client:
        yield client


def _is_due_and_untaken(stage: Stage) -> Dispatch:
    """Its message was handed to a worker that died: SQS keeps it hidden for minutes."""
    stage.fault("dynamodb.GetItem", when="before")
    stage.client.advance("11s")
    return Dispatch(from_text(stage.task["due_at"]), stage.task_id)


def _record(dispatch: Dispatch, message_id: str = "the-very-same") -> dict[str, Any]:
    """From the slow lane, where any task is run."""
    body = {"task_id": dispatch.task_id, "due_at": to_text(dispatch.due_at)}
    return {
        "messageId": message_id,
        "body": json.dumps(body),
        "attributes": {"ApproximateReceiveCount": "1"},
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:SlowWorkQueue",
    }


def _one_run_and_one_effect(stage: Stage) -> None:
    assert (stage.status, stage.effects) == (stage.scenario.done, 1)
    assert told_of(stage.runs) == [("committed", "applied")]
    assert stage.history == ["task:created", "task:started", f"task:{stage.scenario.done}"]


@every_handler
def test_ten_invocations_with_the_same_message_give_one_run_and_one_effect(
    shared: StackClient, scenario: Scenario
) -> None:
    with a_stage(shared, scenario) as stage:
        dispatch = _is_due_and_untaken(stage)
        event = {"Records": [_record(dispatch)]}
        calls = shared.stack.calls
        calls.latency = CALL_SECONDS
        heard: list[str] = []
        calls.before_call = lambda function, call: (
            heard.append(call) if function == "worker" else None
        )
        for _ in range(TEN):
            shared.stack.scheduler.spawn(lambda: shared.stack.functions.invoke("worker", event))

        shared.advance("1m")

        assert heard[:TEN] == ["dynamodb.GetItem"] * TEN, "all have read it before one claims it"
        shared.advance("1d")
        _one_run_and_one_effect(stage)


@every_handler
def test_one_batch_of_ten_copies_gives_one_run_and_one_effect(
    shared: StackClient, scenario: Scenario
) -> None:
    with a_stage(shared, scenario) as stage:
        dispatch = _is_due_and_untaken(stage)
        copies = [_record(dispatch, f"copy-{n}") for n in range(TEN)]

        reply = shared.stack.invoke("worker", {"Records": copies})

        assert reply == {"batchItemFailures": []}
        shared.advance("1d")
        _one_run_and_one_effect(stage)


# --- ten threads ------------------------------------------------------------------------------


@pytest.fixture
def _one_call_at_a_time(shared: StackClient, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """DynamoDB makes each write in one step; moto does so only if it gets one at a time."""
    endpoint_class: Any = Endpoint
    lock, real = threading.Lock(), endpoint_class._do_get_response

    def passed(*args: Any) -> Any:
        with lock:
            return real(*args)

    monkeypatch.setattr(endpoint_class, "_do_get_response", passed)


class MeetingStore:
    """Whoever reads a task for the first time waits until all ten have."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._barrier = threading.Barrier(TEN)
        self._mine = threading.local()

    def get(self, task_id: str) -> Task:
        task: Task = self._store.get(task_id)
        if not getattr(self._mine, "has_met", False):
            self._mine.has_met = True
            self._barrier.wait(timeout=30)
        return task

    def __getattr__(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(self._store, name)
        return found


@every_handler
@pytest.mark.usefixtures("_one_call_at_a_time")
def test_ten_threads_with_the_same_message_give_one_run_and_one_effect(
    shared: StackClient, scenario: Scenario
) -> None:
    with a_stage(shared, scenario) as stage:
        dispatch = _is_due_and_untaken(stage)
        meeting: Any = MeetingStore(stores.task_store())
        worker = replace(services.worker_deps(), store=meeting)

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
        _one_run_and_one_effect(stage)
