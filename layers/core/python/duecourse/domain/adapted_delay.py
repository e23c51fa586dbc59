"""How long to wait before a retry, by what has worked: always one of the policy's own delays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from duecourse.domain.policy import Category
from duecourse.domain.stored_fields import StoredFields

ENOUGH = 20  # retries, before their outcome counts as evidence
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


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


TriesBySeconds = Mapping[int, Tries]


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


def adapted_delay(category: Category, retry_count: int, tries: TriesBySeconds) -> Adapted | None:
    """None where the policy's own delay stands.

    One that mostly fails gives way to the next longer one that is clearly better, or that nobody
    knows enough of. Else a shorter one that nearly always works will do.
    """
    if category.server_time_wins or category.until_budget_clears or not category.counts:
        return None
    own, delays = category.delay(retry_count), sorted(set(category.delays))
    known = _known(tries, own)
    if known.mostly_fail:
        return _longer(own, [delay for delay in delays if delay > own], tries)
    shorter = [delay for delay in delays if delay < own and _known(tries, delay).nearly_always_work]
    return _shorter(own, shorter[0], tries) if shorter else None


def _longer(own: timedelta, delays: list[timedelta], tries: TriesBySeconds) -> Adapted | None:
    known = _known(tries, own)
    failed = f"After {_spoken(own)} {known.worked} of {known.tried} retries worked"
    for delay in delays:
        found = _known(tries, delay)
        if not found.is_enough:
            because = f"{failed}; {_spoken(delay)} are tried, to find out."
        elif found.are_clearly_better(known):
            because = f"{failed}, after {_spoken(delay)} {found.worked} of {found.tried}."
        else:
            continue
        return Adapted(policy_delay=own, delay=delay, tries=found, because=because)
    return None


def _shorter(own: timedelta, delay: timedelta, tries: TriesBySeconds) -> Adapted:
    found = _known(tries, delay)
    because = f"After {_spoken(delay)} already, {found.worked} of {found.tried} retries worked."
    return Adapted(policy_delay=own, delay=delay, tries=found, because=because)


def _known(tries: TriesBySeconds, delay: timedelta) -> Tries:
    return tries.get(seconds_of(delay), Tries())


def _required_delay(fields: StoredFields, name: str) -> timedelta:
    return fields.required(name, fields.seconds(name))


def seconds_of(delay: timedelta) -> int:
    return round(delay.total_seconds())


def _spoken(delay: timedelta) -> str:
    """30 seconds, 2 minutes: in the largest unit that it is a whole number of."""
    seconds = seconds_of(delay)
    for unit, size in _UNITS:
        if seconds % size == 0 and seconds >= size:
            return f"{seconds // size} {unit}{'' if seconds == size else 's'}"
    return "0 seconds"
