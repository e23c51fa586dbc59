"""What was learnt of failures, in memory."""

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
Key = tuple[str, str]  # of a policy, and a fingerprint or a category


@dataclass
class MemoryPatterns:
    """`broken` is raised by whatever reads or counts. Presets of `known` and `tries_of` stay;
    the lists are what was asked for and told, in order."""

    known: dict[Key, LearnedPattern] = field(default_factory=dict)
    tries_of: Mapping[Key, RetryOutcomesByDelay] = field(default_factory=dict)
    broken: Exception | None = None
    sightings: list[ObservedFailure] = field(default_factory=list)
    lessons: list[tuple[ObservedFailure, Correction]] = field(default_factory=list)
    retries: list[tuple[str, PreviousFailure, bool]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    _until: dict[Key, datetime] = field(default_factory=dict)
    _counted: list[tuple[Key, date, int, bool]] = field(default_factory=list)

    def find(self, policy: str, fingerprint: str, *, now: datetime) -> LearnedPattern | None:
        self._read("pattern")
        key = policy, fingerprint
        return self.known.get(key) if self._until.get(key, now + RETENTION) > now else None

    def list_newest(self, policy: str, *, limit: int, now: datetime) -> Sequence[LearnedPattern]:
        of_policy = [key for key in self.known if key[0] == policy]
        kept = [self.known[key] for key in of_policy if self._until.get(key, now + RETENTION) > now]
        return sorted(kept, key=lambda pattern: pattern.last_seen_at, reverse=True)[:limit]

    def record_observation(self, observed: ObservedFailure) -> None:
        self._read("seen")
        self.sightings.append(observed)
        before = self._known_or_new(observed)
        self._keep(
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
        self.lessons.append((observed, correction))
        before = self._known_or_new(observed)
        after = replace(
            before,
            category=correction.category,
            rule_category=observed.rule_category,
            correction=correction,
        )
        after = replace(after, example=observed.example)
        self._keep(after, until=correction.corrected_at + CORRECTED_RETENTION)

    def remove_correction(self, policy: str, fingerprint: str, *, now: datetime) -> bool:
        before = self.known.get((policy, fingerprint))
        if before is None or before.correction is None:
            return False
        self._keep(
            replace(before, correction=None, category=before.rule_category), until=now + RETENTION
        )
        return True

    def record_retry(
        self, policy: str, previous_failure: PreviousFailure, *, has_succeeded: bool, at: datetime
    ) -> None:
        self.retries.append((policy, previous_failure, has_succeeded))
        known = self.known.get((policy, previous_failure.fingerprint or ""))
        if known is not None:
            after = replace(
                known,
                retries_attempted=known.retries_attempted + 1,
                retries_succeeded=known.retries_succeeded + has_succeeded,
            )
            self.known[policy, known.fingerprint] = after
        if previous_failure.delay_seconds is not None:
            key = policy, previous_failure.category
            self._counted.append((key, utc_date(at), previous_failure.delay_seconds, has_succeeded))

    def get_retry_outcomes(
        self, policy: str, category: str, *, now: datetime
    ) -> RetryOutcomesByDelay:
        self._read("tries")
        return self._tries((policy, category), now)

    def get_all_retry_outcomes(
        self, policy: str, *, now: datetime
    ) -> Mapping[str, RetryOutcomesByDelay]:
        keys = [*self.tries_of, *(key for key, *_ in self._counted)]
        found = {
            category: self._tries((of, category), now) for of, category in keys if of == policy
        }
        return {category: tries for category, tries in found.items() if tries}

    def _tries(self, key: Key, now: datetime) -> RetryOutcomesByDelay:
        found = dict(self.tries_of.get(key, {}))
        for counted, day, waited, worked in self._counted:
            if counted == key and recent_months(day)[0] in recent_months(utc_date(now)):
                found[waited] = found.get(waited, RetryOutcomes()).add(
                    RetryOutcomes(1, int(worked))
                )
        return found

    def _known_or_new(self, sighting: ObservedFailure) -> LearnedPattern:
        new = LearnedPattern(
            policy=sighting.policy,
            fingerprint=sighting.fingerprint,
            category=sighting.category,
            rule_category=sighting.rule_category,
            example=sighting.example,
            last_seen_at=sighting.observed_at,
        )
        return self.known.get((sighting.policy, sighting.fingerprint), new)

    def _keep(self, pattern: LearnedPattern, *, until: datetime) -> None:
        key = pattern.policy, pattern.fingerprint
        self.known[key] = pattern
        self._until[key] = until

    def _read(self, what: str) -> None:
        self.asked.append(what)
        if self.broken is not None:
            raise self.broken
