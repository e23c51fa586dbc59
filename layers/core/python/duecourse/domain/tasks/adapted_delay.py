"""A delay that was adapted to what earlier retries showed, and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from duecourse.domain.validation.stored_fields import StoredFields


@dataclass(frozen=True, slots=True)
class Tries:
    """How many retries there were, and how many of them worked."""

    tried: int = 0
    worked: int = 0

    @property
    def is_enough(self) -> bool:
        return self.tried >= ENOUGH

    @property
    def mostly_fail(self) -> bool:
        return self.is_enough and 2 * self.worked < self.tried

    @property
    def nearly_always_work(self) -> bool:
        return self.is_enough and 10 * self.worked >= 9 * self.tried

    def are_clearly_better(self, others: Tries) -> bool:
        """By half as much again, at least."""
        is_better = 2 * self.worked * others.tried >= 3 * others.worked * self.tried
        return self.is_enough and self.worked > 0 and is_better

    def plus(self, others: Tries) -> Tries:
        return Tries(self.tried + others.tried, self.worked + others.worked)


@dataclass(frozen=True, kw_only=True, slots=True)
class Adapted:
    """`tries` are those of the delay that is taken, in place of the policy's."""

    policy_delay: timedelta
    delay: timedelta
    tries: Tries
    because: str

    def to_json(self) -> dict[str, Any]:
        """Delays in whole seconds."""
        return {
            "policy_delay_seconds": seconds_of(self.policy_delay),
            "delay_seconds": seconds_of(self.delay),
            "tried": self.tries.tried,
            "worked": self.tries.worked,
            "because": self.because,
        }

    @classmethod
    def from_json(cls, stored: Any) -> Adapted:
        """Raises ValueError for what `to_json` does not write."""
        fields = StoredFields.of(stored)
        tried, worked = fields.integer("tried"), fields.integer("worked")
        return cls(
            policy_delay=_required_delay(fields, "policy_delay_seconds"),
            delay=_required_delay(fields, "delay_seconds"),
            tries=Tries(fields.required("tried", tried), fields.required("worked", worked)),
            because=fields.required("because", fields.text("because")),
        )


def seconds_of(delay: timedelta) -> int:
    return round(delay.total_seconds())


ENOUGH = 20  # retries, before their outcome counts as evidence


def _required_delay(fields: StoredFields, name: str) -> timedelta:
    return fields.required(name, fields.seconds(name))
