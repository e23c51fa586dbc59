"""How operators are told of an alert: what, how much, since when, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from fractions import Fraction

from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.journal.rolling_hour import Hour
from duecourse.domain.limits.budget import Budget, spoken_dollars
from duecourse.domain.limits.circuit_breaker import Breaker
from duecourse.domain.text.formatting import one_line, spoken_time

MOST_DEAD_LETTERS = 50  # are looked at
_NAME_LIMIT = 100
_MOST_NAMED = 3


def error_rate(hour: Hour, allowed: int) -> str:
    return (
        f"Alert: {_percent(hour.failed_percent)} of the runs failed in the last hour, "
        f"{round(hour.failed)} of {round(hour.runs)}: more than {allowed}%. "
        "What fails and why: the dashboard's page Failures, or `duecourse stats`."
    )


def lateness(hour: Hour, late_after: timedelta) -> str:
    return (
        f"Alert: {_percent(hour.late_percent)} of the runs in the last hour ended more than "
        f"{late_after.total_seconds():.0f} seconds late, "
        f"{round(hour.late)} of {round(hour.succeeded)}. "
        "How late: the dashboard's page Lateness, or `duecourse stats`. If work piles up, look at "
        "the logs of the scanner and the worker."
    )


def budget(one: Budget) -> str:
    used, name = one.limit - one.remaining, one.name
    return (
        f"Alert: budget {name} is used to {_percent(one.used_percent)} today, "
        f"{spoken_dollars(used)} of {spoken_dollars(one.limit)} dollars. What would pass the limit "
        f"waits until {_time(one.resets_at)}. To raise it: "
        f'PUT /budgets/{name} {{"limit": <dollars>}}.'
    )


def breaker(provider: str, one: Breaker) -> str:
    failures = "1 failure" if one.failures == 1 else f"{one.failures} failures"
    return (
        f"Alert: provider {one_line(provider, _NAME_LIMIT)} is down"
        f"{_since(one.opened_at or one.since)}, with {failures} so far. Its work waits and is "
        f"tried again by itself{_from(one.until)}. What it answered: the dashboard's page "
        "Failures. Once it is back, nothing is left to do."
    )


def dead_letters(letters: Sequence[DeadLetter]) -> str:
    count = len(letters)
    many = f"{count} or more" if count >= MOST_DEAD_LETTERS else f"{count}"
    kept = "1 message is" if count == 1 else f"{many} messages are"
    return (
        f"Alert: {kept} kept that nobody could process, the oldest of "
        f"{_time(letters[0].sent_at)}. Look at them and send them back: the dashboard's page Dead "
        "letters, or GET /dead-letters and POST /dead-letters/redrive."
    )


def unreadable(count: int, items: Sequence[str]) -> str:
    named = ", ".join(one_line(item, _NAME_LIMIT) for item in items[:_MOST_NAMED])
    stored = "1 stored item" if count == 1 else f"{count} stored items"
    return (
        f"Alert: this version of Duecourse cannot read {stored}: {named}"
        f"{', …' if count > _MOST_NAMED else ''}. What was stored is left as it is, and nothing "
        "else waits for it. If a newer version was rolled back, deploy it again; the log says "
        "under item_unreadable what is wrong with each."
    )


def _percent(number: float | Fraction) -> str:
    return f"{float(number):.1f}".removesuffix(".0") + "%"


def _since(instant: datetime | None) -> str:
    return f" since {_time(instant)}" if instant else ""


def _from(instant: datetime | None) -> str:
    return f" from {_time(instant)} on" if instant else ""


def _time(instant: datetime) -> str:
    return spoken_time(instant, "UTC")
