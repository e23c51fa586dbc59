"""A provider call is recorded with its duration, cost and model, however it ends."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.tasks.handler import RunContext
from duecourse.domain.tasks.run import ProviderCall
from duecourse.handlers.provider_call import call_provider
from duecourse.ports.integrations import ProviderReply, ProviderRequest

from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.tasks import an_action, claim_task
from tests.support.fakes.clock import ManualClock

REQUEST = ProviderRequest(
    description="ship it",
    guidance=(),
    system_prompt="",
    attempt=1,
    idempotency_key="key-1",
    payload={},
    deadline=NOW + MINUTE,
)


@dataclass
class SlowProvider:
    """Takes `took`, and then replies or fails."""

    payload_keys = ()
    ends: ProviderReply | BaseException
    took: timedelta = timedelta(milliseconds=1_234, microseconds=999)
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))

    def call(self, request: ProviderRequest) -> ProviderReply:
        assert request is REQUEST
        self.clock.at += self.took
        if isinstance(self.ends, BaseException):
            raise self.ends
        return self.ends

    def estimate_max_cost(self, request: ProviderRequest) -> int | None:  # noqa: ARG002
        return None

    def check(self, payload: Mapping[str, Any]) -> None:
        """Accept every payload."""


class DetailedError(Exception):
    def __init__(self, cost: Any, model: Any) -> None:
        super().__init__("refused after all")
        self.cost = cost
        self.model = model


def a_context() -> RunContext:
    task = claim_task(an_action())
    return RunContext(
        task=task, idempotency_key="key-1", attempt=1, run_id="run-1", deadline=NOW + MINUTE
    )


def call_of(provider: SlowProvider) -> ProviderCall | None:
    """Return the recorded call, whether it fails or not."""
    work = a_context()
    with suppress(BaseException):  # a dying worker, too
        call_provider(provider, REQUEST, work, clock=provider.clock)
    return work.call


def test_the_reply_is_returned() -> None:
    provider = SlowProvider(ProviderReply("done", cost=5))
    reply = call_provider(provider, REQUEST, a_context(), clock=provider.clock)
    assert reply is provider.ends


def test_a_call_is_recorded_with_its_reply_and_duration() -> None:
    recorded = call_of(SlowProvider(ProviderReply("done", cost=42, model="small-1")))
    assert recorded == ProviderCall(
        provider="scripted", model="small-1", milliseconds=1_234, cost=42
    )


def test_a_call_whose_reply_has_no_details_is_recorded() -> None:
    recorded = call_of(SlowProvider(ProviderReply("done")))
    assert recorded == ProviderCall(provider="scripted", milliseconds=1_234)


def test_a_failed_call_is_recorded_with_the_details_of_its_error() -> None:
    recorded = call_of(SlowProvider(DetailedError(7, "small-1")))
    assert recorded == ProviderCall(
        provider="scripted", model="small-1", milliseconds=1_234, cost=7
    )


@pytest.mark.parametrize("error", [ValueError("no route"), KeyboardInterrupt(), SystemExit(1)])
def test_a_failed_call_without_details_is_recorded(error: BaseException) -> None:
    assert call_of(SlowProvider(error)) == ProviderCall(provider="scripted", milliseconds=1_234)


def test_an_error_is_raised_unchanged() -> None:
    provider = SlowProvider(ValueError("no route"))
    with pytest.raises(ValueError, match="no route"):
        call_provider(provider, REQUEST, a_context(), clock=provider.clock)


@pytest.mark.parametrize(("cost", "model"), [(True, 5), (-1, None), ("7", b"small"), (0.5, [])])
def test_invalid_details_are_not_recorded(cost: Any, model: Any) -> None:
    assert call_of(SlowProvider(DetailedError(cost, model))) == ProviderCall(
        provider="scripted", milliseconds=1_234
    )


def test_a_long_model_name_is_truncated() -> None:
    recorded = call_of(SlowProvider(ProviderReply("done", model="x" * 10_000)))
    assert recorded is not None
    assert recorded.model == "x" * 200


def test_a_clock_set_back_gives_no_negative_duration() -> None:
    recorded = call_of(SlowProvider(ProviderReply("done"), took=-MINUTE))
    assert recorded == ProviderCall(provider="scripted", milliseconds=0)
