"""The occurrences of a recurring task, computed from its anchor, rule and time zone."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count, islice, takewhile
from zoneinfo import ZoneInfo

from duecourse.domain.time.dst import earliest_wall_time, to_instant

MAX_RULE_LENGTH = 500
# After this year, adding a period or an offset could exceed the range of datetime.
LAST_YEAR = 9900

# Called with (anchor, start), start >= anchor. Yields wall times from start on, in order.
WallTimes = Callable[[datetime, datetime], Iterator[datetime]]

_DAY = timedelta(days=1)
_SATURDAY = 5
_FIRST_YEAR = 1900
_EARLIEST_INSTANT = datetime(_FIRST_YEAR - 1, 1, 1, tzinfo=UTC)


class RecurrenceError(ValueError):
    """A rule is invalid. The message says why, in a full sentence."""


@dataclass(frozen=True)
class RecurrenceRule:
    """A parsed rule. Two rules are equal if their texts are."""

    text: str
    wall_times: WallTimes = field(compare=False, repr=False)
    ends_at: datetime | None = field(default=None, compare=False, repr=False)

    @property
    def is_cron(self) -> bool:
        return "=" not in self.text and self.text.lower() not in _NAMED_RULES

    @classmethod
    def parse(cls, text: str) -> RecurrenceRule:
        """Parse a named rule, a cron line or an RRULE. Raises RecurrenceError and nothing else."""
        text = text.strip()
        _check_text(text)
        if word := _NAMED_RULES.get(text.lower()):
            return cls(text, word)
        if "=" in text:
            return _parse_rrule(text)
        if len(text.split()) == 5:
            return _parse_cron(text)
        raise RecurrenceError(
            f"The rule {_quote(text)} is not one of {', '.join(_NAMED_RULES)}, "
            "a cron line of five fields, or an RRULE."
        )


@dataclass(frozen=True)
class Series:
    """The occurrences of a rule, as instants in order.

    They depend only on these three fields, so they do not drift and none comes twice.
    """

    repeat: RecurrenceRule
    anchor: datetime
    zone: ZoneInfo

    def __post_init__(self) -> None:
        if self.anchor.tzinfo is not None:
            raise ValueError("The anchor of a series must be naive: it is a wall-clock time.")
        if self.anchor.year < _FIRST_YEAR:
            raise ValueError(f"The anchor of a series must not be before {_FIRST_YEAR}.")

    def first_from(self, instant: datetime) -> datetime | None:
        """Return the first occurrence at or after `instant`, or None if the series is over."""
        return next(self._iter_from(instant), None)

    def next_after(self, instant: datetime) -> datetime | None:
        """Return the first occurrence after `instant`, or None if the series is over."""
        return next(self._iter_after(instant), None)

    def count_between(self, after: datetime, before: datetime, limit: int = 10_000) -> int:
        """Count the occurrences strictly between `after` and `before`, up to `limit`."""
        between = takewhile(lambda occurrence: occurrence < before, self._iter_after(after))
        return sum(1 for _ in islice(between, limit))

    def _iter_after(self, instant: datetime) -> Iterator[datetime]:
        return (found for found in self._iter_from(instant) if found > instant)

    def _iter_from(self, instant: datetime) -> Iterator[datetime]:
        if instant.tzinfo is None:
            raise ValueError("An instant must be aware.")
        if instant.year > LAST_YEAR:
            return iter(())
        start = max(earliest_wall_time(max(instant, _EARLIEST_INSTANT), self.zone), self.anchor)
        return (found for found in self._iter_instants(start) if found >= instant)

    def _iter_instants(self, start: datetime) -> Iterator[datetime]:
        last = None
        for wall in self.repeat.wall_times(self.anchor, start):
            if wall.year > LAST_YEAR:
                return
            instant = to_instant(wall, self.zone)
            if self.repeat.ends_at and instant > self.repeat.ends_at:
                return
            if instant != last:  # wall times in a DST gap all map to its end
                yield instant
            last = instant


def _daily_times(anchor: datetime, start: datetime) -> Iterator[datetime]:
    return _interval_times(_DAY, anchor, start)


def _weekly_times(anchor: datetime, start: datetime) -> Iterator[datetime]:
    return _interval_times(7 * _DAY, anchor, start)


def _weekday_times(anchor: datetime, start: datetime) -> Iterator[datetime]:
    return (wall for wall in _daily_times(anchor, start) if wall.weekday() < _SATURDAY)


def _interval_times(step: timedelta, anchor: datetime, start: datetime) -> Iterator[datetime]:
    passed = -((anchor - start) // step)  # rounded up, to the first not before start
    return (anchor + step * steps for steps in count(passed))


def _monthly_times(anchor: datetime, start: datetime) -> Iterator[datetime]:
    months = count(start.year * 12 + start.month - 1)
    walls = (_clamp_to_month(anchor, *divmod(month, 12)) for month in months)
    return (wall for wall in walls if wall >= start)


def _clamp_to_month(anchor: datetime, year: int, months: int) -> datetime:
    month = months + 1
    return anchor.replace(year=year, month=month, day=min(anchor.day, monthrange(year, month)[1]))


_NAMED_RULES: dict[str, WallTimes] = {
    "daily": _daily_times,
    "weekly": _weekly_times,
    "monthly": _monthly_times,
    "weekdays": _weekday_times,
}


def _check_text(text: str) -> None:
    if not text:
        raise RecurrenceError("The rule is empty.")
    if len(text) > MAX_RULE_LENGTH:
        raise RecurrenceError(
            f"The rule has {len(text)} characters; {MAX_RULE_LENGTH} is the most."
        )
    if not (text.isascii() and text.replace("\t", " ").isprintable()):
        raise RecurrenceError(f"The rule {_quote(text)} is not one line of plain text.")


def _parse_rrule(text: str) -> RecurrenceRule:
    from duecourse.domain.time import rrule_parser

    rule = rrule_parser.parse(text)
    return RecurrenceRule(text, rule.wall_times, rule.ends_at)


def _parse_cron(text: str) -> RecurrenceRule:
    from duecourse.domain.time import cron

    return RecurrenceRule(text, cron.parse(text).wall_times)


def _quote(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
