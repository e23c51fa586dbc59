"""A worker that stands still beyond its lease and wakes: whoever took over has the say.

It stands still on the local clock, so that meanwhile sweeper, failure function and other workers
do their part. A pause before a read is one before the write that follows it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulation.handler_scenarios import (
    SCENARIOS,
    WEBHOOK,
    Point,
    Stage,
    a_stage,
    stack_that_may_call_a_function,
    told_of,
)
from tests.support.stack_client import StackClient

PAUSE = 600  # seconds: the lease, and the sweeper's next look
BEFORE_IT_WAKES = "9m"
PAUSES = [
    Point(scenario, place, "before")
    for scenario in SCENARIOS
    for place, call in enumerate(scenario.calls)
    if call != "dynamodb.GetItem"
]


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    with stack_that_may_call_a_function() as client:
        yield client


def _stands_still_at(point: Point, stage: Stage) -> list[str]:
    """The first worker that comes to the call. It is in the list once it has woken."""
    heard: list[str] = []
    woken: list[str] = []

    def listen(function: str, call: str) -> None:
        if function != "worker":
            return
        heard.append(call)
        if len(heard) == point.place + 1:
            time.sleep(PAUSE)
            woken.append(call)

    stage.client.stack.calls.before_call = listen
    return woken


def _all_that_is_told(stage: Stage) -> list[Any]:
    return [stage.task, stage.runs, stage.history, stage.questions]


@pytest.mark.parametrize("point", PAUSES, ids=str)
def test_a_worker_that_wakes_after_its_lease_can_write_nothing(
    shared: StackClient, point: Point
) -> None:
    with a_stage(shared, point.scenario) as stage:
        woken = _stands_still_at(point, stage)
        shared.advance(BEFORE_IT_WAKES)
        before = _all_that_is_told(stage)
        assert woken == []

        shared.advance("3m")

        assert (woken, _all_that_is_told(stage)) == ([point.call], before)
        shared.advance("1d")
        _ends_as_if_it_had_crashed(stage, point)


def _ends_as_if_it_had_crashed(stage: Stage, point: Point) -> None:
    last = told_of(stage.runs)[-1]
    if point.leaves_doubt and not point.scenario.is_harmless:
        assert (stage.status, last) == ("blocked", ("crashed", "indeterminate"))
        assert (stage.effects <= 1, stage.questions) == (True, 1)
    else:
        assert (stage.status, last) == (point.scenario.done, ("committed", "applied"))
        assert 1 <= stage.effects <= (2 if point.leaves_doubt else 1)


def test_a_failure_that_is_reported_too_late_counts_nothing(shared: StackClient) -> None:
    """Nor is the task tried again, though the receiver has said that it did nothing."""
    post = Point(WEBHOOK, WEBHOOK.calls.index("http.post"), "before")
    with a_stage(shared, WEBHOOK, behaves=lambda receiver: receiver.answer(503)) as stage:
        woken = _stands_still_at(post, stage)
        shared.advance(BEFORE_IT_WAKES)
        before = _all_that_is_told(stage)

        shared.advance("1d")

        assert (woken, stage.effects) == (["http.post"], 1)
        assert _all_that_is_told(stage) == before
