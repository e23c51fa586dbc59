"""Make the operations of a plan simpler: whole seconds, one sender, short delays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from local.simulate.plan import Operation, Plan

_TENS = 10
# What an argument may be replaced by.
_SIMPLER: Mapping[str, Any] = {"in": "5s", "sender": "ada", "verify": False}


def list_simpler(plan: Plan) -> Iterator[Plan]:
    """Yield plans with simpler operations: all of them first, then one after another."""
    for simplify in (_to_tens, _to_seconds, *map(_simplify_argument, _SIMPLER)):
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


def _simplify_argument(name: str) -> Callable[[Operation], Operation]:
    def simplify(operation: Operation) -> Operation:
        if name not in operation.arguments:
            return operation
        arguments = {**operation.arguments, name: _SIMPLER[name]}
        return replace(operation, arguments=arguments)

    return simplify
