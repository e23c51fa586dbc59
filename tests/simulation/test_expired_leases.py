"""A worker that pauses beyond its lease and resumes: what it reports settles the task.

A newer run stands. The worker pauses on the local clock, so that meanwhile sweeper, failure
function and other workers do their part. A pause before a read equals one before the write that
follows it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.simulation.handler_scenarios import (
    SCENARIOS,
    WEBHOOK,
    CallPoint,
    Harness,
    outcomes_of,
    running_stack_with_lambda,
    start_scenario,
)
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

PAUSE_SECONDS = 600  # seconds: longer than the lease and the time to the next sweep
BEFORE_RESUME = "9m"
PAUSE_POINTS = [
    CallPoint(scenario, index, "before")
    for scenario in SCENARIOS
    for index, call in enumerate(scenario.calls)
    if call != "dynamodb.GetItem"
]


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    with running_stack_with_lambda() as client:
        yield client


def _pause_worker_at(point: CallPoint, harness: Harness) -> list[str]:
    """Pause the first worker before that call. The returned list has the call once it resumes."""
    recorded: list[str] = []
    resumed: list[str] = []

    def pause_at_point(function: str, call: str) -> None:
        if function != "worker":
            return
        recorded.append(call)
        if len(recorded) == point.index + 1:
            time.sleep(PAUSE_SECONDS)
            resumed.append(call)

    harness.client.stack.calls.before_call = pause_at_point
    return resumed


@pytest.mark.parametrize("point", PAUSE_POINTS, ids=str)
def test_a_worker_that_resumes_after_its_lease_reports_how_it_ended(
    shared: StackClient, point: CallPoint
) -> None:
    with start_scenario(shared, point.scenario) as harness:
        resumed = _pause_worker_at(point, harness)
        shared.advance(BEFORE_RESUME)
        asked = harness.prompt_count
        assert resumed == []

        shared.advance("1d")

        assert resumed == [point.call]
        assert asked == int(point.is_indeterminate and not point.scenario.is_idempotent)
        _assert_done(harness, point)
        assert (harness.prompt_count, len(_resolved_texts(harness))) == (asked, asked)


def _assert_done(harness: Harness, point: CallPoint) -> None:
    """Without a person, the work was done once, or perhaps twice if that is harmless."""
    assert (harness.status, outcomes_of(harness.runs)[-1]) == (
        *(point.scenario.final_status, ("committed", "applied")),
    )
    assert 1 <= harness.effects <= 1 + (point.is_indeterminate and point.scenario.is_idempotent)
    assert harness.history.count(f"task:{point.scenario.final_status}") == 1


def _resolved_texts(harness: Harness) -> list[str]:
    texts = [sent["text"] for sent in harness.client.outbox("ada")]
    return [text for text in texts if text.startswith("No answer is needed any more")]


def test_a_failure_reported_after_the_lease_is_retried(shared: StackClient) -> None:
    post = CallPoint(WEBHOOK, WEBHOOK.calls.index("http.post"), "before")

    def refuse_once(receiver: Receiver) -> None:
        receiver.answer(503)
        receiver.answer(200)

    with start_scenario(shared, WEBHOOK, behaves=refuse_once) as harness:
        resumed = _pause_worker_at(post, harness)
        shared.advance("1d")

        assert (resumed, harness.effects, harness.status) == (["http.post"], 2, "completed")
        assert outcomes_of(harness.runs) == [
            ("paused:transient", "failed"),
            ("committed", "applied"),
        ]
        assert (harness.task["retry_count"], "503" in harness.runs[0]["error"]) == (1, True)
