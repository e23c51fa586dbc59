"""What a simulation does: operations at their times, and the faults. It can be saved and edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from local.simulate.fault_rates import FAULT_RATES
from local.simulate.faults import CALL_FAULTS

ALL_FAULTS = frozenset({*CALL_FAULTS, *FAULT_RATES})


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
