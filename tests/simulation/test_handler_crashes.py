"""A crash before and after every call of every built-in handler: one effect, or a question."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulation.handler_scenarios import (
    ENRICH,
    NOT_IDEMPOTENT,
    SCENARIOS,
    WEBHOOK,
    CallPoint,
    Harness,
    Progress,
    Scenario,
    assert_one_chain,
    list_points,
    outcomes_of,
    point_after_effect,
    running_stack_with_lambda,
    start_scenario,
)
from tests.support.stack_client import StackClient

ONE_DAY = "1d"  # some policies wait twelve hours after a crash
COMMITTED_RUN = ("committed", "applied")
POINTS = [point for scenario in SCENARIOS for point in list_points(scenario)]
every_handler = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.type)
every_non_idempotent_handler = pytest.mark.parametrize(
    "scenario", NOT_IDEMPOTENT, ids=lambda scenario: scenario.type
)


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    """One stack for the module, because starting one takes long. Each test resets it."""
    with running_stack_with_lambda() as client:
        yield client


@every_handler
def test_the_list_of_a_handlers_calls_is_complete(shared: StackClient, scenario: Scenario) -> None:
    with start_scenario(shared, scenario) as harness:
        recorded: list[tuple[str, str]] = []
        shared.stack.calls.before_call = lambda function, call: recorded.append((function, call))

        shared.advance(ONE_DAY)

        assert [call for function, call in recorded if function == "worker"] == scenario.calls
        assert (harness.status, harness.effects) == (scenario.final_status, 1)


@pytest.mark.parametrize("point", POINTS, ids=str)
def test_a_crash_leaves_one_effect_or_asks_a_person(shared: StackClient, point: CallPoint) -> None:
    with start_scenario(shared, point.scenario) as harness:
        harness.crash_at(point)

        shared.advance(ONE_DAY)

        assert outcomes_of(harness.runs) == _expected_outcomes(point)
        if point.is_indeterminate and not point.scenario.is_idempotent:
            _assert_indeterminate(harness, effects=int(point.has_sent))
        else:
            _assert_done(harness, effects=_expected_effects(point))


def _expected_outcomes(point: CallPoint) -> list[tuple[str, str | None]]:
    if not point.has_passed(Progress.CLAIMED) or point.has_passed(Progress.COMMITTED):
        return [COMMITTED_RUN]
    if point.is_indeterminate:
        crashed = ("crashed", "indeterminate")
        return [crashed, COMMITTED_RUN] if point.scenario.is_idempotent else [crashed]
    return [("crashed", "applied" if point.has_passed(Progress.RECORDED) else None), COMMITTED_RUN]


def _expected_effects(point: CallPoint) -> int:
    """Return 2 only where the handler is idempotent and the first effect could not be known."""
    return 2 if point.is_indeterminate and point.has_sent else 1


def _assert_done(harness: Harness, *, effects: int) -> None:
    runs = harness.runs
    assert (harness.status, harness.effects) == (harness.scenario.final_status, effects)
    assert_one_chain(runs, "first", *["crashed_recovery"] * (len(runs) - 1))
    assert harness.history.count(f"task:{harness.scenario.final_status}") == 1
    assert harness.prompt_count == 0


def _assert_indeterminate(harness: Harness, *, effects: int) -> None:
    assert (harness.status, harness.effects) == ("blocked", effects)
    assert_one_chain(harness.runs, "first")
    assert harness.history.count("task:indeterminate") == 1
    assert harness.prompt_count == 1


# --- a person resolves an indeterminate effect ------------------------------------------------


def _make_indeterminate(harness: Harness) -> None:
    harness.crash_at(point_after_effect(harness.scenario))
    harness.client.advance("20m")
    _assert_indeterminate(harness, effects=1)


@every_non_idempotent_handler
def test_an_effect_resolved_as_applied_is_not_repeated(
    shared: StackClient, scenario: Scenario
) -> None:
    with start_scenario(shared, scenario) as harness:
        _make_indeterminate(harness)

        harness.resolve("applied")
        shared.advance(ONE_DAY)

        assert (harness.status, harness.effects) == ("completed", 1)
        assert outcomes_of(harness.runs) == [("crashed", "applied")]
        assert harness.history[-2:] == ["task:resolved", "task:completed"]


@every_non_idempotent_handler
def test_an_effect_resolved_as_not_applied_is_run_again(
    shared: StackClient, scenario: Scenario
) -> None:
    with start_scenario(shared, scenario) as harness:
        _make_indeterminate(harness)

        harness.resolve("not_applied")
        shared.advance(ONE_DAY)

        assert (harness.status, harness.effects) == ("completed", 2)
        assert outcomes_of(harness.runs) == [("crashed", "failed"), COMMITTED_RUN]
        assert_one_chain(harness.runs, "first", "crashed_recovery")


@every_non_idempotent_handler
def test_an_effect_resolved_as_skip_cancels_the_task(
    shared: StackClient, scenario: Scenario
) -> None:
    with start_scenario(shared, scenario) as harness:
        _make_indeterminate(harness)

        harness.resolve("skip")
        shared.advance(ONE_DAY)

        assert (harness.status, harness.effects) == ("cancelled", 1)
        assert outcomes_of(harness.runs) == [("cancelled", "indeterminate")]


@pytest.mark.parametrize("action", ["retry", "unblock"])
def test_retry_and_unblock_are_refused_while_the_effect_is_indeterminate(
    shared: StackClient, action: str
) -> None:
    with start_scenario(shared, WEBHOOK) as harness:
        _make_indeterminate(harness)

        refused = shared.call("POST", f"/tasks/{harness.task_id}/{action}")
        shared.advance(ONE_DAY)

        assert (refused.status, harness.status, harness.effects) == (409, "blocked", 1)


# --- crashes of the sweeper and the failure function ------------------------------------------

FAILURE_CALLS = {
    WEBHOOK: [
        "dynamodb.GetItem",  # the task
        "dynamodb.GetItem",  # the learned pattern
        "dynamodb.PutItem",
    ],
    ENRICH: [
        "dynamodb.GetItem",  # the task
        "dynamodb.GetItem",  # the learned pattern
        "dynamodb.GetItem",  # its subject
        "dynamodb.TransactWriteItems",
    ],
}
# Those before the report is sent.
SWEEPER_CALLS = [
    ("dynamodb.GetItem", 1),
    ("dynamodb.Query", 1),
    ("dynamodb.BatchGetItem", 1),
    ("sqs.SendMessageBatch", 1),
]
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
    ids=lambda value: value.type if isinstance(value, Scenario) else str(value),
)
def test_a_crash_during_recovery_recovers_once(
    shared: StackClient, scenario: Scenario, function: str, call: str, nth: int, when: str
) -> None:
    point = point_after_effect(scenario)
    with start_scenario(shared, scenario) as harness:
        harness.crash_at(point)
        harness.fault(call, function=function, nth=nth, when=when)

        shared.advance(ONE_DAY)

        assert outcomes_of(harness.runs) == _expected_outcomes(point)
        if scenario.is_idempotent:
            _assert_done(harness, effects=2)
        else:
            _assert_indeterminate(harness, effects=1)


@pytest.mark.parametrize("scenario", FAILURE_CALLS, ids=lambda scenario: scenario.type)
def test_the_list_of_recovery_calls_is_complete(shared: StackClient, scenario: Scenario) -> None:
    with start_scenario(shared, scenario) as harness:
        recorded: list[tuple[str, str]] = []
        shared.stack.calls.before_call = lambda function, call: recorded.append((function, call))
        harness.crash_at(point_after_effect(scenario))

        shared.advance("20m")

        failure = [call for function, call in recorded if function == "failure"]
        sweeper = [call for function, call in recorded if function == "sweeper"]
        until_sent = sweeper[: sweeper.index("sqs.SendMessageBatch") + 1]
        assert failure == FAILURE_CALLS[scenario]
        assert set(until_sent) == {call for call, _ in SWEEPER_CALLS}
        assert until_sent.count("dynamodb.BatchGetItem") == 1


@pytest.mark.parametrize("when", ["before", "after"])
def test_repeated_crashes_in_emit_do_not_repeat_the_effect(shared: StackClient, when: str) -> None:
    with start_scenario(shared, ENRICH) as harness:
        harness.fault("channel.send", when=when, times=2)

        shared.advance("2d")

        crashed = ("crashed", "applied")
        assert outcomes_of(harness.runs) == [crashed, crashed, COMMITTED_RUN]
        _assert_done(harness, effects=1)
        answers = sum('"city": "Paris"' in text for text in harness.texts)
        assert answers == (1 if when == "before" else 3)
