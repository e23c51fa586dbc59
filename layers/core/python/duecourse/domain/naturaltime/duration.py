"""Lengths of time as people write them: `2h30m`, `an hour and a half`, `3 weeks`."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from duecourse.domain.naturaltime.tokens import AskBackError, Words
from duecourse.domain.time.duration import LONGEST

TOO_FAR = "That is more than 100 years away; the most I can keep is 100 years."
_NUMBER_NAMES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty"
)
NUMBERS = {name: number for number, name in enumerate(_NUMBER_NAMES.split(), start=1)} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
}
_SPELLINGS = {  # longest unit first: a length goes from long to short
    "year": "year years yr yrs y",
    "month": "month months",
    "fortnight": "fortnight fortnights",
    "week": "week weeks wk wks w",
    "day": "day days d",
    "hour": "hour hours hr hrs h",
    "minute": "minute minutes min mins m",
    "second": "second seconds sec secs s",
}
UNITS = {spelling: unit for unit, names in _SPELLINGS.items() for spelling in names.split()}
_ORDER = list(_SPELLINGS)
_MONTHS = {"year": 12, "month": 1}
_DAYS = {"fortnight": 14, "week": 7, "day": 1}
_SECONDS = {"hour": 3600, "minute": 60, "second": 1}
_MOST_PARTS = 6
_HALF, _QUARTER = Fraction(1, 2), Fraction(1, 4)
_PARTS_OF_HOUR = ("00", "25", "50", "75")  # `1.30 hours` may be an hour and 30 minutes
_FRACTIONS = {"½": _HALF, "¼": _QUARTER, "¾": 3 * _QUARTER}


@dataclass(frozen=True, slots=True)
class Length:
    """Months and whole days go by the calendar, all else by the seconds."""

    months: int = 0
    days: int = 0
    exact: timedelta = timedelta(0)

    @property
    def is_calendar(self) -> bool:
        """It leads to the same time on another day, however long the days between are."""
        return bool(self.months or self.days) and not self.exact

    @property
    def total(self) -> timedelta:
        return timedelta(days=self.days) + self.exact

    def after(self, wall: datetime) -> datetime:
        """A day that the month does not have is its last one."""
        year, month = divmod(wall.year * 12 + wall.month - 1 + self.months, 12)
        day = min(wall.day, monthrange(year, month + 1)[1])
        return wall.replace(year=year, month=month + 1, day=day) + timedelta(days=self.days)


def take_length(words: Words) -> Length | None:
    """Asks back what is vague or too long."""
    _refuse_vague(words)
    first = words.attempt(_part)
    if first is None:
        return None
    parts = [first]
    while len(parts) < _MOST_PARTS and (more := _further(words, parts[-1][1])):
        parts.append(more)
    return _sum(parts)


def _refuse_vague(words: Words) -> None:
    ahead = 1 if words.peek().text == "a" else 0
    unit = UNITS.get(words.peek(ahead + 1).text)
    if words.peek(ahead).text in ("few", "several", "some", "many") and unit:
        raise AskBackError(f"How many {unit}s?")


def _part(words: Words) -> tuple[Fraction, str] | None:
    amount = _amount(words)
    decimals = words.peek(-1).text if words.peek(-2).text in (".", ",") else ""
    if amount is None:
        return None
    if _half_more(words):
        amount += _HALF
    unit = UNITS.get(words.peek().text.removesuffix("'s"))
    if unit is None or (words.next().text.endswith("'s") and words.peek().text != "time"):
        return None
    if unit == "hour" and len(decimals) == 2 and decimals not in _PARTS_OF_HOUR:
        raise AskBackError("How long is that? For example: 1 hour 30 minutes.")
    return amount + _more_of(words, unit), unit


def _amount(words: Words) -> Fraction | None:
    if words.take_all("a half") or words.take("half"):
        words.take("of", "-")
        is_whole = bool(words.take("a", "an"))
        words.take_glued("-")
        return _HALF if is_whole or words.peek().text in UNITS else None
    if quarters := words.attempt(_quarters):
        return quarters
    if words.take_all("a couple") or words.take("couple"):
        words.take("of")
        return Fraction(2)
    if words.take("a", "an"):
        return Fraction(1)
    return _written(words) if words.peek().text in NUMBERS else _digits(words)


def _quarters(words: Words) -> Fraction | None:
    number = 3 if words.take("three") else 1 if words.take("a", "one") else 0
    if number and words.take("quarter", "quarters"):
        words.take("of")
        is_whole = words.take("a", "an") or words.peek().text == "hour"
        return number * _QUARTER if is_whole else None
    return None


def _written(words: Words) -> Fraction:
    number = NUMBERS[words.next().text]
    ones = NUMBERS.get(words.peek(1).text if words.peek().text == "-" else words.peek().text, 0)
    if number >= 20 and 1 <= ones <= 9:
        words.take("-")
        words.next()
        number += ones
    return Fraction(number)


def _digits(words: Words) -> Fraction | None:
    if words.peek().is_number and len(words.peek().text) > 9:
        raise AskBackError(TOO_FAR)
    whole = words.number(9)
    if whole is None:
        return _FRACTIONS.get(words.next().text) if words.peek().text in _FRACTIONS else None
    sign, decimals = words.peek(), words.peek(1)
    is_decimal = sign.text == "." or (sign.text == "," and len(decimals.text) <= 2)
    if is_decimal and sign.is_glued and decimals.is_glued and decimals.is_number:
        words.at += 2
        return Fraction(f"{whole.text}.{decimals.text[:6]}")
    if words.peek().is_glued and words.peek().text in _FRACTIONS:
        return int(whole.text) + _FRACTIONS[words.next().text]
    return Fraction(int(whole.text))


def _half_more(words: Words) -> bool:
    """`one and a half hours`"""
    return words.peek(3).text in UNITS and words.take_all("and a half")


def _more_of(words: Words, unit: str) -> Fraction:
    """`an hour and a half`, `2h30`"""
    if words.take_all("and a half") or words.take_all("& a half"):
        return _HALF
    if unit == "hour" and words.take_all("and a quarter"):
        return _QUARTER
    minutes = words.peek()
    is_last = words.peek(1).text not in UNITS and not words.peek(1).is_glued
    if unit == "hour" and minutes.is_glued and minutes.is_number and is_last:
        return Fraction(int(words.next().text[:3]), 60)
    return Fraction(0)


def _further(words: Words, last_unit: str) -> tuple[Fraction, str] | None:
    def read(words: Words) -> tuple[Fraction, str] | None:
        words.take(",")
        if not words.take("and") and not words.peek().is_number:
            return None
        part = _part(words)
        is_shorter = part is not None and _ORDER.index(part[1]) > _ORDER.index(last_unit)
        return part if is_shorter else None

    return words.attempt(read)


def _sum(parts: list[tuple[Fraction, str]]) -> Length:
    months = sum((amount * _MONTHS.get(unit, 0) for amount, unit in parts), Fraction(0))
    days = sum((amount * _DAYS.get(unit, 0) for amount, unit in parts), Fraction(0))
    seconds = sum((amount * _SECONDS.get(unit, 0) for amount, unit in parts), Fraction(0))
    if (months * 31 + days) * 86_400 + seconds > LONGEST.total_seconds() * Fraction(31, 30):
        raise AskBackError(TOO_FAR)
    if days.denominator > 1 or (seconds and not months):
        days, seconds = Fraction(0), seconds + days * 86_400
    if months.denominator > 1 or (months and seconds):
        raise AskBackError("Months differ in length: how many days do you mean?")
    exact = timedelta(milliseconds=round(seconds * 1000))
    return Length(int(months), int(days), exact)
