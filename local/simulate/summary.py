"""What many simulations exercised and found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from local.simulate.invariants import INVARIANT_NAMES
from local.simulate.operations import OPERATIONS
from local.simulate.plan import ALL_FAULTS

# After so many seeds, whatever was never exercised is a failure.
GUARDED_SEEDS = 1_000
_TABLES = ("operations", "faults", "invariants")
_COUNTED = (*_TABLES, "succeeded")
_KNOWN: Mapping[str, Collection[str]] = {
    "succeeded": OPERATIONS.keys(),
    "faults": ALL_FAULTS,
    "invariants": INVARIANT_NAMES,
}
_NAME_WIDTH = 58


@dataclass
class Summary:
    """`traces` and `violations` by seed. `checked` are the seeds that count as simulated.

    `unrepeatable` are seeds with two different traces. `errors`: what failed instead of ending with
    a report. `unreached`: what a replayed plan has and its simulation had not.
    """

    traces: dict[int, str] = field(default_factory=dict)
    checked: set[int] = field(default_factory=set)
    repeated: int = 0
    calls: int = 0
    counts: dict[str, Counter[str]] = field(
        default_factory=lambda: {part: Counter() for part in _COUNTED}
    )
    violations: dict[int, dict[str, Any]] = field(default_factory=dict)
    unrepeatable: list[int] = field(default_factory=list)
    unreached: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    is_interrupted: bool = False

    @property
    def seeds(self) -> int:
        return len(self.checked)

    def add(self, report: Mapping[str, Any]) -> bool:
        """Add a simulation; return whether it counts as a simulated seed.

        One of the two of a seed may be without checks: only a trace.
        """
        seed, trace = report["seed"], report["trace"]
        if seed in self.traces:
            self.repeated += 1
            self.unrepeatable += [] if self.traces[seed] == trace else [seed]
        self.traces[seed] = trace
        if report["is_checked"]:
            self._count(report)
        return bool(report["is_checked"])

    def _count(self, report: Mapping[str, Any]) -> None:
        self.checked.add(report["seed"])
        self.calls += report["calls"]
        self.unreached += report["unreached"]
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
            "unreached": self.unreached,
            "errors": self.errors,
            "is_interrupted": self.is_interrupted,
            "violations": {str(seed): one for seed, one in sorted(self.violations.items())},
        }

    def list_unexercised(self) -> list[str]:
        """Return the operations that never succeeded, and other things that never occurred."""
        return [
            name
            for part, names in _KNOWN.items()
            for name in sorted(names)
            if not self.counts[part][name]
        ]

    def __str__(self) -> str:
        blocks = [self._head(), *map(self._table, _TABLES)]
        if never := self.list_unexercised():
            blocks.append(f"never exercised: {self._describe_unexercised(never)}")
        for seed, violation in sorted(self.violations.items()):
            blocks.append("\n".join([f"seed {seed}", *violation["story"]]))
            if "replay" in violation:
                blocks[-1] += f"\nreplay it: {violation['replay']}"
        return "\n\n".join(blocks)

    def _describe_unexercised(self, never: list[str]) -> str:
        """Return the names after many seeds. After few of them, most names are missing."""
        if self.seeds >= GUARDED_SEEDS:
            return ", ".join(never)
        return f"{len(never)} of {sum(map(len, _KNOWN.values()))}; --json lists them"

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
