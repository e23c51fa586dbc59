"""An instrumented handler behaves like its handler and reports when its effect happened."""

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


class IdempotentHandler(Plain):
    idempotent = True


@dataclass(frozen=True, slots=True)
class Frozen(Handler):
    error: Exception | None = None

    def mutate(self, work: RunContext) -> Any:  # noqa: ARG002
        if self.error is not None:
            raise self.error


WORK = RunContext(task=a_task(), idempotency_key="k", attempt=1, run_id="r", deadline=NOW)


def instrument(
    handler: Handler, *faults: Fault
) -> tuple[Handler, CallInterceptor, ObservedEffects]:
    waiting = Faults()
    for fault in faults:
        waiting.add(fault)
    calls, effects_seen = CallInterceptor(waiting), ObservedEffects()
    return instrument_handler(handler, calls, effects_seen), calls, effects_seen


@pytest.mark.parametrize("kind", [Plain, Preparing, Whole, IdempotentHandler, Frozen])
def test_an_instrumented_handler_has_the_same_phases(kind: type[Handler]) -> None:
    instrumented, _, _ = instrument(kind())
    assert capabilities_of(instrumented, a_task()) == capabilities_of(kind(), a_task())


def test_the_original_handler_is_unchanged() -> None:
    handler = Whole()
    instrumented, _, _ = instrument(handler)
    assert (type(handler), isinstance(instrumented, Whole)) == (Whole, True)


def test_every_phase_is_counted_as_a_call() -> None:
    instrumented, calls, _ = instrument(Whole())
    phases = ("prepare", "mutate", "emit", "reconcile")
    with attribute_calls_to("worker"):
        for phase in phases:
            getattr(instrumented, phase)(WORK)
    assert calls.counts == {("worker", f"handler.{phase}"): 1 for phase in phases}


@pytest.mark.parametrize(("when", "effects"), [("before", 0), ("after", 1)])
def test_only_a_crash_after_the_effect_records_it(when: str, effects: int) -> None:
    instrumented, _, effects_seen = instrument(Plain(), Fault("handler.mutate", when=when))
    with attribute_calls_to("worker"), pytest.raises(SimulatedCrash):
        instrumented.mutate(WORK)
    assert effects_seen.count == effects


@pytest.mark.parametrize(
    ("error", "effects"), [(RuntimeError("no"), 0), (IndeterminateError("perhaps"), 1)]
)
def test_an_error_says_whether_the_effect_may_have_happened(error: Exception, effects: int) -> None:
    instrumented, _, effects_seen = instrument(Frozen(error))
    with pytest.raises(type(error)):
        instrumented.mutate(WORK)
    assert effects_seen.count == effects


@pytest.mark.parametrize(("kind", "is_harmless"), [(Plain, False), (IdempotentHandler, True)])
def test_each_effect_records_whether_it_is_idempotent(
    kind: type[Handler], is_harmless: bool
) -> None:
    instrumented, _, effects_seen = instrument(kind())
    instrumented.mutate(WORK)
    assert effects_seen.is_idempotent is is_harmless
