"""The days and minutes of an RRULE, for the oracle of `expected_occurrences`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_UNITS = {"MINUTELY": 1, "HOURLY": 60}
_DAY = timedelta(days=1)
IsDay = Callable[[date], bool]


@dataclass(frozen=True)
class RRuleText:
    """The parts of a rule, each as a text."""

    parts: dict[str, str]

    @classmethod
    def parse(cls, text: str) -> RRuleText | None:
        if "=" not in text:
            return None
        return cls(dict(part.split("=") for part in text.removeprefix("RRULE:").split(";")))

    @property
    def freq(self) -> str:
        return self.parts["FREQ"]

    @property
    def interval(self) -> int:
        return int(self.parts.get("INTERVAL", "1"))

    @property
    def count(self) -> int | None:
        return int(self.parts["COUNT"]) if "COUNT" in self.parts else None

    @property
    def until(self) -> datetime | None:
        text = self.parts.get("UNTIL")
        if text is None:
            return None
        at = datetime.strptime(text.removesuffix("Z"), "%Y%m%dT%H%M%S")  # noqa: DTZ007
        return at.replace(tzinfo=UTC) if text.endswith("Z") else at

    def numbers(self, name: str) -> list[int]:
        return [int(one) for one in self.parts[name].split(",")] if name in self.parts else []


def rrule_days(rule: RRuleText, first: date) -> IsDay:
    """Return whether a day is wanted, but for BYSETPOS."""
    checks = [_in_period(rule, first), _in_month(rule, first), _on_day(rule, first)]
    return lambda day: all(check(day) for check in checks)


def _in_period(rule: RRuleText, first: date) -> IsDay:
    number: dict[str, Callable[[date], int]] = {
        "DAILY": date.toordinal,
        "WEEKLY": lambda day: (day.toordinal() - 1) // 7,  # weeks begin on Monday
        "MONTHLY": lambda day: day.year * 12 + day.month,
        "YEARLY": lambda day: day.year,
    }
    count = number.get(rule.freq)
    if count is None:
        return lambda _day: True
    return lambda day: (count(day) - count(first)) % rule.interval == 0


def _in_month(rule: RRuleText, first: date) -> IsDay:
    months = rule.numbers("BYMONTH")
    if not months and rule.freq == "YEARLY":
        months = [first.month]
    return lambda day: not months or day.month in months


def _on_day(rule: RRuleText, first: date) -> IsDay:
    """Return whether the day is one of BYMONTHDAY or BYDAY, or like the first day."""
    if days := rule.numbers("BYMONTHDAY"):
        return lambda day: day.day in days or day.day - 1 - _days_in_month(day) in days
    if "BYDAY" in rule.parts:
        names = rule.parts["BYDAY"].split(",")
        return lambda day: any(_is_weekday(day, name) for name in names)
    if rule.freq == "WEEKLY":
        return lambda day: day.weekday() == first.weekday()
    if rule.freq in ("MONTHLY", "YEARLY"):
        return lambda day: day.day == first.day
    return lambda _day: True


def _is_weekday(day: date, name: str) -> bool:
    """Return whether it is such a day: `MO`, `2MO`, or `-1MO` counted from the end."""
    if day.weekday() != _WEEKDAYS.index(name[-2:]):
        return False
    ordinal = int(name[:-2] or 0)
    from_start = (day.day - 1) // 7 + 1
    from_end = -((_days_in_month(day) - day.day) // 7 + 1)
    return ordinal in (0, from_start, from_end)


def _days_in_month(day: date) -> int:
    following = (day.replace(day=28) + 4 * _DAY).replace(day=1)
    return (following - _DAY).day


def select_positions(rule: RRuleText, is_day: IsDay) -> IsDay:
    """Return `is_day` with BYSETPOS, for monthly rules with one time a day."""
    positions = rule.numbers("BYSETPOS")
    if not positions:
        return is_day

    def is_selected(day: date) -> bool:
        month = [day.replace(day=number) for number in range(1, _days_in_month(day) + 1)]
        wanted = [one for one in month if is_day(one)]
        chosen = [wanted[at - 1 if at > 0 else at] for at in positions if abs(at) <= len(wanted)]
        return day in chosen

    return is_selected


def rrule_minutes(rule: RRuleText, day: date, anchor: datetime) -> Sequence[int]:
    """Return the minutes of the day at which the rule has an occurrence."""
    unit = _UNITS.get(rule.freq)
    if unit is None:
        hours, minutes = rule.numbers("BYHOUR"), rule.numbers("BYMINUTE")
        return [
            hour * 60 + minute
            for hour in sorted(hours or [anchor.hour])
            for minute in sorted(minutes or [anchor.minute])
        ]
    start = datetime.combine(anchor.date(), anchor.time().replace(second=0, microsecond=0))
    passed = (datetime.combine(day, datetime.min.time()) - start) // timedelta(minutes=1)
    return [minute for minute in range(1440) if (passed + minute) % (unit * rule.interval) == 0]
