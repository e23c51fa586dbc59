"""Dates as people write them: `2026-02-17`, `17.2.`, `feb 17`, `the 1st`."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from duecourse.domain.naturaltime.duration import TOO_FAR
from duecourse.domain.naturaltime.labels import say_date, which
from duecourse.domain.naturaltime.tokens import AskBackError, Words

_MONTH_NAMES = (
    "january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,"
    "september sep sept,october oct,november nov,december dec"
)
MONTHS = {
    name: number
    for number, names in enumerate(_MONTH_NAMES.split(","), start=1)
    for name in names.split()
}
_ORDINAL_NAMES = "first second third fourth fifth sixth seventh eighth ninth tenth"
_ORDINALS = _ORDINAL_NAMES.split()
_ENDINGS = ("st", "nd", "rd", "th")
_JUST_PASSED = timedelta(days=60)
_CENTURY = 100


def take_date(words: Words, today: date) -> date | None:
    """A day of some month, in the year named or else the next one that has it."""
    found = take_written_date(words)
    return _resolved(*found, today) if found else None


def take_written_date(words: Words) -> tuple[int, int, int | None] | None:
    """Day, month and year as they are written."""
    is_led = bool(words.take("on"))
    return (
        words.attempt(_iso)
        or words.attempt(_by_signs, is_led=is_led)
        or words.attempt(take_named_date)
    )


def _resolved(day: int, month: int, year: int | None, today: date) -> date:
    if year is not None:
        return checked_date(year, month, day, today)
    if (month, day) == (2, 29):
        return _leap_day(today)
    this_year = _existing(today.year, month, day)
    if this_year >= today:
        return this_year
    if today - this_year < _JUST_PASSED:
        raise AskBackError(
            f"{say_date(this_year)} has passed. Which year do you mean? Write it with the date."
        )
    return this_year.replace(year=today.year + 1)


def _leap_day(today: date) -> date:
    for year in (today.year, today.year + 1):
        if monthrange(year, 2)[1] == 29 and date(year, 2, 29) >= today:
            return date(year, 2, 29)
    raise AskBackError("There is no 29 February in the next year. Which day do you mean?")


def checked_date(year: int, month: int, day: int, today: date) -> date:
    """Asks back a day that there is not, that has passed, or that is too far away."""
    found = _existing(year, month, day)
    if year > today.year + _CENTURY:
        raise AskBackError(TOO_FAR)
    if found < today:
        raise AskBackError(f"{say_date(found)} has passed. Which day do you mean?")
    return found


def _existing(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        name = f"{date(2000, month, 1):%B}" if 1 <= month <= 12 else f"a month {month}"
        raise AskBackError(f"There is no day {day} in {name}. Which day do you mean?") from None


def take_ordinal(words: Words, *, needs_ending: bool = True) -> int | None:
    """`1st`, `15th`, `first`; a mere `1` where nothing else can be meant."""
    if words.peek().text in _ORDINALS:
        return _ORDINALS.index(words.next().text) + 1
    number = words.number()
    if number is None or (not words.take_glued(*_ENDINGS) and needs_ending):
        return None
    return int(number.text)


def take_named_date(words: Words) -> tuple[int, int, int | None] | None:
    """`17 february 2026`, `the 17th of feb`, `feb 17`"""
    words.take("the")
    if words.peek().text in MONTHS:
        month = MONTHS[words.next().text]
        words.take_glued(".")
        day = take_ordinal(words, needs_ending=False)
        if day is None or words.peek().text == ":":
            return None
        return day, month, _year(words)
    day = take_ordinal(words, needs_ending=False)
    if day is not None:
        words.take_glued(".")
        words.take("of")
    month_word = words.peek().text
    if day is None or month_word not in MONTHS:
        return None
    words.next()
    if words.peek(1).text != "":
        words.take_glued(".")
    return day, MONTHS[month_word], _year(words)


def _year(words: Words) -> int | None:
    if words.peek().text in ("'", "’") and words.peek(1).is_glued and words.peek(1).is_number:
        words.next()
        return _short_or_long_year(words)
    ahead = 1 if words.peek().text == "," else 0
    year = words.peek(ahead)
    is_time = words.peek(ahead + 1).text in (":", "am", "pm", "h", "hrs")
    if not year.is_number or len(year.text) != 4 or int(year.text) < 1900 or is_time:
        return None
    words.at += ahead + 1
    return int(year.text)


def _iso(words: Words) -> tuple[int, int, int] | None:
    year = words.peek()
    if not year.is_number or len(year.text) != 4:
        return None
    words.next()
    sign = words.take_glued("-", "/", ".")
    month = words.number()
    if not sign or month is None or not words.take_glued(sign):
        return None
    day = words.number()
    if day is None:
        return None
    words.take_glued("t")
    return int(day.text), int(month.text), int(year.text)


def _by_signs(words: Words, *, is_led: bool) -> tuple[int, int, int | None] | None:
    """`17.2.`, `17/02/2026`, `17-02-2026`"""
    first = words.number()
    sign = words.take_glued(".", "/", "-")
    second = words.number() if sign and words.peek().is_glued else None
    if first is None or second is None:
        return None
    ends, year = bool(words.take_glued(sign)), None
    if ends and words.peek().is_glued and words.peek().is_number:
        year = _short_or_long_year(words)
        if year is None:
            return None
    one, two = int(first.text), int(second.text)
    match sign:
        case "." if year or ends or is_led or _has_time_next(words):
            return (one, two, year) if 1 <= one <= 31 and 1 <= two <= 12 else None
        case "/" if ends == (year is not None):
            return _slashed(one, two, year)
        case "-" if year:
            return one, two, year
    return None


def _short_or_long_year(words: Words) -> int | None:
    text = words.next().text
    if len(text) == 2:
        return 2000 + int(text)
    return int(text) if len(text) == 4 else None


def _has_time_next(words: Words) -> bool:
    return words.peek().text == "at" or (words.peek().is_number and words.peek(1).text == ":")


def _slashed(one: int, two: int, year: int | None) -> tuple[int, int, int | None] | None:
    if (one, two) == (24, 7) and year is None:  # people work around the clock
        return None
    if not (1 <= one <= 31 and 1 <= two <= 31) or (one > 12 and two > 12):
        return None
    if one <= 12 and two <= 12 and one != two:
        raise which(_day_of_month(one, two), _day_of_month(two, one))
    return (one, two, year) if two <= 12 else (two, one, year)


def _day_of_month(day: int, month: int) -> str:
    return f"{day} {date(2000, month, 1):%B}"


_DAY = timedelta(days=1)


def next_month(day: date) -> date:
    """Its first day."""
    return (day.replace(day=1) + 31 * _DAY).replace(day=1)


def last_of(day: date) -> date:
    return next_month(day) - _DAY


def place_in_month(month: date, place: int, weekday: int | None) -> date | None:
    """From the month's first day: the nth of its days that are that weekday, -1 for the last."""
    days = [month + _DAY * ahead for ahead in range(monthrange(month.year, month.month)[1])]
    fitting = [day for day in days if weekday is None or day.weekday() == weekday]
    at = place - 1 if place > 0 else len(fitting) + place
    return fitting[at] if 0 <= at < len(fitting) else None


def next_with(day: int, today: date) -> date:
    """The next day, from today on, that has this number in its month."""
    if not 1 <= day <= 31:
        raise AskBackError(f"No month has a day {day}. Which day do you mean?")
    month = today.replace(day=1)
    while (found := place_in_month(month, day, None)) is None or found < today:
        month = next_month(month)
    return found
