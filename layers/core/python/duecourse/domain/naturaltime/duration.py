"""Parse durations as people write them: `2h30m`, `an hour and a half`, `3 weeks`."""

from __future__ import annotations

from calendar import monthrange
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction

from duecourse.domain.naturaltime.tokens import ClarificationNeededError, TokenStream
from duecourse.domain.time.duration import MAX_DURATION

TOO_FAR_MESSAGE = "That is more than 100 years away. Write a time within 100 years."
_NUMBER_NAMES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty"
)
NUMBER_WORDS = {name: number for number, name in enumerate(_NUMBER_NAMES.split(), start=1)} | {
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
}
_SPELLINGS_BY_UNIT = {  # longest unit first: parts must go from long to short
    "year": "year years yr yrs y",
    "month": "month months",
    "fortnight": "fortnight fortnights",
    "week": "week weeks wk wks w",
    "day": "day days d",
    "hour": "hour hours hr hrs h",
    "minute": "minute minutes min mins m",
    "second": "second seconds sec secs s",
}
UNIT_SPELLINGS = {
    spelling: unit for unit, names in _SPELLINGS_BY_UNIT.items() for spelling in names.split()
}
_UNIT_ORDER = list(_SPELLINGS_BY_UNIT)
_MONTHS_PER_UNIT = {"year": 12, "month": 1}
_DAYS_PER_UNIT = {"fortnight": 14, "week": 7, "day": 1}
_SECONDS_PER_UNIT = {"hour": 3600, "minute": 60, "second": 1}
_MAX_PARTS = 6
_HALF, _QUARTER = Fraction(1, 2), Fraction(1, 4)
_HOUR_DECIMALS = ("00", "25", "50", "75")  # `1.30 hours` may mean 1 hour 30 minutes
_FRACTION_SIGNS = {"½": _HALF, "¼": _QUARTER, "¾": 3 * _QUARTER}


@dataclass(frozen=True, slots=True)
class CalendarDuration:
    """A duration. Months and days follow the calendar; `exact` is elapsed time."""

    months: int = 0
    days: int = 0
    exact: timedelta = timedelta(0)

    @property
    def is_calendar(self) -> bool:
        """Whether it leads to the same wall-clock time on another day."""
        return bool(self.months or self.days) and not self.exact

    @property
    def total(self) -> timedelta:
        return timedelta(days=self.days) + self.exact

    def add_to(self, wall_time: datetime) -> datetime:
        """Add months and days. A day that the month lacks becomes its last day."""
        year, month = divmod(wall_time.year * 12 + wall_time.month - 1 + self.months, 12)
        day = min(wall_time.day, monthrange(year, month + 1)[1])
        return wall_time.replace(year=year, month=month + 1, day=day) + timedelta(days=self.days)


def take_duration(tokens: TokenStream) -> CalendarDuration | None:
    """Return the duration that comes next, or None. Asks back if it is vague or too long."""
    _refuse_vague(tokens)
    first = tokens.try_take(_take_part)
    if first is None:
        return None
    parts = [first]
    while len(parts) < _MAX_PARTS and (more := _take_next_part(tokens, parts[-1][1])):
        parts.append(more)
    return _sum_parts(parts)


def _refuse_vague(tokens: TokenStream) -> None:
    ahead = 1 if tokens.peek().text == "a" else 0
    unit = UNIT_SPELLINGS.get(tokens.peek(ahead + 1).text)
    if tokens.peek(ahead).text in ("few", "several", "some", "many") and unit:
        raise ClarificationNeededError(f"How many {unit}s? Example: in 3 {unit}s")


def _take_part(tokens: TokenStream) -> tuple[Fraction, str] | None:
    amount = _take_amount(tokens)
    decimals = tokens.peek(-1).text if tokens.peek(-2).text in (".", ",") else ""
    if amount is None:
        return None
    if _take_and_a_half(tokens):
        amount += _HALF
    unit = UNIT_SPELLINGS.get(tokens.peek().text.removesuffix("'s"))
    if unit is None or (tokens.next().text.endswith("'s") and tokens.peek().text != "time"):
        return None
    if unit == "hour" and len(decimals) == 2 and decimals not in _HOUR_DECIMALS:
        raise ClarificationNeededError("How long is that? Example: 1 hour 30 minutes")
    return amount + _take_remainder(tokens, unit), unit


def _take_amount(tokens: TokenStream) -> Fraction | None:
    if tokens.take_phrase("a half") or tokens.take("half"):
        tokens.take("of", "-")
        is_whole = bool(tokens.take("a", "an"))
        tokens.take_adjacent("-")
        return _HALF if is_whole or tokens.peek().text in UNIT_SPELLINGS else None
    if quarters := tokens.try_take(_take_quarters):
        return quarters
    if tokens.take_phrase("a couple") or tokens.take("couple"):
        tokens.take("of")
        return Fraction(2)
    if tokens.take("a", "an"):
        return Fraction(1)
    return (
        _take_number_words(tokens) if tokens.peek().text in NUMBER_WORDS else _take_digits(tokens)
    )


def _take_quarters(tokens: TokenStream) -> Fraction | None:
    number = 3 if tokens.take("three") else 1 if tokens.take("a", "one") else 0
    if number and tokens.take("quarter", "quarters"):
        tokens.take("of")
        is_whole = tokens.take("a", "an") or tokens.peek().text == "hour"
        return number * _QUARTER if is_whole else None
    return None


def _take_number_words(tokens: TokenStream) -> Fraction:
    number = NUMBER_WORDS[tokens.next().text]
    ones = NUMBER_WORDS.get(
        tokens.peek(1).text if tokens.peek().text == "-" else tokens.peek().text, 0
    )
    if number >= 20 and 1 <= ones <= 9:
        tokens.take("-")
        tokens.next()
        number += ones
    return Fraction(number)


def _take_digits(tokens: TokenStream) -> Fraction | None:
    if tokens.peek().is_number and len(tokens.peek().text) > 9:
        raise ClarificationNeededError(TOO_FAR_MESSAGE)
    whole = tokens.take_number(9)
    if whole is None:
        return (
            _FRACTION_SIGNS.get(tokens.next().text)
            if tokens.peek().text in _FRACTION_SIGNS
            else None
        )
    sign, decimals = tokens.peek(), tokens.peek(1)
    is_decimal = sign.text == "." or (sign.text == "," and len(decimals.text) <= 2)
    if is_decimal and sign.is_adjacent and decimals.is_adjacent and decimals.is_number:
        tokens.position += 2
        return Fraction(f"{whole.text}.{decimals.text[:6]}")
    if tokens.peek().is_adjacent and tokens.peek().text in _FRACTION_SIGNS:
        return int(whole.text) + _FRACTION_SIGNS[tokens.next().text]
    return Fraction(int(whole.text))


def _take_and_a_half(tokens: TokenStream) -> bool:
    """Match `one and a half hours`."""
    return tokens.peek(3).text in UNIT_SPELLINGS and tokens.take_phrase("and a half")


def _take_remainder(tokens: TokenStream, unit: str) -> Fraction:
    """Match `an hour and a half`, `2h30`."""
    if tokens.take_phrase("and a half") or tokens.take_phrase("& a half"):
        return _HALF
    if unit == "hour" and tokens.take_phrase("and a quarter"):
        return _QUARTER
    minutes = tokens.peek()
    is_last = tokens.peek(1).text not in UNIT_SPELLINGS and not tokens.peek(1).is_adjacent
    if unit == "hour" and minutes.is_adjacent and minutes.is_number and is_last:
        return Fraction(int(tokens.next().text[:3]), 60)
    return Fraction(0)


def _take_next_part(tokens: TokenStream, last_unit: str) -> tuple[Fraction, str] | None:
    def read(words: TokenStream) -> tuple[Fraction, str] | None:
        words.take(",")
        if not words.take("and") and not words.peek().is_number:
            return None
        part = _take_part(words)
        is_shorter = part is not None and _UNIT_ORDER.index(part[1]) > _UNIT_ORDER.index(last_unit)
        return part if is_shorter else None

    return tokens.try_take(read)


def _sum_parts(parts: list[tuple[Fraction, str]]) -> CalendarDuration:
    months = sum((amount * _MONTHS_PER_UNIT.get(unit, 0) for amount, unit in parts), Fraction(0))
    days = sum((amount * _DAYS_PER_UNIT.get(unit, 0) for amount, unit in parts), Fraction(0))
    seconds = sum((amount * _SECONDS_PER_UNIT.get(unit, 0) for amount, unit in parts), Fraction(0))
    if (months * 31 + days) * 86_400 + seconds > MAX_DURATION.total_seconds() * Fraction(31, 30):
        raise ClarificationNeededError(TOO_FAR_MESSAGE)
    if days.denominator > 1 or (seconds and not months):
        days, seconds = Fraction(0), seconds + days * 86_400
    if months.denominator > 1 or (months and seconds):
        raise ClarificationNeededError(
            "Months differ in length. Write days instead. Example: in 45 days"
        )
    exact = timedelta(milliseconds=round(seconds * 1000))
    return CalendarDuration(int(months), int(days), exact)
