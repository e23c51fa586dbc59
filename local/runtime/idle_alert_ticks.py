"""Find the next tick of the alerts function that could send anything.

Called before every jump of the clock, so it reads a few items directly from moto's tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from fractions import Fraction
from typing import Any

from duecourse.adapters.aws.dynamodb.alert_cooldowns import alert_key, to_cooldown
from duecourse.adapters.aws.dynamodb.budgets import day_key, names_key
from duecourse.adapters.aws.dynamodb.circuit_breakers import STATE_KEY as BREAKERS_KEY
from duecourse.adapters.aws.dynamodb.circuit_breakers import to_breaker
from duecourse.adapters.aws.dynamodb.dead_letters import PARTITION as DEAD_LETTERS
from duecourse.adapters.aws.dynamodb.unreadable_notes import KEY as UNREADABLE_KEY
from duecourse.adapters.aws.dynamodb.unreadable_notes import to_note
from duecourse.app import services, stores
from duecourse.domain.alerts.rules import Alert, Signals, UnreadableNote, find_alerts
from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.journal.rolling_hour import (
    HOUR,
    MIN_RUNS,
    HourCounts,
    count_hour,
    days_of_last_hour,
)
from duecourse.domain.journal.stats import DailyCounter
from duecourse.domain.limits.budget import Budget, utc_date
from duecourse.domain.limits.circuit_breaker import CircuitBreaker
from moto.dynamodb.models.dynamo_type import DynamoType

from local.runtime.moto_tables import ALWAYS, every_tick_if_unreadable, get_table, state_value

Attributes = dict[str, Any]


@every_tick_if_unreadable
def alerts_needed_from() -> datetime | None:
    now = stores.clock().now()
    return min((_cooldown_until(alert, now) for alert in _possible_alerts(now)), default=None)


def _possible_alerts(now: datetime) -> list[Alert]:
    """Return all alerts that are due now, or would become due just by time passing."""
    plain = Signals(
        now=now,
        budgets=list(_budgets(now)),
        breakers=_breakers(),
        dead_letters=list(_dead_letters(now)),
        unreadable=_unreadable(now),
    )
    busy = [Signals(now=now, last_hour=hour) for hour in _worst_hours(now)]
    return [alert for one in (plain, *busy) for alert in find_alerts(one, services.alert_limits())]


def _worst_hours(now: datetime) -> list[HourCounts]:
    """Return both hours' counts, scaled to the minimum number of runs.

    As time passes, the previous hour counts less. The weighted rate always lies between the rates
    of the two hours, so checking both covers every moment.
    """
    counters = [
        _to_daily_counter(attrs) for day in days_of_last_hour(now) for attrs in _counters(day)
    ]
    this, before = count_hour(now, counters), count_hour(now - HOUR, counters)
    if (this + before).runs < MIN_RUNS:
        return []
    return [hour * Fraction(MIN_RUNS) for hour in (this, before)]


def _cooldown_until(alert: Alert, now: datetime) -> datetime:
    attrs = _item("StateTable", alert_key(alert.topic))
    if attrs is None:
        return ALWAYS
    told = to_cooldown(state_value(attrs), int(attrs["version"].value))
    return told.suppressed_until if told.suppresses(alert, now=now) else ALWAYS


def _budgets(now: datetime) -> Iterator[Budget]:
    day = utc_date(now)
    listed = _item("StateTable", names_key(day)) or {}
    for name in listed["names"].value if "names" in listed else ():
        attrs = _item("StateTable", day_key(name, day))
        if attrs is not None:
            limit, left = int(attrs["limit"].value), int(attrs["remaining"].value)
            yield Budget(name=name, day=day, limit=limit, spent=limit - left)


def _breakers() -> dict[str, CircuitBreaker]:
    attrs = _item("StateTable", BREAKERS_KEY)
    stored = state_value(attrs)["breakers"] if attrs else {}
    return {provider: to_breaker(one) for provider, one in stored.items()}


def _dead_letters(now: datetime) -> Iterator[DeadLetter]:
    for item in _partition("JournalTable", DEAD_LETTERS).values():
        letter = DeadLetter.from_json(json.loads(item.attrs["detail"].value))
        if letter.sent_at >= now - stores.settings().retention:
            yield letter


def _unreadable(now: datetime) -> UnreadableNote | None:
    attrs = _item("StateTable", UNREADABLE_KEY)
    return to_note(state_value(attrs), now=now) if attrs else None


def _counters(day: str) -> Iterator[Attributes]:
    return (item.attrs for item in _partition("StatsTable", day).values())


def _to_daily_counter(attrs: Attributes) -> DailyCounter:
    numbers = {name: int(one.value) for name, one in attrs.items() if one.type == "N"}
    return DailyCounter(attrs["day"].value, attrs["counter"].value, numbers)


def _item(name: str, key: str) -> Attributes | None:
    found = get_table(name).get_item(_key(key))
    return found.attrs if found else None


def _partition(name: str, key: str) -> dict[Any, Any]:
    found: dict[Any, Any] = get_table(name).items.get(_key(key), {})
    return found


def _key(text: str) -> DynamoType:
    return DynamoType({"S": text})
