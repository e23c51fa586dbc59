"""The counters of a day, and their sums over several days."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from duecourse.domain.journal.counters import KIND_PREFIX
from duecourse.domain.tasks.failure_kind import Kind


@dataclass(frozen=True, slots=True)
class DailyCounter:
    """The current values of one counter of one day."""

    day: str
    name: str
    numbers: Mapping[str, int] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)


class CounterTotal:
    """The sum of one counter over all days. Missing values are 0."""

    def __init__(self) -> None:
        self.numbers: defaultdict[str, int] = defaultdict(int)
        self.first_seen: str | None = None
        self.last_seen: str | None = None

    def __getitem__(self, name: str) -> int:
        return self.numbers.get(name, 0)

    def add(self, counter: DailyCounter) -> None:
        for name, number in counter.numbers.items():
            held = self.numbers[name]
            self.numbers[name] = max(held, number) if name == "max" else held + number
        firsts = [self.first_seen, counter.texts.get("first_seen")]
        lasts = [self.last_seen, counter.texts.get("last_seen")]
        self.first_seen = min((text for text in firsts if text), default=None)
        self.last_seen = max((text for text in lasts if text), default=None)

    def histogram(self, prefix: str) -> dict[int, int]:
        """Return the values named `<prefix><number>` by that number, in ascending order."""
        named = {name.removeprefix(prefix): n for name, n in self.numbers.items()}
        return {int(name): named[name] for name in sorted(filter(str.isdecimal, named), key=int)}

    def count_kinds(self) -> Counter[Kind]:
        """Return the errors by kind. Those from before there were kinds are in none."""
        counts: Counter[Kind] = Counter()
        for name, count in self.numbers.items():
            if name.startswith(KIND_PREFIX):
                counts[Kind.parse(name.removeprefix(KIND_PREFIX)) or Kind.UNKNOWN] += count
        return counts
