"""What was learnt, in memory: as much of the port as recording a failure and learning need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from duecourse.domain.failures.adaptive_backoff import RetryOutcomesByDelay
from duecourse.domain.journal.learned_patterns import Correction, LearnedPattern, ObservedFailure
from duecourse.domain.tasks.run import PreviousFailure


@dataclass
class MemoryPatterns:
    """`broken` is raised by whatever reads or counts."""

    known: dict[tuple[str, str], LearnedPattern] = field(default_factory=dict)
    tries_of: Mapping[tuple[str, str], RetryOutcomesByDelay] = field(default_factory=dict)
    broken: Exception | None = None
    sightings: list[ObservedFailure] = field(default_factory=list)
    lessons: list[tuple[ObservedFailure, Correction]] = field(default_factory=list)
    retries: list[tuple[str, PreviousFailure, bool]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def find(self, policy: str, fingerprint: str, *, now: datetime) -> LearnedPattern | None:  # noqa: ARG002
        self._read("pattern")
        return self.known.get((policy, fingerprint))

    def get_retry_outcomes(
        self,
        policy: str,
        category: str,
        *,
        now: datetime,  # noqa: ARG002
    ) -> RetryOutcomesByDelay:
        self._read("tries")
        return self.tries_of.get((policy, category), {})

    def record_observation(self, observed: ObservedFailure) -> None:
        self._read("seen")
        self.sightings.append(observed)

    def record_correction(self, observed: ObservedFailure, correction: Correction) -> None:
        self.lessons.append((observed, correction))

    def record_retry(
        self,
        policy: str,
        previous_failure: PreviousFailure,
        *,
        has_succeeded: bool,
        at: datetime,  # noqa: ARG002
    ) -> None:
        self.retries.append((policy, previous_failure, has_succeeded))

    def list_newest(self, policy: str, *, limit: int, now: datetime) -> Sequence[LearnedPattern]:  # noqa: ARG002
        found = [pattern for (of, _), pattern in self.known.items() if of == policy]
        return sorted(found, key=lambda pattern: pattern.last_seen_at, reverse=True)[:limit]

    def get_all_retry_outcomes(
        self,
        policy: str,
        *,
        now: datetime,  # noqa: ARG002
    ) -> Mapping[str, RetryOutcomesByDelay]:
        return {category: tries for (of, category), tries in self.tries_of.items() if of == policy}

    def remove_correction(self, policy: str, fingerprint: str, *, now: datetime) -> bool:  # noqa: ARG002
        return self.known.pop((policy, fingerprint), None) is not None

    def _read(self, what: str) -> None:
        self.asked.append(what)
        if self.broken is not None:
            raise self.broken
