"""What many simulations exercised and found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from local.simulate.invariants import INVARIANT_NAMES
from local.simulate.operations import OPERATIONS
from local.simulate.plan import ALL_FAULTS

# After so many seeds, whatever was never exercised is a failure.
GUARDED_SEEDS = 1_000
_TABLES = ("operations", "faults", "invariants")
_COUNTED = (*_TABLES, "succeeded")
_NAME_WIDTH = 58


@dataclass
class Summary:
    """`traces` and `violations` by seed. `unrepeatable` are seeds with two different traces."""

    traces: dict[int, str] = field(default_factory=dict)
    repeated: int = 0
    calls: int = 0
    counts: dict[str, Counter[str]] = field(
        default_factory=lambda: {part: Counter() for part in _COUNTED}
    )
    violations: dict[int, dict[str, Any]] = field(default_factory=dict)
    unrepeatable: list[int] = field(default_factory=list)

    @property
    def seeds(self) -> int:
        return len(self.traces)

    def add(self, report: Mapping[str, Any]) -> bool:
        """Add a simulation; return whether it is the first one of its seed.

        One of the two of a seed may be without checks: only a trace.
        """
        seed, trace = report["seed"], report["trace"]
        is_first = seed not in self.traces
        if not is_first:
            self.repeated += 1
            self.unrepeatable += [] if self.traces[seed] == trace else [seed]
        self.traces[seed] = trace
        if report["is_checked"]:
            self._count(report)
        return is_first

    def _count(self, report: Mapping[str, Any]) -> None:
        self.calls += report["calls"]
        for part in _COUNTED:
            self.counts[part].update(report[part])
        if report["violation"] is not None:
            self.violations[report["seed"]] = report["violation"]

    def to_json(self) -> dict[str, Any]:
        counts = {part: dict(self.counts[part]) for part in _COUNTED}
        return {
            "seeds": self.seeds,
            "repeated": self.repeated,
            "calls": self.calls,
            **counts,
            "never": self.list_unexercised(),
            "traces": {str(seed): trace for seed, trace in sorted(self.traces.items())},
            "unrepeatable": self.unrepeatable,
            "violations": {str(seed): one for seed, one in sorted(self.violations.items())},
        }

    def list_unexercised(self) -> list[str]:
        """Return the operations that never succeeded, and other things that never occurred."""
        known = {
            "succeeded": OPERATIONS.keys(),
            "faults": ALL_FAULTS,
            "invariants": INVARIANT_NAMES,
        }
        return [
            name
            for part, names in known.items()
            for name in sorted(names)
            if not self.counts[part][name]
        ]

    def __str__(self) -> str:
        blocks = [self._head(), *map(self._table, _TABLES)]
        if never := self.list_unexercised():
            blocks.append("never: " + ", ".join(never))
        for seed, violation in sorted(self.violations.items()):
            blocks.append("\n".join([f"seed {seed}", *violation["story"]]))
            if "replay" in violation:
                blocks[-1] += f"\nreplay it: {violation['replay']}"
        return "\n\n".join(blocks)

    def _head(self) -> str:
        found = f"{len(self.violations)} with a violation" if self.violations else "no violation"
        repeated = f", {self.repeated:,} of them twice" if self.repeated else ""
        noun = "seed" if self.seeds == 1 else "seeds"
        return f"{self.seeds:,} {noun}{repeated}, {self.calls:,} calls: {found}"

    def _table(self, part: str) -> str:
        """Return the names with their counts, the most frequent first."""
        has_succeeded = part == "operations"
        rows = [f"{part:<{_NAME_WIDTH}}     times{'  succeeded' if has_succeeded else ''}"]
        for name, count in self.counts[part].most_common():
            row = f"  {name:<{_NAME_WIDTH}}{count:>8,}"
            rows.append(f"{row}{self.counts['succeeded'][name]:>11,}" if has_succeeded else row)
        return "\n".join(rows)
