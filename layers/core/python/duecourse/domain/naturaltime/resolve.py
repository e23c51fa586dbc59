"""Resolve a parsed time expression to its first wall-clock time after now."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from duecourse.domain.naturaltime.clock_time import DEFAULT_TIME, ClockTime, resolve_on_named_day
from duecourse.domain.naturaltime.days import ParsedDay
from duecourse.domain.naturaltime.duration import TOO_FAR_MESSAGE, CalendarDuration
from duecourse.domain.naturaltime.labels import ambiguity_error, format_wall_time
from duecourse.domain.naturaltime.recurrence_rules import DAILY, ParsedRule
from duecourse.domain.naturaltime.tokens import ClarificationNeededError
from duecourse.domain.time.dst import to_instant
from duecourse.domain.time.duration import MAX_DURATION
from duecourse.domain.time.timezones import to_wall_time

_DAY = timedelta(days=1)
# Every day of the year comes within two years, except 29 February, which no rule allows.
_MAX_DAYS_AHEAD = 366 * 2


@dataclass(frozen=True)
class LocalNow:
    """The current instant in the sender's zone."""

    instant: datetime
    zone: ZoneInfo

    @property
    def wall_time(self) -> datetime:
        return to_wall_time(self.instant, self.zone)

    @property
    def today(self) -> date:
        return self.wall_time.date()

    def is_before(self, wall_time: datetime) -> bool:
        return to_instant(wall_time, self.zone) > self.instant


def resolve_clock(clock: ClockTime, now: LocalNow) -> datetime:
    """Return the next such time, today or tomorrow.

    Asks back if the half of the day is open and the time as written is not still to come today.
    """
    if clock.is_midnight:
        return datetime.combine(now.today + _DAY, time())
    first = _next_at(clock.time_as_written, now)
    if clock.is_unambiguous or first.date() == now.today:
        return first
    readings = sorted([first, _next_at(clock.time_in_other_half, now)])
    raise ambiguity_error(*(format_wall_time(wall, now.today) for wall in readings))


def _next_at(at: time, now: LocalNow) -> datetime:
    wall = datetime.combine(now.today, at)
    while not now.is_before(wall):
        wall += _DAY
    return wall


def resolve_day(day: ParsedDay, clock: ClockTime | None, now: LocalNow) -> datetime:
    if day.day != now.today:
        return _require_future(datetime.combine(day.day, _time_on_named_day(clock)), now)
    if day.alternative:
        return _resolve_same_weekday(day.alternative, clock, now)
    if clock is None:
        raise ClarificationNeededError("At what time today? Example: today at 18:00")
    if clock.is_midnight:
        return datetime.combine(now.today + _DAY, time())
    readings = (
        [clock.time_as_written]
        if clock.is_unambiguous
        else [clock.time_as_written, clock.time_in_other_half]
    )
    walls = [datetime.combine(now.today, reading) for reading in readings]
    return next((wall for wall in walls if now.is_before(wall)), None) or _require_future(
        walls[0], now
    )


def _time_on_named_day(clock: ClockTime | None) -> time:
    if clock is None:
        return DEFAULT_TIME
    if clock.is_midnight:
        raise ClarificationNeededError(
            "Midnight before or after that day? Write 00:00 and the day that starts then. "
            "Example: tomorrow at 00:00"
        )
    return resolve_on_named_day(clock)


def _resolve_same_weekday(later: date, clock: ClockTime | None, now: LocalNow) -> datetime:
    """Resolve a weekday that is also today's.

    It means next week's only if the time has passed today. Otherwise asks back.
    """
    at = _time_on_named_day(clock)
    today, next_one = datetime.combine(now.today, at), datetime.combine(later, at)
    if clock is None:
        raise ambiguity_error("today", format_wall_time(next_one, now.today))
    if not now.is_before(today):
        if clock.is_unambiguous:
            return next_one
        today = datetime.combine(now.today, clock.time_in_other_half)
        if not now.is_before(today):
            return next_one
    raise ambiguity_error(format_wall_time(today, now.today), format_wall_time(next_one, now.today))


def _require_future(wall_time: datetime, now: LocalNow) -> datetime:
    if not now.is_before(wall_time):
        passed = _capitalize(format_wall_time(wall_time, now.today))
        raise ClarificationNeededError(f"{passed} has passed. Write a later time.")
    if to_instant(wall_time, now.zone) - now.instant > MAX_DURATION:
        raise ClarificationNeededError(TOO_FAR_MESSAGE)
    return wall_time


def _capitalize(text: str) -> str:
    return text[0].upper() + text[1:]


def resolve_duration(
    duration: CalendarDuration, clock: ClockTime | None, now: LocalNow
) -> datetime:
    """Return the same time on a later day, or the given time on that day."""
    wall = duration.add_to(now.wall_time)
    return _require_future(
        datetime.combine(wall, _time_on_named_day(clock)) if clock else wall, now
    )


def resolve_rule(rule: ParsedRule, clock: ClockTime | None, now: LocalNow) -> datetime:
    step = rule.interval
    if step and not step.is_calendar:
        return _first_interval(step.exact, now)
    at = _series_time(rule, clock)
    if step:
        return _require_future(datetime.combine(step.add_to(now.wall_time), at), now)
    days = (now.today + _DAY * ahead for ahead in range(_MAX_DAYS_AHEAD))
    walls = (datetime.combine(day, at) for day in days if rule.is_match and rule.is_match(day))
    return next(wall for wall in walls if now.is_before(wall))


def _series_time(rule: ParsedRule, clock: ClockTime | None) -> time:
    if clock and clock.is_midnight and rule.is_match is DAILY.is_match:
        return time()
    return _time_on_named_day(clock)


def _first_interval(step: timedelta, now: LocalNow) -> datetime:
    # When clocks go back, the wall time may repeat one that has passed.
    if step > MAX_DURATION:
        raise ClarificationNeededError(TOO_FAR_MESSAGE)
    wall = to_wall_time(now.instant + step, now.zone)
    while not now.is_before(wall):
        wall += step
    return wall
