"""Learned failure patterns in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from duecourse.domain.failures.adaptive_backoff import RetryOutcomesByDelay
from duecourse.domain.journal.learned_patterns import (
    Correction,
    LearnedPattern,
    ObservedFailure,
)

Key = tuple[str, str]  # the policy, and a fingerprint or a category


@dataclass
class MemoryPatterns:
    """Every read raises `error` if it is set. Tests may preset `corrections` and `retry_outcomes`;
    `reads` records the reads, in order."""

    corrections: dict[Key, Correction] = field(default_factory=dict)
    retry_outcomes: Mapping[Key, RetryOutcomesByDelay] = field(default_factory=dict)
    error: Exception | None = None
    reads: list[str] = field(default_factory=list)

    def find_correction(self, policy: str, fingerprint: str, *, now: datetime) -> Correction | None:
        del now
        self._record_read("correction")
        return self.corrections.get((policy, fingerprint))

    def list_newest(self, policy: str, *, limit: int, now: datetime) -> Sequence[LearnedPattern]:
        raise NotImplementedError("no unit test lists patterns")

    def record_correction(self, observed: ObservedFailure, correction: Correction) -> None:
        self.corrections[observed.policy, observed.fingerprint] = correction

    def remove_correction(self, policy: str, fingerprint: str, *, now: datetime) -> bool:
        del now
        return self.corrections.pop((policy, fingerprint), None) is not None

    def get_retry_outcomes(
        self, policy: str, category: str, *, now: datetime
    ) -> RetryOutcomesByDelay:
        del now
        self._record_read("outcomes")
        return self.retry_outcomes.get((policy, category), {})

    def get_all_retry_outcomes(
        self, policy: str, *, now: datetime
    ) -> Mapping[str, RetryOutcomesByDelay]:
        del now
        return {key[1]: one for key, one in self.retry_outcomes.items() if key[0] == policy}

    def _record_read(self, name: str) -> None:
        self.reads.append(name)
        if self.error is not None:
            raise self.error
