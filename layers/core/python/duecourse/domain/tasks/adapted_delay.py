"""A retry delay chosen from the outcomes of earlier retries, with the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from duecourse.domain.validation.stored_fields import StoredFields


@dataclass(frozen=True, slots=True)
class RetryOutcomes:
    """How many retries ran after one delay, and how many of them succeeded."""

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
        """Return whether the success rate is at least 1.5 times that of `others`.

        False without enough samples of its own, or without any success.
        """
        is_better = 2 * self.succeeded * others.attempted >= 3 * others.succeeded * self.attempted
        return self.has_enough_samples and self.succeeded > 0 and is_better

    def add(self, others: RetryOutcomes) -> RetryOutcomes:
        return RetryOutcomes(self.attempted + others.attempted, self.succeeded + others.succeeded)


@dataclass(frozen=True, kw_only=True, slots=True)
class AdaptedDelay:
    """The `delay` that replaces `policy_delay`. `outcomes` are those of retries after `delay`."""

    policy_delay: timedelta
    delay: timedelta
    outcomes: RetryOutcomes
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return the stored form, with delays rounded to whole seconds."""
        return {
            "policy_delay_seconds": to_seconds(self.policy_delay),
            "delay_seconds": to_seconds(self.delay),
            "tried": self.outcomes.attempted,
            "worked": self.outcomes.succeeded,
            "because": self.reason,
        }

    @classmethod
    def from_json(cls, stored: Any) -> AdaptedDelay:
        """Read what `to_json` wrote. Raises ValueError for anything else."""
        fields = StoredFields.of(stored)
        attempted, succeeded = fields.integer("tried"), fields.integer("worked")
        return cls(
            policy_delay=_required_delay(fields, "policy_delay_seconds"),
            delay=_required_delay(fields, "delay_seconds"),
            outcomes=RetryOutcomes(
                fields.required("tried", attempted), fields.required("worked", succeeded)
            ),
            reason=fields.required("because", fields.text("because")),
        )


def to_seconds(delay: timedelta) -> int:
    return round(delay.total_seconds())


MIN_SAMPLES = 20  # fewer retries are no evidence


def _required_delay(fields: StoredFields, name: str) -> timedelta:
    return fields.required(name, fields.seconds(name))
