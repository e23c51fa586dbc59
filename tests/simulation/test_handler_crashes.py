"""A crash before and after every call of every shipped handler: once, or in doubt and said so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulation.handler_scenarios import (
    ENRICH,
    HARMFUL,
    SCENARIOS,
    WEBHOOK,
    Mark,
    Point,
    Scenario,
    Stage,
    a_stage,
    assert_a_chain,
    points,
    right_after_the_effect,
    stack_that_may_call_a_function,
    told_of,
)
from tests.support.stack_client import StackClient

A_DAY = "1d"  # some policies wait twelve hours after a crash
COMMITTED = ("committed", "applied")
POINTS = [point for scenario in SCENARIOS for point in points(scenario)]
every_handler = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.type)
every_harmful_handler = pytest.mark.parametrize("scenario", HARMFUL, ids=lambda one: one.type)


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    """Starting a stack takes longer than a test: each begins by emptying it."""
    with stack_that_may_call_a_function() as client:
        yield client


@every_handler
def test_the_list_of_a_handlers_calls_is_complete(shared: StackClient, scenario: Scenario) -> None:
    with a_stage(shared, scenario) as stage:
        heard: list[tuple[str, str]] = []
        shared.stack.calls.before_call = lambda function, call: heard.append((function, call))

        shared.advance(A_DAY)

        assert [call for function, call in heard if function == "worker"] == scenario.calls
        assert (stage.status, stage.effects) == (scenario.done, 1)


@pytest.mark.parametrize("point", POINTS, ids=str)
def test_a_crash_leaves_one_effect_or_a_doubt_that_is_told(
    shared: StackClient, point: Point
) -> None:
    with a_stage(shared, point.scenario) as stage:
        stage.crash_at(point)

        shared.advance(A_DAY)

        assert told_of(stage.runs) == _story_of(point)
        if point.leaves_doubt and not point.scenario.is_harmless:
            _is_in_doubt(stage, effects=int(point.has_sent))
        else:
            _is_done(stage, effects=_effects_of(point))


def _story_of(point: Point) -> list[tuple[str, str | None]]:
    if not point.is_behind(Mark.CLAIMED) or point.is_behind(Mark.COMMITTED):
        return [COMMITTED]
    if point.leaves_doubt:
        crashed = ("crashed", "indeterminate")
        return [crashed, COMMITTED] if point.scenario.is_harmless else [crashed]
    return [("crashed", "applied" if point.is_behind(Mark.KNOWN) else None), COMMITTED]


def _effects_of(point: Point) -> int:
    """Twice only where it is harmless, and nobody could know of the first."""
    return 2 if point.leaves_doubt and point.has_sent else 1


def _is_done(stage: Stage, *, effects: int) -> None:
    runs = stage.runs
    assert (stage.status, stage.effects) == (stage.scenario.done, effects)
    assert_a_chain(runs, "first", *["crashed_recovery"] * (len(runs) - 1))
    assert stage.history.count(f"task:{stage.scenario.done}") == 1
    assert stage.questions == 0


def _is_in_doubt(stage: Stage, *, effects: int) -> None:
    assert (stage.status, stage.effects) == ("blocked", effects)
    assert_a_chain(stage.runs, "first")
    assert stage.history.count("task:indeterminate") == 1
    assert stage.questions == 1


# --- what a person says about a doubt ---------------------------------------------------------


def _left_in_doubt(stage: Stage) -> None:
    stage.crash_at(right_after_the_effect(stage.scenario))
    stage.client.advance("20m")
    _is_in_doubt(stage, effects=1)


@every_harmful_handler
def test_what_has_happened_is_not_done_again(shared: StackClient, scenario: Scenario) -> None:
    with a_stage(shared, scenario) as stage:
        _left_in_doubt(stage)

        stage.resolve("applied")
        shared.advance(A_DAY)

        assert (stage.status, stage.effects) == ("completed", 1)
        assert told_of(stage.runs) == [("crashed", "applied")]
        assert stage.history[-2:] == ["task:resolved", "task:completed"]


@every_harmful_handler
def test_what_has_not_happened_is_done(shared: StackClient, scenario: Scenario) -> None:
    with a_stage(shared, scenario) as stage:
        _left_in_doubt(stage)

        stage.resolve("not_applied")
        shared.advance(A_DAY)

        assert (stage.status, stage.effects) == ("completed", 2)
        assert told_of(stage.runs) == [("crashed", "failed"), COMMITTED]
        assert_a_chain(stage.runs, "first", "crashed_recovery")


@every_harmful_handler
def test_what_is_skipped_is_left_as_it_is(shared: StackClient, scenario: Scenario) -> None:
    with a_stage(shared, scenario) as stage:
        _left_in_doubt(stage)

        stage.resolve("skip")
        shared.advance(A_DAY)

        assert (stage.status, stage.effects) == ("cancelled", 1)
        assert told_of(stage.runs) == [("cancelled", "indeterminate")]


@pytest.mark.parametrize("answer", ["retry", "unblock"])
def test_a_doubt_is_not_passed_over(shared: StackClient, answer: str) -> None:
    with a_stage(shared, WEBHOOK) as stage:
        _left_in_doubt(stage)

        refused = shared.call("POST", f"/tasks/{stage.task_id}/{answer}")
        shared.advance(A_DAY)

        assert (refused.status, stage.status, stage.effects) == (409, "blocked", 1)


# --- those who recover it crash, too ----------------------------------------------------------

FAILURE_CALLS = {
    WEBHOOK: [
        "dynamodb.GetItem",  # the task
        "dynamodb.GetItem",  # what was learnt of such a failure
        "dynamodb.PutItem",
    ],
    ENRICH: [
        "dynamodb.GetItem",  # the task
        "dynamodb.GetItem",  # what was learnt of such a failure
        "dynamodb.GetItem",  # its subject
        "dynamodb.Query",  # the pending retries
        "dynamodb.TransactWriteItems",
    ],
}
# Those that come before the report is sent. The second item read is the task.
SWEEPER_CALLS = [("dynamodb.Query", 1), ("dynamodb.GetItem", 2), ("sqs.SendMessage", 1)]
RECOVERY = [
    (scenario, function, call, nth)
    for scenario, calls in FAILURE_CALLS.items()
    for function, call, nth in [
        *[("sweeper", call, nth) for call, nth in SWEEPER_CALLS],
        *[("failure", call, calls[:n].count(call)) for n, call in enumerate(calls, start=1)],
    ]
]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("scenario", "function", "call", "nth"),
    RECOVERY,
    ids=lambda one: one.type if isinstance(one, Scenario) else str(one),
)
def test_a_recovery_that_crashes_is_made_once(
    shared: StackClient, scenario: Scenario, function: str, call: str, nth: int, when: str
) -> None:
    point = right_after_the_effect(scenario)
    with a_stage(shared, scenario) as stage:
        stage.crash_at(point)
        stage.fault(call, function=function, nth=nth, when=when)

        shared.advance(A_DAY)

        assert told_of(stage.runs) == _story_of(point)
        if scenario.is_harmless:
            _is_done(stage, effects=2)
        else:
            _is_in_doubt(stage, effects=1)


@pytest.mark.parametrize("scenario", FAILURE_CALLS, ids=lambda one: one.type)
def test_the_list_of_the_recoverys_calls_is_complete(
    shared: StackClient, scenario: Scenario
) -> None:
    with a_stage(shared, scenario) as stage:
        heard: list[tuple[str, str]] = []
        shared.stack.calls.before_call = lambda function, call: heard.append((function, call))
        stage.crash_at(right_after_the_effect(scenario))

        shared.advance("20m")

        failure = [call for function, call in heard if function == "failure"]
        sweeper = [call for function, call in heard if function == "sweeper"]
        until_sent = sweeper[: sweeper.index("sqs.SendMessage") + 1]
        assert failure == FAILURE_CALLS[scenario]
        assert set(until_sent) == {call for call, _ in SWEEPER_CALLS}
        assert until_sent.count("dynamodb.GetItem") == 2


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_follows_from_an_effect_may_crash_again_and_the_effect_stays_one(
    shared: StackClient, when: str
) -> None:
    with a_stage(shared, ENRICH) as stage:
        stage.fault("channel.send", when=when, times=2)

        shared.advance("2d")

        crashed = ("crashed", "applied")
        assert told_of(stage.runs) == [crashed, crashed, COMMITTED]
        _is_done(stage, effects=1)
        answers = sum('"city": "Paris"' in text for text in stage.texts)
        assert answers == (1 if when == "before" else 3)
