"""The occurrences that a series should have, computed without the product's code or a library.

It looks at one day after another, and asks whether the rule wants it. That is slow and hard to get
wrong. It knows the rules that the workload uses, and no others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice
from typing import Any
from zoneinfo import ZoneInfo

from local.simulate.expected_cron import cron_days, cron_minutes
from local.simulate.expected_rrule import RRuleText, rrule_days, rrule_minutes, select_positions

MAX_DAYS = 1500  # after the anchor
_DAY = timedelta(days=1)
_MINUTE = timedelta(minutes=1)
_SATURDAY = 5


@dataclass(frozen=True)
class ExpectedSeries:
    """`anchor` is its first time on the wall clock of `zone`, without tzinfo."""

    repeat: str
    anchor: datetime
    zone: ZoneInfo

    def iterate(self) -> Iterator[datetime]:
        """Yield the occurrences as instants, in order. A doubled time is the first of the two."""
        last: datetime | None = None
        for wall in self._list_wall_times():
            instant = to_instant(wall, self.zone)
            if _is_over(self.repeat, wall, instant):
                return
            if last is None or instant > last:  # several skipped times are one instant
                yield instant
            last = instant

    def find_after(self, instant: datetime) -> datetime | None:
        return next((one for one in self.iterate() if one > instant), None)

    def is_slow(self, until: datetime, limit: int) -> bool:
        """Return whether the series has at most `limit` occurrences until then."""
        return all(one > until for one in islice(self.iterate(), limit, limit + 1))

    def _list_wall_times(self) -> Iterator[datetime]:
        found = (wall for wall in self._iterate_days() if wall >= self.anchor)
        rule = RRuleText.parse(self.repeat)
        return islice(found, rule.count) if rule is not None else found

    def _iterate_days(self) -> Iterator[datetime]:
        is_wanted, minutes = _days_of(self.repeat, self.anchor), self._minutes()
        rest = time() if _is_cron(self.repeat) else self.anchor.time()
        for number in range(MAX_DAYS):
            day = self.anchor.date() + number * _DAY
            if is_wanted(day):
                for minute in minutes(day):
                    yield datetime.combine(day, rest.replace(minute // 60, minute % 60))

    def _minutes(self) -> Callable[[date], Sequence[int]]:
        if _is_cron(self.repeat):
            return lambda _day: cron_minutes(self.repeat)
        rule = RRuleText.parse(self.repeat)
        if rule is not None:
            return lambda day: rrule_minutes(rule, day, self.anchor)
        return lambda _day: [self.anchor.hour * 60 + self.anchor.minute]


def expected_series(request: Mapping[str, Any]) -> ExpectedSeries | None:
    """Return the series that a request asks for, if it says when the series begins."""
    if "repeat" not in request or "due_at" not in request:
        return None
    zone = ZoneInfo(request.get("timezone", "UTC"))
    return ExpectedSeries(request["repeat"], datetime.fromisoformat(request["due_at"]), zone)


def _is_cron(repeat: str) -> bool:
    return len(repeat.split()) == 5


def _days_of(repeat: str, anchor: datetime) -> Callable[[date], bool]:
    if _is_cron(repeat):
        return cron_days(repeat)
    if (rule := RRuleText.parse(repeat)) is not None:
        return select_positions(rule, rrule_days(rule, anchor.date()))
    first = anchor.date()
    named: dict[str, Callable[[date], bool]] = {
        "daily": lambda _day: True,
        "weekly": lambda day: (day - first).days % 7 == 0,
        "weekdays": lambda day: day.weekday() < _SATURDAY,
        "monthly": lambda day: day.day == min(first.day, _last_day(day)),
    }
    return named[repeat]


def _last_day(day: date) -> int:
    following = (day.replace(day=28) + 4 * _DAY).replace(day=1)
    return (following - _DAY).day


def _is_over(repeat: str, wall: datetime, instant: datetime) -> bool:
    rule = RRuleText.parse(repeat)
    if rule is None or rule.until is None:
        return False
    if rule.until.tzinfo is not None:
        return instant > rule.until
    return wall.replace(microsecond=0) > rule.until


def to_instant(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return the first instant at which the clock shows `wall`, or has skipped it."""
    offsets = {_offset_at(wall + shift, zone) for shift in (-_DAY, _DAY)}
    candidates = [(wall - offset).replace(tzinfo=UTC) for offset in offsets]
    exact = [one for one in candidates if one.astimezone(zone).replace(tzinfo=None) == wall]
    if exact:
        return min(exact)
    instant = min(candidates).replace(second=0, microsecond=0)
    while instant.astimezone(zone).replace(tzinfo=None) < wall:
        instant += _MINUTE  # clocks change at whole minutes
    return instant


def _offset_at(wall: datetime, zone: ZoneInfo) -> timedelta:
    return wall.replace(tzinfo=UTC).astimezone(zone).utcoffset() or timedelta(0)
