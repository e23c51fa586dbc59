"""An answer that is lost, of a write or from outside, makes nobody do again what was done."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulation.handler_scenarios import (
    HARMFUL,
    LAMBDA,
    WEBHOOK,
    Mark,
    Point,
    Scenario,
    a_stage,
    stack_that_may_call_a_function,
    told_of,
)
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

READS = ("dynamodb.GetItem", "secretsmanager.GetSecretValue")
OUTSIDE = ("http.post", "lambda.Invoke", "provider.call")
WRITES = [
    Point(scenario, place, "after")
    for scenario in HARMFUL
    for place, call in enumerate(scenario.calls)
    if call not in (*READS, *OUTSIDE)
]
MORE_THAN_ANYBODY_TRIES = 12


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    with stack_that_may_call_a_function() as client:
        yield client


@pytest.mark.parametrize("point", WRITES, ids=str)
def test_a_write_whose_answer_is_lost_is_recognised(shared: StackClient, point: Point) -> None:
    with a_stage(shared, point.scenario) as stage:
        stage.fault(point.call, nth=point.nth, when="after", kind="timeout")

        shared.advance("1d")

        assert (stage.status, stage.effects) == ("completed", 1)
        assert told_of(stage.runs) == [("committed", "applied")]


@pytest.mark.parametrize("point", WRITES, ids=str)
def test_a_write_that_is_never_answered_makes_no_second_effect(
    shared: StackClient, point: Point
) -> None:
    with a_stage(shared, point.scenario) as stage:
        times = MORE_THAN_ANYBODY_TRIES
        stage.fault(point.call, nth=point.nth, when="after", kind="timeout", times=times)

        shared.advance("1d")

        is_told = stage.status == "blocked" and stage.questions == 1
        assert (stage.status, stage.effects) == ("completed", 1) or (is_told and not stage.effects)


@pytest.mark.parametrize("scenario", HARMFUL, ids=lambda one: one.type)
def test_an_effect_that_cannot_be_written_down_is_not_repeated(
    shared: StackClient, scenario: Scenario
) -> None:
    """The report tells of it in place of the run: the next run has only to commit."""
    write = Point(scenario, scenario.place_of(Mark.KNOWN), "before")
    with a_stage(shared, scenario) as stage:
        times = MORE_THAN_ANYBODY_TRIES
        stage.fault(write.call, nth=write.nth, when="before", kind="timeout", times=times)

        shared.advance("2d")

        assert (stage.status, stage.effects) == ("completed", 1)
        assert {mutation for _, mutation in told_of(stage.runs)} == {"applied"}


@pytest.mark.parametrize("scenario", [WEBHOOK, LAMBDA], ids=lambda one: one.type)
def test_an_effect_that_nobody_confirms_is_left_to_a_person(
    shared: StackClient, scenario: Scenario
) -> None:
    """The request was read, and the line is dead."""
    with a_stage(shared, scenario, behaves=Receiver.drop_connection) as stage:
        shared.advance("1d")

        assert (stage.status, stage.effects, stage.questions) == ("blocked", 1, 1)
        assert told_of(stage.runs) == [("paused:reconciliation", "indeterminate")]
