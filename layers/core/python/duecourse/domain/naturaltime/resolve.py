"""When a time that was written comes first, seen from now on the wall of a zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from duecourse.domain.naturaltime.clock import USUAL, Clock, on_some_day
from duecourse.domain.naturaltime.days import Day
from duecourse.domain.naturaltime.duration import TOO_FAR, Length
from duecourse.domain.naturaltime.labels import say_wall, which
from duecourse.domain.naturaltime.recurrence import DAILY, Rule
from duecourse.domain.naturaltime.tokens import AskBackError
from duecourse.domain.time.duration import LONGEST
from duecourse.domain.time.timezones import to_instant, to_wall

_DAY = timedelta(days=1)
# 29 February excepted, which no rule asks for, every day of the year comes within two years.
_FAR_ENOUGH = 366 * 2


@dataclass(frozen=True)
class Now:
    """An instant, on the wall of a zone."""

    instant: datetime
    zone: ZoneInfo

    @property
    def wall(self) -> datetime:
        return to_wall(self.instant, self.zone)

    @property
    def today(self) -> date:
        return self.wall.date()

    def is_before(self, wall: datetime) -> bool:
        return to_instant(wall, self.zone) > self.instant


def at_clock(clock: Clock, now: Now) -> datetime:
    """Today or tomorrow: asked back where the half of the day is open and has to be guessed."""
    if clock.is_midnight:
        return datetime.combine(now.today + _DAY, time())
    first = _next(clock.as_written, now)
    if clock.is_sure or first.date() == now.today:
        return first
    readings = sorted([first, _next(clock.other_half, now)])
    raise which(*(say_wall(wall, now.today) for wall in readings))


def _next(at: time, now: Now) -> datetime:
    wall = datetime.combine(now.today, at)
    while not now.is_before(wall):
        wall += _DAY
    return wall


def on_day(day: Day, clock: Clock | None, now: Now) -> datetime:
    if day.first != now.today:
        return _ahead(datetime.combine(day.first, _at_named_day(clock)), now)
    if day.later:
        return _today_or(day.later, clock, now)
    if clock is None:
        raise AskBackError("At what time today?")
    if clock.is_midnight:
        return datetime.combine(now.today + _DAY, time())
    readings = [clock.as_written] if clock.is_sure else [clock.as_written, clock.other_half]
    walls = [datetime.combine(now.today, reading) for reading in readings]
    return next((wall for wall in walls if now.is_before(wall)), None) or _ahead(walls[0], now)


def _at_named_day(clock: Clock | None) -> time:
    if clock is None:
        return USUAL
    if clock.is_midnight:
        raise AskBackError(
            "Midnight before or after that day? Write the day that begins then, and 00:00."
        )
    return on_some_day(clock)


def _today_or(later: date, clock: Clock | None, now: Now) -> datetime:
    """A day that has today's name: only a time that has passed tells which one is meant."""
    at = _at_named_day(clock)
    today, next_one = datetime.combine(now.today, at), datetime.combine(later, at)
    if clock is None:
        raise which("today", say_wall(next_one, now.today))
    if not now.is_before(today):
        if clock.is_sure:
            return next_one
        today = datetime.combine(now.today, clock.other_half)
        if not now.is_before(today):
            return next_one
    raise which(say_wall(today, now.today), say_wall(next_one, now.today))


def _ahead(wall: datetime, now: Now) -> datetime:
    if not now.is_before(wall):
        raise AskBackError(
            f"{_capital(say_wall(wall, now.today))} has passed. What time do you mean?"
        )
    if to_instant(wall, now.zone) - now.instant > LONGEST:
        raise AskBackError(TOO_FAR)
    return wall


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def after_length(length: Length, clock: Clock | None, now: Now) -> datetime:
    """The same time on another day, or the time that was named."""
    wall = length.after(now.wall)
    return _ahead(datetime.combine(wall, _at_named_day(clock)) if clock else wall, now)


def first_of_rule(rule: Rule, clock: Clock | None, now: Now) -> datetime:
    step = rule.step
    if step and not step.is_calendar:
        return _first_step(step.exact, now)
    at = _time_of_series(rule, clock)
    if step:
        return _ahead(datetime.combine(step.after(now.wall), at), now)
    days = (now.today + _DAY * ahead for ahead in range(_FAR_ENOUGH))
    walls = (datetime.combine(day, at) for day in days if rule.fits and rule.fits(day))
    return next(wall for wall in walls if now.is_before(wall))


def _time_of_series(rule: Rule, clock: Clock | None) -> time:
    if clock and clock.is_midnight and rule.fits is DAILY.fits:
        return time()
    return _at_named_day(clock)


def _first_step(step: timedelta, now: Now) -> datetime:
    # The wall may show a time again that has passed, when the clocks go back.
    if step > LONGEST:
        raise AskBackError(TOO_FAR)
    wall = to_wall(now.instant + step, now.zone)
    while not now.is_before(wall):
        wall += step
    return wall
