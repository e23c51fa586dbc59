"""Alert rules over a few signals that are read every few minutes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from duecourse.domain.access.tokens import EXPIRY_WARNING, ApiToken
from duecourse.domain.alerts import messages
from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.journal.rolling_hour import HourCounts
from duecourse.domain.limits.budget import Budget, format_dollars
from duecourse.domain.limits.channel_breaker import channel_of_breaker
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState
from duecourse.domain.time.instant import to_text

BUDGET_LEVELS = (50, 80, 100)
# Each is sent once: the level of a token's alert is the number of these periods that it is within.
EXPIRY_PERIODS = (EXPIRY_WARNING, timedelta(days=7), timedelta(days=1))
MAX_LATE_PERCENT = 1  # above this, the 99th percentile is late
# Deferred work asks the breaker again when its open time is over. If none did, none is waiting.
PROBE_GRACE_PERIOD = timedelta(minutes=10)


class AlertRule(StrEnum):
    ERROR_RATE = "error_rate"
    LATENESS = "lateness"
    BUDGET = "budget"
    BREAKER = "breaker"
    CHANNEL = "channel"
    DEAD_LETTERS = "dead_letters"
    UNREADABLE_ITEMS = "unreadable_items"
    TOKEN_EXPIRY = "token_expiry"  # noqa: S105 - the name of a rule


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertThresholds:
    """When to alert. After an alert, the same alert is suppressed for `cooldown`."""

    error_rate_percent: int
    late_after: timedelta
    cooldown: timedelta


@dataclass(frozen=True, slots=True)
class UnreadableNote:
    """How many stored items this code cannot read, and some of them by kind and key."""

    count: int
    items: Sequence[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Signals:
    """The input of the alert rules.

    `budgets` are those used today, `dead_letters` the oldest few, `unreadable` the items that the
    last sweep could not read, `tokens` all API tokens.
    """

    now: datetime
    last_hour: HourCounts = field(default_factory=HourCounts)
    budgets: Sequence[Budget] = ()
    breakers: Mapping[str, CircuitBreaker] = field(default_factory=dict)
    dead_letters: Sequence[DeadLetter] = ()
    unreadable: UnreadableNote | None = None
    tokens: Sequence[ApiToken] = ()

    @property
    def open_breakers(self) -> dict[str, CircuitBreaker]:
        """The breakers that currently keep work from running."""
        found = self.breakers.items()
        return {provider: one for provider, one in found if is_blocking_work(one, now=self.now)}

    @property
    def expiring_tokens(self) -> list[ApiToken]:
        """The valid tokens about whose end the operators are warned."""
        return [one for one in self.tokens if one.expires_within(EXPIRY_WARNING, self.now)]

    @property
    def max_budget_used_percent(self) -> float:
        """The highest used share of all budgets."""
        return max((one.used_percent for one in self.budgets), default=0.0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Alert:
    """An alert to send to operators.

    `subject` is the budget, provider or channel it is about, `level` the severity reached, and
    `threshold` the limit it is measured against. Cooldowns under another threshold do not apply.
    Once sent, it is not sent again until `cooldown_until`, unless at a higher level.
    """

    rule: AlertRule
    text: str
    cooldown_until: datetime
    subject: str = ""
    level: int = 0
    threshold: str = ""

    @property
    def topic(self) -> str:
        """The key of its cooldown, shared by all levels."""
        return f"{self._identity} of {self.threshold}" if self.threshold else self._identity

    @property
    def name(self) -> str:
        return f"{self._identity}:{self.level}" if self.level else self._identity

    @property
    def unreachable_channel(self) -> str | None:
        """The channel through which nobody can be alerted."""
        return self.subject if self.rule is AlertRule.CHANNEL else None

    @property
    def _identity(self) -> str:
        return f"{self.rule}:{self.subject}" if self.subject else str(self.rule)


def find_alerts(signals: Signals, thresholds: AlertThresholds) -> list[Alert]:
    """Return every alert whose condition holds now, whether or not it was sent before."""
    return [
        *_error_rate_alerts(signals, thresholds),
        *_lateness_alerts(signals, thresholds),
        *_budget_alerts(signals),
        *_breaker_alerts(signals, thresholds),
        *_dead_letter_alerts(signals, thresholds),
        *_unreadable_alerts(signals, thresholds),
        *_token_expiry_alerts(signals),
    ]


def is_blocking_work(breaker: CircuitBreaker, *, now: datetime) -> bool:
    is_open = breaker.state in (CircuitState.OPEN, CircuitState.HALF_OPEN)
    return (
        is_open
        and breaker.state_until is not None
        and now < breaker.state_until + PROBE_GRACE_PERIOD
    )


def _error_rate_alerts(signals: Signals, thresholds: AlertThresholds) -> Iterator[Alert]:
    hour = signals.last_hour
    if hour.failed_percent > thresholds.error_rate_percent:
        text = messages.format_error_rate(hour, thresholds.error_rate_percent)
        yield Alert(
            rule=AlertRule.ERROR_RATE, text=text, cooldown_until=signals.now + thresholds.cooldown
        )


def _lateness_alerts(signals: Signals, thresholds: AlertThresholds) -> Iterator[Alert]:
    hour = signals.last_hour
    if hour.late_percent > MAX_LATE_PERCENT:
        text = messages.format_lateness(hour, thresholds.late_after)
        yield Alert(
            rule=AlertRule.LATENESS, text=text, cooldown_until=signals.now + thresholds.cooldown
        )


def _budget_alerts(signals: Signals) -> Iterator[Alert]:
    """Return the highest level reached by each budget. A new day or limit starts over."""
    for budget in signals.budgets:
        reached = [level for level in BUDGET_LEVELS if budget.used_percent >= level]
        if reached:
            yield Alert(
                rule=AlertRule.BUDGET,
                subject=budget.name,
                level=max(reached),
                threshold=format_dollars(budget.limit),
                text=messages.format_budget(budget),
                cooldown_until=budget.resets_at,
            )


def _breaker_alerts(signals: Signals, thresholds: AlertThresholds) -> Iterator[Alert]:
    for name, breaker in sorted(signals.open_breakers.items()):
        channel = channel_of_breaker(name)
        yield Alert(
            rule=AlertRule.BREAKER if channel is None else AlertRule.CHANNEL,
            subject=channel or name,
            text=messages.format_channel(channel, breaker)
            if channel
            else messages.format_breaker(name, breaker),
            cooldown_until=signals.now + thresholds.cooldown,
        )


def _dead_letter_alerts(signals: Signals, thresholds: AlertThresholds) -> Iterator[Alert]:
    if signals.dead_letters:
        yield Alert(
            rule=AlertRule.DEAD_LETTERS,
            text=messages.format_dead_letters(signals.dead_letters),
            cooldown_until=signals.now + thresholds.cooldown,
        )


def _unreadable_alerts(signals: Signals, thresholds: AlertThresholds) -> Iterator[Alert]:
    note = signals.unreadable
    if note is not None:
        yield Alert(
            rule=AlertRule.UNREADABLE_ITEMS,
            text=messages.format_unreadable(note.count, note.items),
            cooldown_until=signals.now + thresholds.cooldown,
        )


def _token_expiry_alerts(signals: Signals) -> Iterator[Alert]:
    """Return an alert for each token that expires soon. Another expiry starts over."""
    for token in signals.expiring_tokens:
        if token.expires_at is not None:
            is_within = [token.expires_within(period, signals.now) for period in EXPIRY_PERIODS]
            yield Alert(
                rule=AlertRule.TOKEN_EXPIRY,
                subject=token.name,
                level=sum(is_within),
                threshold=to_text(token.expires_at),
                text=messages.format_token_expiry(token.name, token.scope, token.expires_at),
                cooldown_until=token.expires_at,
            )
