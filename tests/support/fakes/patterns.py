"""Learned failure patterns in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta

from duecourse.domain.failures.adaptive_backoff import RetryOutcomesByDelay
from duecourse.domain.journal.learned_patterns import (
    Correction,
    LearnedPattern,
    ObservedFailure,
    recent_months,
)
from duecourse.domain.limits.budget import utc_date
from duecourse.domain.tasks.adapted_delay import RetryOutcomes
from duecourse.domain.tasks.run import PreviousFailure

RETENTION = timedelta(days=90)
CORRECTED_RETENTION = timedelta(days=400)
Key = tuple[str, str]  # the policy, and a fingerprint or a category


@dataclass
class MemoryPatterns:
    """Every read raises `error` if it is set. Tests may preset `patterns` and `retry_outcomes`;
    the lists record the calls, in order."""

    patterns: dict[Key, LearnedPattern] = field(default_factory=dict)
    retry_outcomes: Mapping[Key, RetryOutcomesByDelay] = field(default_factory=dict)
    error: Exception | None = None
    observations: list[ObservedFailure] = field(default_factory=list)
    corrections: list[tuple[ObservedFailure, Correction]] = field(default_factory=list)
    retries: list[tuple[str, PreviousFailure, bool]] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)
    _expires_at: dict[Key, datetime] = field(default_factory=dict)
    _counted_retries: list[tuple[Key, date, int, bool]] = field(default_factory=list)

    def find(self, policy: str, fingerprint: str, *, now: datetime) -> LearnedPattern | None:
        self._record_read("pattern")
        key = policy, fingerprint
        return self.patterns.get(key) if self._expires_at.get(key, now + RETENTION) > now else None

    def list_newest(self, policy: str, *, limit: int, now: datetime) -> Sequence[LearnedPattern]:
        of_policy = [key for key in self.patterns if key[0] == policy]
        current = [
            self.patterns[key]
            for key in of_policy
            if self._expires_at.get(key, now + RETENTION) > now
        ]
        return sorted(current, key=lambda pattern: pattern.last_seen_at, reverse=True)[:limit]

    def record_observation(self, observed: ObservedFailure) -> None:
        self._record_read("seen")
        self.observations.append(observed)
        before = self._find_or_create(observed)
        self._store(
            replace(
                before,
                category=observed.category,
                rule_category=observed.rule_category,
                example=observed.example,
                last_seen_at=observed.observed_at,
                count=before.count + 1,
            ),
            until=observed.observed_at + (CORRECTED_RETENTION if before.correction else RETENTION),
        )

    def record_correction(self, observed: ObservedFailure, correction: Correction) -> None:
        self.corrections.append((observed, correction))
        before = self._find_or_create(observed)
        after = replace(
            before,
            category=correction.category,
            rule_category=observed.rule_category,
            correction=correction,
        )
        after = replace(after, example=observed.example)
        self._store(after, until=correction.corrected_at + CORRECTED_RETENTION)

    def remove_correction(self, policy: str, fingerprint: str, *, now: datetime) -> bool:
        before = self.patterns.get((policy, fingerprint))
        if before is None or before.correction is None:
            return False
        self._store(
            replace(before, correction=None, category=before.rule_category), until=now + RETENTION
        )
        return True

    def record_retry(
        self, policy: str, previous_failure: PreviousFailure, *, has_succeeded: bool, at: datetime
    ) -> None:
        self.retries.append((policy, previous_failure, has_succeeded))
        known = self.patterns.get((policy, previous_failure.fingerprint or ""))
        if known is not None:
            after = replace(
                known,
                retries_attempted=known.retries_attempted + 1,
                retries_succeeded=known.retries_succeeded + has_succeeded,
            )
            self.patterns[policy, known.fingerprint] = after
        if previous_failure.delay_seconds is not None:
            key = policy, previous_failure.category
            self._counted_retries.append(
                (key, utc_date(at), previous_failure.delay_seconds, has_succeeded)
            )

    def get_retry_outcomes(
        self, policy: str, category: str, *, now: datetime
    ) -> RetryOutcomesByDelay:
        self._record_read("tries")
        return self._outcomes_for((policy, category), now)

    def get_all_retry_outcomes(
        self, policy: str, *, now: datetime
    ) -> Mapping[str, RetryOutcomesByDelay]:
        keys = [*self.retry_outcomes, *(key for key, *_ in self._counted_retries)]
        outcomes = {
            category: self._outcomes_for((of, category), now)
            for of, category in keys
            if of == policy
        }
        return {category: by_delay for category, by_delay in outcomes.items() if by_delay}

    def _outcomes_for(self, key: Key, now: datetime) -> RetryOutcomesByDelay:
        outcomes = dict(self.retry_outcomes.get(key, {}))
        for counted_key, day, delay, has_succeeded in self._counted_retries:
            if counted_key == key and recent_months(day)[0] in recent_months(utc_date(now)):
                outcomes[delay] = outcomes.get(delay, RetryOutcomes()).add(
                    RetryOutcomes(1, int(has_succeeded))
                )
        return outcomes

    def _find_or_create(self, observed: ObservedFailure) -> LearnedPattern:
        new = LearnedPattern(
            policy=observed.policy,
            fingerprint=observed.fingerprint,
            category=observed.category,
            rule_category=observed.rule_category,
            example=observed.example,
            last_seen_at=observed.observed_at,
        )
        return self.patterns.get((observed.policy, observed.fingerprint), new)

    def _store(self, pattern: LearnedPattern, *, until: datetime) -> None:
        key = pattern.policy, pattern.fingerprint
        self.patterns[key] = pattern
        self._expires_at[key] = until

    def _record_read(self, name: str) -> None:
        self.reads.append(name)
        if self.error is not None:
            raise self.error
