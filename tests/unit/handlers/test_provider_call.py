"""A provider is asked: what the call took is noted, however it ends."""

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

ASK = ProviderRequest(
    description="ship it",
    guidance=(),
    system_prompt="",
    attempt=1,
    idempotency_key="key-1",
    payload={},
    deadline=NOW + MINUTE,
)


@dataclass
class Slow:
    """Takes its time, and then answers or fails."""

    payload_keys = ()
    ends: ProviderReply | BaseException
    took: timedelta = timedelta(milliseconds=1_234, microseconds=999)
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))

    def call(self, request: ProviderRequest) -> ProviderReply:
        assert request is ASK
        self.clock.at += self.took
        if isinstance(self.ends, BaseException):
            raise self.ends
        return self.ends

    def estimate_max_cost(self, request: ProviderRequest) -> int | None:  # noqa: ARG002
        return None

    def check(self, payload: Mapping[str, Any]) -> None:
        """Takes everything."""


class KnowingError(Exception):
    def __init__(self, cost: Any, model: Any) -> None:
        super().__init__("refused after all")
        self.cost = cost
        self.model = model


def some_work() -> RunContext:
    task = claim_task(an_action())
    return RunContext(
        task=task, idempotency_key="key-1", attempt=1, run_id="run-1", deadline=NOW + MINUTE
    )


def call_of(provider: Slow) -> ProviderCall | None:
    """What is noted of the call, whether it fails or not."""
    work = some_work()
    with suppress(BaseException):  # a dying worker, too
        call_provider(provider, ASK, work, clock=provider.clock)
    return work.call


def test_the_reply_is_given_back() -> None:
    provider = Slow(ProviderReply("done", cost=5))
    reply = call_provider(provider, ASK, some_work(), clock=provider.clock)
    assert reply is provider.ends


def test_a_call_is_noted_with_what_its_reply_says_and_the_time_it_took() -> None:
    noted = call_of(Slow(ProviderReply("done", cost=42, model="small-1")))
    assert noted == ProviderCall(provider="scripted", model="small-1", milliseconds=1_234, cost=42)


def test_a_call_whose_reply_says_nothing_is_noted_all_the_same() -> None:
    noted = call_of(Slow(ProviderReply("done")))
    assert noted == ProviderCall(provider="scripted", milliseconds=1_234)


def test_a_call_that_failed_is_noted_with_what_its_error_says() -> None:
    noted = call_of(Slow(KnowingError(7, "small-1")))
    assert noted == ProviderCall(provider="scripted", model="small-1", milliseconds=1_234, cost=7)


@pytest.mark.parametrize("error", [ValueError("no route"), KeyboardInterrupt(), SystemExit(1)])
def test_a_call_whose_error_knows_nothing_is_noted_all_the_same(error: BaseException) -> None:
    assert call_of(Slow(error)) == ProviderCall(provider="scripted", milliseconds=1_234)


def test_an_error_passes_as_it_is() -> None:
    provider = Slow(ValueError("no route"))
    with pytest.raises(ValueError, match="no route"):
        call_provider(provider, ASK, some_work(), clock=provider.clock)


@pytest.mark.parametrize(("cost", "model"), [(True, 5), (-1, None), ("7", b"small"), (0.5, [])])
def test_nonsense_is_not_noted(cost: Any, model: Any) -> None:
    assert call_of(Slow(KnowingError(cost, model))) == ProviderCall(
        provider="scripted", milliseconds=1_234
    )


def test_a_model_with_an_endless_name_is_cut() -> None:
    noted = call_of(Slow(ProviderReply("done", model="x" * 10_000)))
    assert noted is not None
    assert noted.model == "x" * 200


def test_a_clock_that_is_put_back_makes_no_call_shorter_than_nothing() -> None:
    noted = call_of(Slow(ProviderReply("done"), took=-MINUTE))
    assert noted == ProviderCall(provider="scripted", milliseconds=0)
