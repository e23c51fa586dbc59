"""What operators are alerted to: rules over a few signals that are read every few minutes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from duecourse.domain.alerts import messages
from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.journal.rolling_hour import Hour
from duecourse.domain.limits.budget import Budget, spoken_dollars
from duecourse.domain.limits.circuit_breaker import Breaker, State

BUDGET_LEVELS = (50, 80, 100)
MOST_LATE_PERCENT = 1  # more than this, and the 99th percentile is late
# Work that waited for a breaker asks it again when its time is over. If nobody did, nobody waits.
UNASKED = timedelta(minutes=10)


class Rule(StrEnum):
    ERROR_RATE = "error_rate"
    LATENESS = "lateness"
    BUDGET = "budget"
    BREAKER = "breaker"
    DEAD_LETTERS = "dead_letters"
    UNREADABLE_ITEMS = "unreadable_items"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """From when on operators are alerted; for the `cooldown` they are then left alone."""

    error_rate_percent: int
    late_after: timedelta
    cooldown: timedelta


@dataclass(frozen=True, slots=True)
class UnreadableNote:
    """How many stored items this code cannot read, and some of them by kind and keys."""

    count: int
    items: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Signals:
    """`budgets` are those used today, `dead_letters` the oldest few, `unreadable` what the last
    sweep could not read."""

    now: datetime
    last_hour: Hour = field(default_factory=Hour)
    budgets: Sequence[Budget] = ()
    breakers: Mapping[str, Breaker] = field(default_factory=dict)
    dead_letters: Sequence[DeadLetter] = ()
    unreadable: UnreadableNote | None = None

    @property
    def open_breakers(self) -> dict[str, Breaker]:
        """Those that hold up work."""
        found = self.breakers.items()
        return {provider: one for provider, one in found if holds_up(one, now=self.now)}

    @property
    def budget_used_percent(self) -> float:
        """Of the budget that is closest to its end."""
        return max((one.used_percent for one in self.budgets), default=0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Alert:
    """`subject` is what of its kind it is about, `level` how far that has come, `terms` what that
    is measured by: what was told under other terms says nothing of these.

    Once it was told, no lower level of it is told until `quiet_until`, nor it itself.
    """

    rule: Rule
    text: str
    quiet_until: datetime
    subject: str = ""
    level: int = 0
    terms: str = ""

    @property
    def topic(self) -> str:
        """The same for all its levels."""
        return f"{self._about} of {self.terms}" if self.terms else self._about

    @property
    def name(self) -> str:
        return f"{self._about}:{self.level}" if self.level else self._about

    @property
    def _about(self) -> str:
        return f"{self.rule}:{self.subject}" if self.subject else str(self.rule)


def alerts_of(signals: Signals, limits: Limits) -> list[Alert]:
    """All there is reason for now, whether or not they were told before."""
    return [
        *_of_errors(signals, limits),
        *_of_lateness(signals, limits),
        *_of_budgets(signals),
        *_of_breakers(signals, limits),
        *_of_dead_letters(signals, limits),
        *_of_unreadable(signals, limits),
    ]


def holds_up(breaker: Breaker, *, now: datetime) -> bool:
    is_shut = breaker.state in (State.OPEN, State.HALF_OPEN)
    return is_shut and breaker.until is not None and now < breaker.until + UNASKED


def _of_errors(signals: Signals, limits: Limits) -> Iterator[Alert]:
    hour = signals.last_hour
    if hour.failed_percent > limits.error_rate_percent:
        text = messages.error_rate(hour, limits.error_rate_percent)
        yield Alert(rule=Rule.ERROR_RATE, text=text, quiet_until=signals.now + limits.cooldown)


def _of_lateness(signals: Signals, limits: Limits) -> Iterator[Alert]:
    hour = signals.last_hour
    if hour.late_percent > MOST_LATE_PERCENT:
        text = messages.lateness(hour, limits.late_after)
        yield Alert(rule=Rule.LATENESS, text=text, quiet_until=signals.now + limits.cooldown)


def _of_budgets(signals: Signals) -> Iterator[Alert]:
    """The highest level that is reached; a new day begins anew, and so does another limit."""
    for budget in signals.budgets:
        reached = [level for level in BUDGET_LEVELS if budget.used_percent >= level]
        if reached:
            yield Alert(
                rule=Rule.BUDGET,
                subject=budget.name,
                level=max(reached),
                terms=spoken_dollars(budget.limit),
                text=messages.budget(budget),
                quiet_until=budget.resets_at,
            )


def _of_breakers(signals: Signals, limits: Limits) -> Iterator[Alert]:
    for provider, breaker in sorted(signals.open_breakers.items()):
        yield Alert(
            rule=Rule.BREAKER,
            subject=provider,
            text=messages.breaker(provider, breaker),
            quiet_until=signals.now + limits.cooldown,
        )


def _of_dead_letters(signals: Signals, limits: Limits) -> Iterator[Alert]:
    if signals.dead_letters:
        yield Alert(
            rule=Rule.DEAD_LETTERS,
            text=messages.dead_letters(signals.dead_letters),
            quiet_until=signals.now + limits.cooldown,
        )


def _of_unreadable(signals: Signals, limits: Limits) -> Iterator[Alert]:
    note = signals.unreadable
    if note is not None:
        yield Alert(
            rule=Rule.UNREADABLE_ITEMS,
            text=messages.unreadable(note.count, note.items),
            quiet_until=signals.now + limits.cooldown,
        )
