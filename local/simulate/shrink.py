"""Reduce a plan that violates an invariant: operations, then faults, then the schedule."""

from __future__ import annotations

from dataclasses import dataclass

from local.simulate.plan import Plan
from local.simulate.reduce_list import reduce_list
from local.simulate.simplify import list_simpler
from local.simulate.simulation import Outcome, simulate

MAX_SIMULATIONS = 150


def shrink(outcome: Outcome) -> Outcome:
    """Return the outcome of the smallest plan found that violates the same invariant.

    That is the first one that `outcome` violates. It returns the given outcome if the violation
    does not occur with planned faults.
    """
    smallest = simulate(outcome.plan_as_run)
    search = _Search(outcome.violations[0].invariant, smallest)
    if not search.is_violated_by(smallest):
        return outcome
    search.leave_out_operations()
    search.leave_out_faults()
    search.leave_out_waits()
    search.simplify_operations()
    return search.smallest


@dataclass
class _Search:
    """`left` is how many simulations the search may still run."""

    invariant: str
    smallest: Outcome
    left: int = MAX_SIMULATIONS

    def is_violated_by(self, outcome: Outcome) -> bool:
        return any(one.invariant == self.invariant for one in outcome.violations)

    def leave_out_operations(self) -> None:
        plan = self._plan
        reduce_list(list(plan.operations), lambda rest: self._try(plan.with_operations(rest)))

    def leave_out_faults(self) -> None:
        plan = self._plan
        faults = list((plan.faults or {}).items())
        reduce_list(faults, lambda rest: self._try(plan.with_faults(dict(rest))))

    def leave_out_waits(self) -> None:
        """Leave out waits, if it makes no difference that they are listed."""
        plan, waits = self._plan, list(self.smallest.waited.items())
        reduce_list(waits, lambda rest: self._try(plan.with_waits(dict(rest))))

    def simplify_operations(self) -> None:
        has_changed = True
        while has_changed:
            has_changed = any(self._try(plan) for plan in list_simpler(self._plan))

    @property
    def _plan(self) -> Plan:
        return self.smallest.plan_as_run

    def _try(self, plan: Plan) -> bool:
        """Simulate the plan, and keep its outcome if it still violates the invariant."""
        if self.left <= 0:
            return False
        self.left -= 1
        outcome = simulate(plan)
        if self.is_violated_by(outcome):
            self.smallest = outcome
            return True
        return False
