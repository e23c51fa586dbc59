"""A watched handler is to the engine what the handler is, and tells when its effect happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from duecourse.domain.errors import IndeterminateError
from duecourse.domain.tasks.handler import (
    Applied,
    Handler,
    ReconcileResult,
    RunContext,
    capabilities_of,
)

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults, SimulatedCrash
from local.testing.instrumented_handler import ObservedEffects, instrument_handler
from tests.support.builders.moments import NOW
from tests.support.builders.tasks import a_task


class Plain(Handler):
    def mutate(self, work: RunContext) -> Any:
        return work.idempotency_key


class Preparing(Plain):
    def prepare(self, work: RunContext) -> Any:
        return work.attempt


class Whole(Preparing):
    def emit(self, work: RunContext) -> None:
        pass

    def reconcile(self, work: RunContext) -> ReconcileResult:
        return Applied(work.idempotency_key)


class Harmless(Plain):
    idempotent = True


@dataclass(frozen=True, slots=True)
class Frozen(Handler):
    error: Exception | None = None

    def mutate(self, work: RunContext) -> Any:  # noqa: ARG002
        if self.error is not None:
            raise self.error


WORK = RunContext(task=a_task(), idempotency_key="k", attempt=1, run_id="r", deadline=NOW)


def watch(handler: Handler, *faults: Fault) -> tuple[Handler, CallInterceptor, ObservedEffects]:
    waiting = Faults()
    for fault in faults:
        waiting.add(fault)
    calls, seen = CallInterceptor(waiting), ObservedEffects()
    return instrument_handler(handler, calls, seen), calls, seen


@pytest.mark.parametrize("kind", [Plain, Preparing, Whole, Harmless, Frozen])
def test_the_engine_sees_the_same_phases(kind: type[Handler]) -> None:
    found, _, _ = watch(kind())
    assert capabilities_of(found, a_task()) == capabilities_of(kind(), a_task())


def test_the_handler_itself_stays_as_it_was() -> None:
    handler = Whole()
    found, _, _ = watch(handler)
    assert (type(handler), isinstance(found, Whole)) == (Whole, True)


def test_every_phase_is_a_call_that_can_be_counted() -> None:
    found, calls, _ = watch(Whole())
    phases = ("prepare", "mutate", "emit", "reconcile")
    with attribute_calls_to("worker"):
        for phase in phases:
            getattr(found, phase)(WORK)
    assert calls.counts == {("worker", f"handler.{phase}"): 1 for phase in phases}


@pytest.mark.parametrize(("when", "effects"), [("before", 0), ("after", 1)])
def test_a_crash_before_the_effect_is_none_and_one_after_it_is(when: str, effects: int) -> None:
    found, _, seen = watch(Plain(), Fault("handler.mutate", when=when))
    with attribute_calls_to("worker"), pytest.raises(SimulatedCrash):
        found.mutate(WORK)
    assert seen.count == effects


@pytest.mark.parametrize(
    ("error", "effects"), [(RuntimeError("no"), 0), (IndeterminateError("perhaps"), 1)]
)
def test_an_error_says_whether_the_effect_may_have_happened(error: Exception, effects: int) -> None:
    found, _, seen = watch(Frozen(error))
    with pytest.raises(type(error)):
        found.mutate(WORK)
    assert seen.count == effects


@pytest.mark.parametrize(("kind", "is_harmless"), [(Plain, False), (Harmless, True)])
def test_it_is_noted_whether_a_repeat_is_declared_harmless(
    kind: type[Handler], is_harmless: bool
) -> None:
    found, _, seen = watch(kind())
    found.mutate(WORK)
    assert seen.is_idempotent is is_harmless
