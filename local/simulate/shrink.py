"""Reduce a plan that violates an invariant: first operations, then faults."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from local.simulate.plan import Plan
from local.simulate.simulation import Outcome, simulate

MAX_SIMULATIONS = 120
T = TypeVar("T")


@dataclass
class _Budget:
    left: int = MAX_SIMULATIONS


def shrink(outcome: Outcome) -> Outcome:
    """Return the outcome of the smallest plan found that violates the same invariants.

    It returns the given outcome if the violation does not occur with planned faults.
    """
    names = {one.invariant for one in outcome.violations}

    def is_same(other: Outcome) -> bool:
        return names <= {one.invariant for one in other.violations}

    smallest = simulate(outcome.plan_as_run)
    if not is_same(smallest):
        return outcome
    budget = _Budget()
    for candidates in (_without_operation, _without_fault):
        smallest = _reduce(smallest, candidates, is_same, budget)
    return smallest


def _reduce(
    smallest: Outcome,
    candidates: Callable[[Plan], Iterator[Plan]],
    is_same: Callable[[Outcome], bool],
    budget: _Budget,
) -> Outcome:
    has_shrunk = True
    while has_shrunk:
        has_shrunk = False
        for plan in candidates(smallest.plan):
            if not budget.left:
                return smallest
            budget.left -= 1
            other = simulate(plan)
            if is_same(other):
                smallest, has_shrunk = other, True
                break
    return smallest


def _without_operation(plan: Plan) -> Iterator[Plan]:
    for left in _leave_out(list(plan.operations)):
        yield plan.with_operations(left)


def _without_fault(plan: Plan) -> Iterator[Plan]:
    for left in _leave_out(list((plan.faults or {}).items())):
        yield plan.with_faults(dict(left))


def _leave_out(values: list[T]) -> Iterator[list[T]]:
    """Yield the values without all, half, a quarter, … and each one of them, the last first."""
    size = len(values)
    while size:
        for end in range(len(values), 0, -size):
            yield [*values[: max(0, end - size)], *values[end:]]
        size //= 2
