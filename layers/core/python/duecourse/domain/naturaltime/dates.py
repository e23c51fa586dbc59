"""Parse dates as people write them: `2026-02-17`, `17.2.`, `feb 17`, `the 1st`."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from duecourse.domain.naturaltime.duration import TOO_FAR_MESSAGE
from duecourse.domain.naturaltime.labels import ambiguity_error, format_date
from duecourse.domain.naturaltime.tokens import ClarificationNeededError, TokenStream

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
_ORDINAL_SUFFIXES = ("st", "nd", "rd", "th")
_RECENT_PAST = timedelta(days=60)
_MAX_YEARS_AHEAD = 100


def take_date(tokens: TokenStream, today: date) -> date | None:
    """Return a date, in the given year or else in the next year that has it."""
    found = take_date_parts(tokens)
    return _resolve_year(*found, today) if found else None


def take_date_parts(tokens: TokenStream) -> tuple[int, int, int | None] | None:
    """Return day, month and year as written."""
    is_led = bool(tokens.take("on"))
    return (
        tokens.try_take(_take_iso_date)
        or tokens.try_take(_take_numeric_date, is_led=is_led)
        or tokens.try_take(take_named_date)
    )


def _resolve_year(day: int, month: int, year: int | None, today: date) -> date:
    if year is not None:
        return validate_date(year, month, day, today)
    if (month, day) == (2, 29):
        return _next_leap_day(today)
    this_year = _to_date(today.year, month, day)
    if this_year >= today:
        return this_year
    if today - this_year < _RECENT_PAST:
        raise ClarificationNeededError(
            f"{format_date(this_year)} has passed. Write the date with its year. "
            f"Example: {_format_day_of_month(day, month)} {today.year + 1}"
        )
    return this_year.replace(year=today.year + 1)


def _next_leap_day(today: date) -> date:
    for year in (today.year, today.year + 1):
        if monthrange(year, 2)[1] == 29 and date(year, 2, 29) >= today:
            return date(year, 2, 29)
    raise ClarificationNeededError(
        "The next 12 months have no 29 February. Write another date. Example: on 28 february"
    )


def validate_date(year: int, month: int, day: int, today: date) -> date:
    """Return the date. Asks back if it does not exist, has passed or is too far away."""
    found = _to_date(year, month, day)
    if year > today.year + _MAX_YEARS_AHEAD:
        raise ClarificationNeededError(TOO_FAR_MESSAGE)
    if found < today:
        raise ClarificationNeededError(f"{format_date(found)} has passed. Write a later date.")
    return found


def _to_date(year: int, month: int, day: int) -> date:
    try:
        return date(year, month, day)
    except ValueError:
        missing = (
            f"{date(2000, month, 1):%B} has no day {day}"
            if 1 <= month <= 12
            else f"There is no month {month}"
        )
        raise ClarificationNeededError(f"{missing}. Write another date.") from None


def take_ordinal(tokens: TokenStream, *, is_suffix_required: bool = True) -> int | None:
    """Match `1st`, `15th` or `first`, and a bare `1` unless `is_suffix_required`."""
    if tokens.peek().text in _ORDINALS:
        return _ORDINALS.index(tokens.next().text) + 1
    number = tokens.take_number()
    if number is None or (not tokens.take_adjacent(*_ORDINAL_SUFFIXES) and is_suffix_required):
        return None
    return int(number.text)


def take_ordinals(tokens: TokenStream) -> list[int]:
    """Match `1st`, `1st and 15th`."""
    day = take_ordinal(tokens)
    days = []
    while day is not None:
        days.append(day)
        day = tokens.try_take(_take_next_ordinal)
    return days


def _take_next_ordinal(tokens: TokenStream) -> int | None:
    is_listed = bool(tokens.take(","))
    is_listed = bool(tokens.take("and", "&")) or is_listed
    tokens.take("the")
    return take_ordinal(tokens) if is_listed else None


def take_named_date(tokens: TokenStream) -> tuple[int, int, int | None] | None:
    """Match `17 february 2026`, `the 17th of feb`, `feb 17`."""
    tokens.take("the")
    if tokens.peek().text in MONTHS:
        month = MONTHS[tokens.next().text]
        tokens.take_adjacent(".")
        day = take_ordinal(tokens, is_suffix_required=False)
        if day is None or tokens.peek().text == ":":
            return None
        return day, month, _take_year(tokens)
    day = take_ordinal(tokens, is_suffix_required=False)
    if day is not None:
        tokens.take_adjacent(".")
        tokens.take("of")
    month_word = tokens.peek().text
    if day is None or month_word not in MONTHS:
        return None
    tokens.next()
    if tokens.peek(1).text != "":
        tokens.take_adjacent(".")
    return day, MONTHS[month_word], _take_year(tokens)


def _take_year(tokens: TokenStream) -> int | None:
    if tokens.peek().text in ("'", "’") and tokens.peek(1).is_adjacent and tokens.peek(1).is_number:
        tokens.next()
        return _take_short_or_long_year(tokens)
    ahead = 1 if tokens.peek().text == "," else 0
    year = tokens.peek(ahead)
    is_time = tokens.peek(ahead + 1).text in (":", "am", "pm", "h", "hrs")
    if not year.is_number or len(year.text) != 4 or int(year.text) < 1900 or is_time:
        return None
    tokens.position += ahead + 1
    return int(year.text)


def _take_iso_date(tokens: TokenStream) -> tuple[int, int, int] | None:
    year = tokens.peek()
    if not year.is_number or len(year.text) != 4:
        return None
    tokens.next()
    sign = tokens.take_adjacent("-", "/", ".")
    month = tokens.take_number()
    if not sign or month is None or not tokens.take_adjacent(sign):
        return None
    day = tokens.take_number()
    if day is None:
        return None
    tokens.take_adjacent("t")
    return int(day.text), int(month.text), int(year.text)


def _take_numeric_date(tokens: TokenStream, *, is_led: bool) -> tuple[int, int, int | None] | None:
    """Match `17.2.`, `17/02/2026`, `17-02-2026`."""
    first = tokens.take_number()
    sign = tokens.take_adjacent(".", "/", "-")
    second = tokens.take_number() if sign and tokens.peek().is_adjacent else None
    if first is None or second is None:
        return None
    ends, year = bool(tokens.take_adjacent(sign)), None
    if ends and tokens.peek().is_adjacent and tokens.peek().is_number:
        year = _take_short_or_long_year(tokens)
        if year is None:
            return None
    one, two = int(first.text), int(second.text)
    match sign:
        case "." if year or ends or is_led or _has_time_next(tokens):
            return (one, two, year) if 1 <= one <= 31 and 1 <= two <= 12 else None
        case "/" if ends == (year is not None):
            return _resolve_slashed_date(one, two, year)
        case "-" if year:
            return one, two, year
    return None


def _take_short_or_long_year(tokens: TokenStream) -> int | None:
    text = tokens.next().text
    if len(text) == 2:
        return 2000 + int(text)
    return int(text) if len(text) == 4 else None


def _has_time_next(tokens: TokenStream) -> bool:
    return tokens.peek().text == "at" or (tokens.peek().is_number and tokens.peek(1).text == ":")


def _resolve_slashed_date(
    one: int, two: int, year: int | None
) -> tuple[int, int, int | None] | None:
    if (one, two) == (24, 7) and year is None:  # `24/7` is no date
        return None
    if not (1 <= one <= 31 and 1 <= two <= 31) or (one > 12 and two > 12):
        return None
    if one <= 12 and two <= 12 and one != two:
        raise ambiguity_error(_format_day_of_month(one, two), _format_day_of_month(two, one))
    return (one, two, year) if two <= 12 else (two, one, year)


def _format_day_of_month(day: int, month: int) -> str:
    return f"{day} {date(2000, month, 1):%B}"


_DAY = timedelta(days=1)


def first_of_next_month(day: date) -> date:
    """Return the first day of the month after `day`."""
    return (day.replace(day=1) + 31 * _DAY).replace(day=1)


def last_day_of_month(day: date) -> date:
    return first_of_next_month(day) - _DAY


def nth_day_in_month(month: date, position: int, weekday: int | None) -> date | None:
    """Return the nth day of a month, or its nth `weekday`; -1 is the last. None if there is none.

    `month` is the first day of the month.
    """
    days = [month + _DAY * ahead for ahead in range(monthrange(month.year, month.month)[1])]
    fitting = [day for day in days if weekday is None or day.weekday() == weekday]
    at = position - 1 if position > 0 else len(fitting) + position
    return fitting[at] if 0 <= at < len(fitting) else None


def next_day_with_number(day: int, today: date) -> date:
    """Return the next date, from today on, with this day of the month."""
    if not 1 <= day <= 31:
        raise ClarificationNeededError(f"No month has a day {day}. Write a day from 1 to 31.")
    month = today.replace(day=1)
    while (found := nth_day_in_month(month, day, None)) is None or found < today:
        month = first_of_next_month(month)
    return found
