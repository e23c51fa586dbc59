"""A handler whose phases are intercepted as calls, so faults can be injected."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from duecourse.domain.failures.error_origin import effect_of
from duecourse.domain.origin import Effect
from duecourse.domain.tasks.handler import Handler, RunContext

from local.runtime.call_interceptor import CallInterceptor

PHASES = ("prepare", "mutate", "emit", "reconcile")
_Phase = Callable[[Handler, RunContext], Any]


@dataclass
class ObservedEffects:
    """`count`: how often `mutate` was entered, except when it reported that nothing happened."""

    count: int = 0
    is_idempotent: bool = False


def instrument_handler(
    handler: Handler, calls: CallInterceptor, observed: ObservedEffects
) -> Handler:
    """Return a copy of `handler` whose phases are intercepted.

    The engine checks which phases a class overrides, so the copy's class overrides the same ones.
    """
    own = type(handler)
    phases = {name: getattr(own, name) for name in PHASES}
    phases = {name: one for name, one in phases.items() if one is not getattr(Handler, name)}
    phases["mutate"] = _count_effects(own.mutate, observed)
    announced = {name: _intercept_phase(name, one, calls) for name, one in phases.items()}
    made = type(own.__name__, (own,), {"__slots__": (), **announced})
    other = copy.copy(handler)
    object.__setattr__(other, "__class__", made)  # a handler may be a frozen dataclass
    return other


def _intercept_phase(name: str, phase: _Phase, calls: CallInterceptor) -> _Phase:
    def announced(self: Handler, work: RunContext) -> Any:
        with calls.intercept(f"handler.{name}"):
            return phase(self, work)

    return announced


def _count_effects(mutate: _Phase, observed: ObservedEffects) -> _Phase:
    def counted(self: Handler, work: RunContext) -> Any:
        observed.count += 1
        observed.is_idempotent = self.is_idempotent(work.task)
        try:
            return mutate(self, work)
        except Exception as error:
            if effect_of(error) is Effect.NONE:
                observed.count -= 1
            raise

    return counted
