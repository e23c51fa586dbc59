"""Texts of alerts: what happened, how much, since when, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from fractions import Fraction

from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.journal.rolling_hour import HourCounts
from duecourse.domain.limits.budget import Budget, format_dollars
from duecourse.domain.limits.circuit_breaker import CircuitBreaker
from duecourse.domain.text.formatting import format_time, to_one_line

MAX_DEAD_LETTERS = 50  # how many are read
_NAME_LIMIT = 100
_MAX_NAMED = 3


def format_error_rate(hour: HourCounts, threshold_percent: int) -> str:
    return (
        f"Alert: {_format_percent(hour.failed_percent)} of runs failed in the last hour "
        f"({round(hour.failed)} of {round(hour.runs)}). The limit is {threshold_percent}%. "
        "Details: dashboard page Failures, or `duecourse stats`"
    )


def format_lateness(hour: HourCounts, late_after: timedelta) -> str:
    return (
        f"Alert: {_format_percent(hour.late_percent)} of runs in the last hour ended more than "
        f"{late_after.total_seconds():.0f} seconds late "
        f"({round(hour.late)} of {round(hour.succeeded)}). "
        "If tasks pile up, check the logs of the scanner and the worker. "
        "Details: dashboard page Lateness, or `duecourse stats`"
    )


def format_budget(budget: Budget) -> str:
    used, name = budget.limit - budget.remaining, budget.name
    return (
        f"Alert: budget {name} is at {_format_percent(budget.used_percent)} today "
        f"({format_dollars(used)} of {format_dollars(budget.limit)} dollars). "
        f"Tasks that exceed the limit wait until {_format_time(budget.resets_at)}. "
        f'Raise it: PUT /budgets/{name} {{"limit": <dollars>}}'
    )


def format_breaker(provider: str, breaker: CircuitBreaker) -> str:
    if breaker.is_key_refused:
        return _format_refused_key(provider, breaker)
    failures = "1 failure" if breaker.failures == 1 else f"{breaker.failures} failures"
    return (
        f"Alert: provider {to_one_line(provider, _NAME_LIMIT)} is down"
        f"{_format_since(breaker.opened_at or breaker.state_changed_at)}, with {failures}. "
        f"Its tasks wait and are retried automatically{_format_from(breaker.state_until)}. "
        "Details: dashboard page Failures"
    )


def _format_refused_key(provider: str, breaker: CircuitBreaker) -> str:
    return (
        f"Alert: provider {to_one_line(provider, _NAME_LIMIT)} refuses its key"
        f"{_format_since(breaker.opened_at or breaker.state_changed_at)}. "
        "Renew the key in the secret of the providers. "
        "Its tasks wait, and continue by themselves within about half an hour. "
        "Details: dashboard page Failures"
    )


def format_channel(channel: str, breaker: CircuitBreaker) -> str:
    return (
        f"Alert: channel {to_one_line(channel, _NAME_LIMIT)} has no valid bot token"
        f"{_format_since(breaker.opened_at or breaker.state_changed_at)}. Nothing is sent there: "
        "reminders, replies and notifications wait. Put a valid token into the secret of the chat "
        "tokens. Sending then resumes by itself within about 6 minutes. "
        "The reason is in log entries channel_paused"
    )


def format_dead_letters(letters: Sequence[DeadLetter]) -> str:
    count = len(letters)
    many = f"{count} or more" if count >= MAX_DEAD_LETTERS else f"{count}"
    messages = "1 message" if count == 1 else f"{many} messages"
    return (
        f"Alert: {messages} could not be processed. The oldest was sent on "
        f"{_format_time(letters[0].sent_at)}. "
        "Inspect and redrive: dashboard page Dead letters, "
        "or GET /dead-letters and POST /dead-letters/redrive"
    )


def format_unreadable(count: int, items: Sequence[str]) -> str:
    named = ", ".join(to_one_line(item, _NAME_LIMIT) for item in items[:_MAX_NAMED])
    stored = "1 stored item" if count == 1 else f"{count} stored items"
    return (
        f"Alert: this version of Duecourse cannot read {stored}: {named}"
        f"{', …' if count > _MAX_NAMED else ''}. They are left unchanged, and "
        "other tasks run. If you rolled back a newer version, deploy it again. "
        "Details: log entries item_unreadable"
    )


def format_token_expiry(name: str, scope: str, expires_at: datetime) -> str:
    return (
        f"Alert: API token {name} expires on {_format_time(expires_at)}. "
        "Whoever uses it is refused from then on. "
        f"Make another one: duecourse token NAME --scope {scope} --secret ARN. "
        f"If nobody uses it, revoke it: duecourse token --revoke {name} --secret ARN"
    )


def _format_percent(number: float | Fraction) -> str:
    return f"{float(number):.1f}".removesuffix(".0") + "%"


def _format_since(instant: datetime | None) -> str:
    return f" since {_format_time(instant)}" if instant else ""


def _format_from(instant: datetime | None) -> str:
    return f" from {_format_time(instant)} on" if instant else ""


def _format_time(instant: datetime) -> str:
    return format_time(instant, "UTC")
