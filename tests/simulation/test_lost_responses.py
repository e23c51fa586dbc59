"""A lost response of a write or of an external call does not repeat the effect."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulation.handler_scenarios import (
    LAMBDA,
    NOT_IDEMPOTENT,
    WEBHOOK,
    CallPoint,
    Progress,
    Scenario,
    outcomes_of,
    running_stack_with_lambda,
    start_scenario,
)
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

READS = ("dynamodb.GetItem", "secretsmanager.GetSecretValue")
EXTERNAL_CALLS = ("http.post", "lambda.Invoke", "provider.call")
WRITES = [
    CallPoint(scenario, index, "after")
    for scenario in NOT_IDEMPOTENT
    for index, call in enumerate(scenario.calls)
    if call not in (*READS, *EXTERNAL_CALLS)
]
MORE_THAN_ALL_RETRIES = 8  # of one call; the writes of later runs succeed


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    with running_stack_with_lambda() as client:
        yield client


@pytest.mark.parametrize("point", WRITES, ids=str)
def test_a_write_with_a_lost_response_is_recognised(shared: StackClient, point: CallPoint) -> None:
    with start_scenario(shared, point.scenario) as harness:
        harness.fault(point.call, nth=point.nth, when="after", kind="timeout")

        shared.advance("1d")

        assert (harness.status, harness.effects) == ("completed", 1)
        assert outcomes_of(harness.runs) == [("committed", "applied")]


@pytest.mark.parametrize("point", WRITES, ids=str)
def test_a_write_without_any_response_causes_no_second_effect(
    shared: StackClient, point: CallPoint
) -> None:
    with start_scenario(shared, point.scenario) as harness:
        times = MORE_THAN_ALL_RETRIES
        harness.fault(point.call, nth=point.nth, when="after", kind="timeout", times=times)

        shared.advance("2d")

        is_asked = harness.status == "blocked" and harness.prompt_count == 1
        assert (harness.status, harness.effects) == ("completed", 1) or (
            is_asked and not harness.effects
        )


@pytest.mark.parametrize("scenario", NOT_IDEMPOTENT, ids=lambda scenario: scenario.type)
def test_an_effect_that_cannot_be_stored_is_not_repeated(
    shared: StackClient, scenario: Scenario
) -> None:
    """The failure report carries the result, so the next run only commits."""
    write = CallPoint(scenario, scenario.index_of(Progress.RECORDED), "before")
    with start_scenario(shared, scenario) as harness:
        times = MORE_THAN_ALL_RETRIES
        harness.fault(write.call, nth=write.nth, when="before", kind="timeout", times=times)

        shared.advance("2d")

        assert (harness.status, harness.effects) == ("completed", 1)
        assert {mutation for _, mutation in outcomes_of(harness.runs)} == {"applied"}


@pytest.mark.parametrize("scenario", [WEBHOOK, LAMBDA], ids=lambda scenario: scenario.type)
def test_an_unconfirmed_effect_is_left_to_a_person(shared: StackClient, scenario: Scenario) -> None:
    """The receiver reads the request and closes the connection."""
    with start_scenario(shared, scenario, behaves=Receiver.drop_connection) as harness:
        shared.advance("1d")

        assert (harness.status, harness.effects, harness.prompt_count) == ("blocked", 1, 1)
        assert outcomes_of(harness.runs) == [("paused:reconciliation", "indeterminate")]
