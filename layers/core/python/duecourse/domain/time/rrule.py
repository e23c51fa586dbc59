"""The wall times of an RRULE. dateutil finds the days; this module adds the times of day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, date, datetime, time, timedelta
from itertools import dropwhile, groupby, islice, takewhile

from dateutil import rrule as dateutil_rrule

from duecourse.domain.time.recurrence import LAST_YEAR

# A series without an occurrence for this long is over. 40 years are enough for a rule such as
# "29 February on a Monday".
HORIZON_YEARS = 40
_YEAR, _HORIZON = timedelta(days=366), timedelta(days=366 * HORIZON_YEARS)
_CYCLE_YEARS, _CYCLE_DAYS = 400, 146_097  # the Gregorian calendar repeats, with its weekdays
MINUTES_BY_FREQ = {"MINUTELY": 1, "HOURLY": 60, "DAILY": 24 * 60}


@dataclass(frozen=True)
class RRule:
    freq: str
    interval: int
    week_start: int
    count: int | None
    until_wall_time: datetime | None  # an UNTIL without Z
    ends_at: datetime | None  # an UNTIL with Z; at most one of the two is set
    weekdays: tuple[tuple[int, int], ...]  # (weekday, ordinal); ordinal 0 means every one
    by_parts: dict[str, tuple[int, ...]]

    def wall_times(self, anchor: datetime, start: datetime) -> Iterator[datetime]:
        """Iterate over the wall times from `start` on. It ends after 40 years without one."""
        # Only COUNT needs the occurrences before `start`.
        endless = self._iter_unbounded(anchor, anchor if self.count else start)
        rest = dropwhile(lambda wall: wall < start, islice(endless, self.count))
        until = self.until_wall_time
        return takewhile(lambda wall: not until or wall.replace(microsecond=0) <= until, rest)

    def _iter_unbounded(self, anchor: datetime, start: datetime) -> Iterator[datetime]:
        while start.year <= LAST_YEAR:
            found = None
            for found in self._iter_to_horizon(anchor, start):
                yield found
            if not found:
                return
            start = found + timedelta.resolution

    def _iter_to_horizon(self, anchor: datetime, start: datetime) -> Iterator[datetime]:
        find = self._iter_within_days if self.freq in MINUTES_BY_FREQ else self._iter_over_days
        second = time(second=anchor.second, microsecond=anchor.microsecond)
        for day, minute in find(anchor, start):
            wall = datetime.combine(day, second.replace(*divmod(minute, 60)))
            if wall >= start:
                yield wall

    def _iter_within_days(self, anchor: datetime, start: datetime) -> Iterator[tuple[date, int]]:
        """Iterate over (day, minute of the day) for MINUTELY, HOURLY and DAILY rules."""
        unit, last = MINUTES_BY_FREQ[self.freq], start.date() + _HORIZON
        anchored = (anchor.toordinal() * 1440 + anchor.hour * 60 + anchor.minute) // unit
        minutes = self._minutes_by_remainder(anchor, unit)
        for day in takewhile(lambda day: day <= last, self._iter_days(anchor, start.date())):
            remainder = (anchored - day.toordinal() * 1440 // unit) % self.interval
            for minute in minutes.get(remainder, ()):
                yield day, minute

    def _minutes_by_remainder(self, anchor: datetime, unit: int) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for period, group in groupby(
            self._minutes_of_day(anchor), key=lambda minute: minute // unit
        ):
            minutes = list(group)
            found[period % self.interval] += [
                minutes[at] for at in self._apply_bysetpos(len(minutes))
            ]
        return found

    def _iter_over_days(self, anchor: datetime, start: datetime) -> Iterator[tuple[date, int]]:
        """Iterate over (day, minute of the day) for WEEKLY, MONTHLY and YEARLY rules."""
        minutes = self._minutes_of_day(anchor)
        anchored, last = self._period_of(anchor), self._period_of(start + _HORIZON)
        # BYSETPOS counts from the start of a period, which is less than a year before `start`.
        first = start - _YEAR if "BYSETPOS" in self.by_parts else start
        for period, group in groupby(self._iter_days(anchor, first.date()), key=self._period_of):
            if period > last:
                return
            if (period - anchored) % self.interval == 0:
                days = list(group)
                for at in self._apply_bysetpos(len(days) * len(minutes)):
                    yield days[at // len(minutes)], minutes[at % len(minutes)]

    def _apply_bysetpos(self, size: int) -> Iterable[int]:
        """Return the indexes that BYSETPOS selects from a period with `size` candidates."""
        if "BYSETPOS" not in self.by_parts:
            return range(size)
        places = {place - 1 if place > 0 else size + place for place in self.by_parts["BYSETPOS"]}
        return sorted(place for place in places if 0 <= place < size)

    def _minutes_of_day(self, anchor: datetime) -> list[int]:
        hours = tuple(range(24)) if self.freq in ("MINUTELY", "HOURLY") else (anchor.hour,)
        minutes = tuple(range(60)) if self.freq == "MINUTELY" else (anchor.minute,)
        return [
            hour * 60 + minute
            for hour in self.by_parts.get("BYHOUR", hours)
            for minute in self.by_parts.get("BYMINUTE", minutes)
        ]

    def _period_of(self, day: date) -> int:
        if self.freq == "WEEKLY":
            return (day.toordinal() - 1 - self.week_start) // 7
        return day.year * 12 + day.month if self.freq == "MONTHLY" else day.year

    def _iter_days(self, anchor: datetime, first: date) -> Iterator[date]:
        """Iterate over the days from `first` on that the BY parts allow, ignoring INTERVAL."""
        # If nothing matches, dateutil searches up to the year 9999. Start shortly before it.
        shift = (MAXYEAR - HORIZON_YEARS - 2 - first.year) // _CYCLE_YEARS * _CYCLE_DAYS
        dates = self._date_parts(anchor)
        rule = dateutil_rrule.rrule(
            dateutil_rrule.MONTHLY if self.freq == "MONTHLY" else dateutil_rrule.YEARLY,
            dtstart=datetime.combine(date.fromordinal(first.toordinal() + shift), time()),
            wkst=self.week_start,
            bymonth=dates.get("BYMONTH"),
            bymonthday=dates.get("BYMONTHDAY"),
            byyearday=dates.get("BYYEARDAY"),
            byweekday=[dateutil_rrule.weekday(*day) for day in self._weekday_parts(anchor)] or None,
        )
        days = (date.fromordinal(found.toordinal() - shift) for found in rule)
        # dateutil puts some first days of January into week 53 instead of 52.
        return filter(self._is_in_week, days) if "BYWEEKNO" in self.by_parts else days

    def _is_in_week(self, day: date) -> bool:
        middle = day + timedelta(days=3 - (day.weekday() - self.week_start) % 7)
        number = (middle.timetuple().tm_yday + 6) // 7
        to_come = (date(middle.year, 12, 31) - middle).days // 7
        return not {number, -to_come - 1}.isdisjoint(self.by_parts["BYWEEKNO"])

    def _date_parts(self, anchor: datetime) -> dict[str, tuple[int, ...]]:
        if self._weekday_parts(anchor) or self.by_parts.keys() & {"BYMONTHDAY", "BYYEARDAY"}:
            return self.by_parts
        month = {"BYMONTH": (anchor.month,)} if self.freq == "YEARLY" else {}
        return month | self.by_parts | {"BYMONTHDAY": (anchor.day,)}

    def _weekday_parts(self, anchor: datetime) -> list[tuple[int, int | None]]:
        every: Iterable[int | None] = (None,)
        if any(nth for _, nth in self.weekdays):
            # dateutil would read MO,2TU as a Monday that is also the second Tuesday.
            every = range(1, max_weekday_ordinal(self.freq, self.by_parts) + 1)
        found = [(day, n) for day, nth in self.weekdays for n in ((nth,) if nth else every)]
        if found or (self.freq in ("MONTHLY", "YEARLY") and "BYWEEKNO" not in self.by_parts):
            return found
        return [
            (day, None)
            for day in range(7)
            if self.freq in MINUTES_BY_FREQ or day == anchor.weekday()
        ]


def max_weekday_ordinal(freq: str, by: dict[str, tuple[int, ...]]) -> int:
    """Return the largest ordinal that a weekday in BYDAY may have; 0 if none is allowed."""
    if freq not in ("MONTHLY", "YEARLY") or "BYWEEKNO" in by:
        return 0
    return 53 if freq == "YEARLY" and "BYMONTH" not in by else 5
