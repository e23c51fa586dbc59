"""What a simulation does: operations at their times, and the faults. It can be saved and edited."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from local.simulate.fault_rates import FAULT_RATES
from local.simulate.faults import CALL_FAULTS

ALL_FAULTS = frozenset({*CALL_FAULTS, *FAULT_RATES})


class InvalidPlanError(Exception):
    """A saved plan cannot be read."""


@dataclass(frozen=True)
class Operation:
    """`at` is in seconds after the start. `name` is a key of OPERATIONS."""

    at: float
    name: str
    arguments: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {"at": self.at, "do": self.name, **self.arguments}

    def __str__(self) -> str:
        arguments = " ".join(f"{name}={value}" for name, value in self.arguments.items())
        return f"{self.name} {arguments}".rstrip()


@dataclass(frozen=True)
class Plan:
    """`faults` by point; None if they are drawn while it runs, among `fault_names`.

    `waits`: how many seconds invocations wait, by point; None if that is drawn for every point.
    """

    seed: int
    operations: Sequence[Operation]
    fault_names: frozenset[str] = ALL_FAULTS
    faults: Mapping[str, str] | None = None
    waits: Mapping[str, float] | None = None

    def with_faults(self, faults: Mapping[str, str]) -> Plan:
        return replace(self, faults=dict(faults))

    def with_waits(self, waits: Mapping[str, float]) -> Plan:
        return replace(self, waits=dict(waits))

    def with_operations(self, operations: Sequence[Operation]) -> Plan:
        return replace(self, operations=tuple(operations))

    def to_json(self) -> dict[str, Any]:
        return {
            "seed": self.seed,
            "operations": [one.to_json() for one in self.operations],
            "faults": None if self.faults is None else dict(self.faults),
            "waits": None if self.waits is None else dict(self.waits),
        }


def plan_from_text(text: str) -> Plan:
    """Return the saved plan. Raises InvalidPlanError naming the field."""
    try:
        raw = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidPlanError(f"not JSON: {error}") from None
    if not isinstance(raw, dict) or not isinstance(raw.get("seed"), int):
        raise InvalidPlanError("seed: must be a whole number")
    operations, faults, waits = raw.get("operations"), raw.get("faults"), raw.get("waits")
    if not isinstance(operations, list):
        raise InvalidPlanError("operations: must be a list")
    if faults is not None and not (isinstance(faults, dict) and set(faults.values()) <= ALL_FAULTS):
        raise InvalidPlanError(f"faults: must name points with: {', '.join(sorted(ALL_FAULTS))}")
    if waits is not None and not _are_waits(waits):
        raise InvalidPlanError("waits: must name points with seconds")
    found = [_to_operation(n, one) for n, one in enumerate(operations)]
    return Plan(raw["seed"], found, faults=faults, waits=waits)


def _are_waits(raw: Any) -> bool:
    """Return whether this is an object of finite numbers that are not negative."""
    if not isinstance(raw, dict):
        return False
    return all(isinstance(one, int | float) and 0 <= one < inf for one in raw.values())


def _to_operation(number: int, raw: Any) -> Operation:
    from local.simulate.operations import OPERATIONS

    if not isinstance(raw, dict) or not isinstance(raw.get("at"), int | float):
        raise InvalidPlanError(f"operations[{number}].at: must be a number of seconds")
    if raw.get("do") not in OPERATIONS:
        raise InvalidPlanError(f"operations[{number}].do: must be one of {', '.join(OPERATIONS)}")
    arguments = {name: value for name, value in raw.items() if name not in ("at", "do")}
    return Operation(raw["at"], raw["do"], arguments)
