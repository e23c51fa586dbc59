"""A handler that announces each of its phases as a call, so that a fault can strike there."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from duecourse.domain.origin import Effect
from duecourse.domain.tasks.handler import Handler, Work
from duecourse.usecases.runs.phase_runner import effect_left_by

from local.runtime.call_interceptor import Calls

PHASES = ("prepare", "mutate", "emit", "reconcile")
_Phase = Callable[[Handler, Work], Any]


@dataclass
class Seen:
    """`effects`: how often `mutate` was entered, but for those that said that nothing happened."""

    effects: int = 0
    is_harmless: bool = False


def watched(handler: Handler, calls: Calls, seen: Seen) -> Handler:
    """A copy that does the same. The engine goes by the phases that a class has of its own: the
    copy's class has just those of the handler's."""
    own = type(handler)
    phases = {name: getattr(own, name) for name in PHASES}
    phases = {name: one for name, one in phases.items() if one is not getattr(Handler, name)}
    phases["mutate"] = _counted(own.mutate, seen)
    announced = {name: _announced(name, one, calls) for name, one in phases.items()}
    made = type(own.__name__, (own,), {"__slots__": (), **announced})
    other = copy.copy(handler)
    object.__setattr__(other, "__class__", made)  # a handler may be a frozen value
    return other


def _announced(name: str, phase: _Phase, calls: Calls) -> _Phase:
    def announced(self: Handler, work: Work) -> Any:
        with calls.around(f"handler.{name}"):
            return phase(self, work)

    return announced


def _counted(mutate: _Phase, seen: Seen) -> _Phase:
    def counted(self: Handler, work: Work) -> Any:
        seen.effects += 1
        seen.is_harmless = self.is_harmless(work.task)
        try:
            return mutate(self, work)
        except Exception as error:
            if effect_left_by(error) is Effect.NONE:
                seen.effects -= 1
            raise

    return counted
