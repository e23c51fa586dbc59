"""A lost response of a write or of an external call does not repeat the effect."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest
from duecourse.app import registry, stores

from local.runtime.outbox import OutboxChannel
from tests.simulation.handler_scenarios import (
    LAMBDA,
    NOT_IDEMPOTENT,
    REMINDER,
    WEBHOOK,
    CallPoint,
    Progress,
    Scenario,
    outcomes_of,
    running_stack_with_lambda,
    start_scenario,
)
from tests.support.chat_cases import HTTP_CLIENT, TOKENS
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient
from tests.unit.adapters.channels.all_platforms.platforms import PLATFORMS, Platform

REPEATED = [("paused:transient", "indeterminate"), ("committed", "applied")]
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


def _register_real_channel(client: StackClient, platform: Platform, receiver: Receiver) -> None:
    """Let the platform's own adapter send to `receiver`."""
    sender = platform.channel(HTTP_CLIENT, TOKENS, stores.clock(), endpoint=receiver.url(""))
    outbox_channel = OutboxChannel(platform.name, client.stack.outbox, sender)
    registry.register_channel(platform.name, outbox_channel)


def test_a_reminder_whose_response_is_lost_is_repeated_and_says_so(shared: StackClient) -> None:
    with start_scenario(shared, REMINDER) as harness:
        harness.fault("channel.send", when="after", kind="timeout")

        shared.advance("10m")

        assert outcomes_of(harness.runs) == REPEATED
        assert (harness.status, harness.effects) == ("delivered", 2)


@pytest.mark.parametrize("status", [400, 503])
def test_a_reminder_that_is_refused_has_not_been_sent(shared: StackClient, status: int) -> None:
    with start_scenario(shared, REMINDER) as harness:
        error = {"status": status, "message": "no"}
        harness.fault("channel.send", when="after", kind="error", error=error)

        shared.advance("10m")

        assert outcomes_of(harness.runs)[0] == ("paused:transient", "failed")


@pytest.mark.parametrize("platform", PLATFORMS, ids=str)
@pytest.mark.parametrize("behaves", [Receiver.drop_connection, Receiver.truncate_body])
def test_a_platform_whose_response_is_lost_may_have_the_reminder(
    shared: StackClient, platform: Platform, behaves: Callable[[Receiver], None]
) -> None:
    shared.stack.reset()
    with Receiver() as receiver:
        _register_real_channel(shared, platform, receiver)
        behaves(receiver)
        receiver.answer(200, json.dumps(platform.success_body).encode())
        task = shared.create(channel=platform.name, reply_target=platform.target, **{"in": "5m"})
        shared.advance("20m")

        assert outcomes_of(shared.items(f"/tasks/{task['id']}/runs")) == REPEATED
        assert len(receiver.requests) == 2
