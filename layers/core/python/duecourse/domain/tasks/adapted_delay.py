"""A delay that was adapted to what earlier retries showed, and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from duecourse.domain.validation.stored_fields import StoredFields


@dataclass(frozen=True, slots=True)
class RetryOutcomes:
    """How many retries there were, and how many of them worked."""

    attempted: int = 0
    succeeded: int = 0

    @property
    def has_enough_samples(self) -> bool:
        return self.attempted >= MIN_SAMPLES

    @property
    def is_mostly_failing(self) -> bool:
        return self.has_enough_samples and 2 * self.succeeded < self.attempted

    @property
    def is_reliable(self) -> bool:
        return self.has_enough_samples and 10 * self.succeeded >= 9 * self.attempted

    def is_clearly_better(self, others: RetryOutcomes) -> bool:
        """By half as much again, at least."""
        is_better = 2 * self.succeeded * others.attempted >= 3 * others.succeeded * self.attempted
        return self.has_enough_samples and self.succeeded > 0 and is_better

    def add(self, others: RetryOutcomes) -> RetryOutcomes:
        return RetryOutcomes(self.attempted + others.attempted, self.succeeded + others.succeeded)


@dataclass(frozen=True, kw_only=True, slots=True)
class AdaptedDelay:
    """`tries` are those of the delay that is taken, in place of the policy's."""

    policy_delay: timedelta
    delay: timedelta
    outcomes: RetryOutcomes
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Delays in whole seconds."""
        return {
            "policy_delay_seconds": to_seconds(self.policy_delay),
            "delay_seconds": to_seconds(self.delay),
            "tried": self.outcomes.attempted,
            "worked": self.outcomes.succeeded,
            "because": self.reason,
        }

    @classmethod
    def from_json(cls, stored: Any) -> AdaptedDelay:
        """Raises ValueError for what `to_json` does not write."""
        fields = StoredFields.of(stored)
        tried, worked = fields.integer("tried"), fields.integer("worked")
        return cls(
            policy_delay=_required_delay(fields, "policy_delay_seconds"),
            delay=_required_delay(fields, "delay_seconds"),
            outcomes=RetryOutcomes(
                fields.required("tried", tried), fields.required("worked", worked)
            ),
            reason=fields.required("because", fields.text("because")),
        )


def to_seconds(delay: timedelta) -> int:
    return round(delay.total_seconds())


MIN_SAMPLES = 20  # retries, before their outcome counts as evidence


def _required_delay(fields: StoredFields, name: str) -> timedelta:
    return fields.required(name, fields.seconds(name))
