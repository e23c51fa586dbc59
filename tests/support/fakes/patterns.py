"""What was learnt, in memory: as much of the port as recording a failure and learning need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from duecourse.domain.failures.adaptive_backoff import TriesBySeconds
from duecourse.domain.journal.learned_patterns import Pattern, Said, Sighting
from duecourse.domain.tasks.run import Followed


@dataclass
class MemoryPatterns:
    """`broken` is raised by whatever reads or counts."""

    known: dict[tuple[str, str], Pattern] = field(default_factory=dict)
    tries_of: Mapping[tuple[str, str], TriesBySeconds] = field(default_factory=dict)
    broken: Exception | None = None
    sightings: list[Sighting] = field(default_factory=list)
    lessons: list[tuple[Sighting, Said]] = field(default_factory=list)
    retries: list[tuple[str, Followed, bool]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def find(self, policy: str, fingerprint: str, *, now: datetime) -> Pattern | None:  # noqa: ARG002
        self._read("pattern")
        return self.known.get((policy, fingerprint))

    def tries(self, policy: str, category: str, *, now: datetime) -> TriesBySeconds:  # noqa: ARG002
        self._read("tries")
        return self.tries_of.get((policy, category), {})

    def seen(self, sighting: Sighting) -> None:
        self._read("seen")
        self.sightings.append(sighting)

    def taught(self, sighting: Sighting, said: Said) -> None:
        self.lessons.append((sighting, said))

    def tried(self, policy: str, follows: Followed, *, worked: bool, at: datetime) -> None:  # noqa: ARG002
        self.retries.append((policy, follows, worked))

    def newest(self, policy: str, *, limit: int, now: datetime) -> Sequence[Pattern]:  # noqa: ARG002
        found = [pattern for (of, _), pattern in self.known.items() if of == policy]
        return sorted(found, key=lambda pattern: pattern.last_seen, reverse=True)[:limit]

    def all_tries(self, policy: str, *, now: datetime) -> Mapping[str, TriesBySeconds]:  # noqa: ARG002
        return {category: tries for (of, category), tries in self.tries_of.items() if of == policy}

    def forget(self, policy: str, fingerprint: str, *, now: datetime) -> bool:  # noqa: ARG002
        return self.known.pop((policy, fingerprint), None) is not None

    def _read(self, what: str) -> None:
        self.asked.append(what)
        if self.broken is not None:
            raise self.broken
