"""A worker that pauses beyond its lease and resumes: the worker that took over wins.

It pauses on the local clock, so that meanwhile sweeper, failure function and other workers do
their part. A pause before a read equals one before the write that follows it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

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


def _visible_state(harness: Harness) -> list[Any]:
    return [harness.task, harness.runs, harness.history, harness.prompt_count]


@pytest.mark.parametrize("point", PAUSE_POINTS, ids=str)
def test_a_worker_that_resumes_after_its_lease_cannot_write(
    shared: StackClient, point: CallPoint
) -> None:
    with start_scenario(shared, point.scenario) as harness:
        resumed = _pause_worker_at(point, harness)
        shared.advance(BEFORE_RESUME)
        before = _visible_state(harness)
        assert resumed == []

        shared.advance("3m")

        assert (resumed, _visible_state(harness)) == ([point.call], before)
        shared.advance("1d")
        _assert_ends_like_a_crash(harness, point)


def _assert_ends_like_a_crash(harness: Harness, point: CallPoint) -> None:
    last = outcomes_of(harness.runs)[-1]
    if point.is_indeterminate and not point.scenario.is_idempotent:
        assert (harness.status, last) == ("blocked", ("crashed", "indeterminate"))
        assert (harness.effects <= 1, harness.prompt_count) == (True, 1)
    else:
        assert (harness.status, last) == (point.scenario.final_status, ("committed", "applied"))
        assert 1 <= harness.effects <= (2 if point.is_indeterminate else 1)


def test_a_failure_reported_after_the_lease_is_not_counted(shared: StackClient) -> None:
    """The task is not retried either, although the receiver refused the request."""
    post = CallPoint(WEBHOOK, WEBHOOK.calls.index("http.post"), "before")
    with start_scenario(shared, WEBHOOK, behaves=lambda receiver: receiver.answer(503)) as harness:
        resumed = _pause_worker_at(post, harness)
        shared.advance(BEFORE_RESUME)
        before = _visible_state(harness)

        shared.advance("1d")

        assert (resumed, harness.effects) == (["http.post"], 1)
        assert _visible_state(harness) == before
