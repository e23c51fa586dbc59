"""Make the operations of a plan simpler: whole seconds, one sender, short delays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from local.simulate.plan import Operation, Plan

_TENS = 10
# What an argument may be replaced by, the simplest first.
_SIMPLER: Mapping[str, Sequence[Any]] = {"in": ("5s",), "sender": ("ada",), "verify": (False,)}


def list_simpler(plan: Plan) -> Iterator[Plan]:
    """Yield plans with simpler operations: all of them first, then one after another."""
    for simplify in (_to_tens, _to_seconds, _with_simple_arguments):
        every = [simplify(one) for one in plan.operations]
        for operations in (every, *_replace_each(plan.operations, every)):
            if operations != list(plan.operations):
                yield plan.with_operations(operations)


def _replace_each(
    operations: Sequence[Operation], simpler: Sequence[Operation]
) -> Iterator[list[Operation]]:
    if len(operations) > 1:
        for n, one in enumerate(simpler):
            yield [*operations[:n], one, *operations[n + 1 :]]


def _to_tens(operation: Operation) -> Operation:
    return replace(operation, at=max(1, round(operation.at / _TENS) * _TENS))


def _to_seconds(operation: Operation) -> Operation:
    return replace(operation, at=max(1, round(operation.at)))


def _with_simple_arguments(operation: Operation) -> Operation:
    simple = {
        name: _SIMPLER[name][0] if name in _SIMPLER else value
        for name, value in operation.arguments.items()
    }
    return replace(operation, arguments=simple)
