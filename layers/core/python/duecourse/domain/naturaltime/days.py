"""Parse one day as people name it: `tomorrow`, `next friday`, `this weekend`, `on the 1st`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from duecourse.domain.naturaltime.clock import AT_WORDS
from duecourse.domain.naturaltime.clock_time import PARTS_OF_DAY, PartOfDay
from duecourse.domain.naturaltime.dates import (
    MONTHS,
    first_of_next_month,
    last_day_of_month,
    next_day_with_number,
    nth_day_in_month,
    take_date,
    take_ordinal,
    validate_date,
)
from duecourse.domain.naturaltime.labels import ASK_DATE, ambiguity_error, format_date
from duecourse.domain.naturaltime.tokens import ClarificationNeededError, TokenStream
from duecourse.domain.naturaltime.weekdays import FULL_NAMES, WEEKDAYS, take_weekday

_DAY = timedelta(days=1)
# Also English words: a weekday only if the words beside it say so.
_AMBIGUOUS_WEEKDAYS = ("sun", "sat", "wed")
_SATURDAY, _SUNDAY = 5, 6


@dataclass(frozen=True, slots=True)
class ParsedDay:
    """A day. If it is today by its name, `alternative` is the later day that may be meant."""

    day: date
    alternative: date | None = None
    part_of_day: PartOfDay | None = None


def take_day(tokens: TokenStream, today: date) -> ParsedDay | None:
    """Return the day that comes next. Asks back if it is ambiguous or has passed."""
    for read in (
        _take_near_day,
        _take_weekday_phrase,
        _take_period_ahead,
        _take_dated_day,
        _take_day_of_month,
    ):
        day = tokens.try_take(read, today)
        if day:
            tokens.try_take(_take_matching_weekday, day.day)
            return day
    return None


def _take_matching_weekday(tokens: TokenStream, day: date) -> int | None:
    """Match `tomorrow, tuesday`."""
    tokens.take(",")
    number = take_weekday(tokens)
    return number if number == day.weekday() else None


def _take_near_day(tokens: TokenStream, today: date) -> ParsedDay | None:
    if tokens.take("yesterday"):
        raise ClarificationNeededError(
            "Yesterday has passed. Write a later day. Example: tomorrow at 9:00"
        )
    tokens.take("on")
    tokens.take("the")
    if tokens.take_phrase("day after tomorrow"):
        return ParsedDay(today + 2 * _DAY)
    if tokens.take("tomorrow", "tmrw", "tmr"):
        return ParsedDay(today + _DAY)
    if tokens.take("tonight"):
        return ParsedDay(today, part_of_day=PartOfDay.NIGHT)
    if tokens.take("today"):
        return ParsedDay(today)
    if tokens.peek().text == "this" and tokens.peek(1).text in PARTS_OF_DAY:
        tokens.next()
        return ParsedDay(today, part_of_day=PARTS_OF_DAY[tokens.next().text])
    return None


def _take_weekday_phrase(tokens: TokenStream, today: date) -> ParsedDay | None:
    is_led = bool(tokens.take("on"))
    which_one = tokens.take("this", "next", "coming", "last")
    if which_one == "this" and tokens.take("coming"):
        which_one = "coming"
    name = tokens.peek().text
    number = take_weekday(tokens)
    if number is None or (
        name in _AMBIGUOUS_WEEKDAYS and not (is_led or which_one or _is_followed_by_time(tokens))
    ):
        return None
    if tokens.take_phrase("next week"):
        which_one = "next week"
    elif tokens.peek().text == "week":
        raise ClarificationNeededError(ASK_DATE)
    dated = tokens.try_take(_take_date_after_weekday, today)
    if dated is None:
        return _resolve_weekday(which_one, number, today)
    if dated.weekday() != number:
        raise ClarificationNeededError(
            f"{format_date(dated)} is not a {FULL_NAMES[number].title()}. "
            "Write only the date, or only the weekday."
        )
    return ParsedDay(dated)


def _is_followed_by_time(tokens: TokenStream) -> bool:
    follows = tokens.peek()
    if follows.text in WEEKDAYS or (follows.text == "/" and tokens.peek(1).text in WEEKDAYS):
        return True
    return follows.is_number or follows.text in (*AT_WORDS, *PARTS_OF_DAY, "noon", "midnight", ",")


def _take_date_after_weekday(tokens: TokenStream, today: date) -> date | None:
    """Match `friday, 20 november`, `friday the 20th`."""
    tokens.take(",")
    if found := tokens.try_take(take_date, today):
        return found
    tokens.take("the")
    day = take_ordinal(tokens)
    return next_day_with_number(day, today) if day else None


def _resolve_weekday(which_one: str, number: int, today: date) -> ParsedDay:
    coming = today + _DAY * ((number - today.weekday()) % 7)
    monday = _next_monday(today)
    match which_one:
        case "last":
            raise ClarificationNeededError(
                "That day has passed. Write a later day. Example: tomorrow at 9:00"
            )
        case "next week":
            return ParsedDay(monday + _DAY * number)
        case "next" if coming != today:
            if coming < monday or today.weekday() == _SUNDAY:
                raise ambiguity_error(format_date(coming), format_date(coming + 7 * _DAY))
            return ParsedDay(coming)
        case "next":
            return ParsedDay(today + 7 * _DAY)
        case "this" if coming >= monday:
            raise ClarificationNeededError(
                f"Did you mean {format_date(coming)}? Then write that date."
            )
    return ParsedDay(coming, alternative=coming + 7 * _DAY if coming == today else None)


def _next_monday(today: date) -> date:
    return today + _DAY * (7 - today.weekday())


def _take_period_ahead(tokens: TokenStream, today: date) -> ParsedDay | None:
    """Match `next week on friday`, `next month`, `this weekend`."""
    tokens.take("on", "at", "over")
    which_one = tokens.take("this", "next", "the", "coming")
    match which_one and tokens.take("week", "weekend", "month", "year"):
        case "weekend":
            return _resolve_weekend(which_one, today)
        case "week" if which_one == "next":
            return _take_day_next_week(tokens, today)
        case "month" if which_one == "next":
            return _take_day_next_month(tokens, today)
        case "year" if which_one == "next":
            return ParsedDay(date(today.year + 1, 1, 1))
    return None


def _resolve_weekend(which_one: str, today: date) -> ParsedDay:
    if today.weekday() >= _SATURDAY:
        raise ClarificationNeededError(ASK_DATE)
    saturday = today + _DAY * (_SATURDAY - today.weekday())
    if which_one == "next":
        raise ambiguity_error(format_date(saturday), format_date(saturday + 7 * _DAY))
    return ParsedDay(saturday)


def _take_day_next_week(tokens: TokenStream, today: date) -> ParsedDay:
    def named(words: TokenStream) -> int | None:
        is_led = bool(words.take("on", ","))
        return take_weekday(words) if is_led or words.peek().text in FULL_NAMES else None

    number = tokens.try_take(named)
    return ParsedDay(_next_monday(today) + _DAY * (number or 0))


def _take_day_next_month(tokens: TokenStream, today: date) -> ParsedDay:
    def named(words: TokenStream) -> int | None:
        return take_ordinal(words) if words.take_phrase("on the") else None

    day = tokens.try_take(named)
    first = first_of_next_month(today)
    return ParsedDay(validate_date(first.year, first.month, day or 1, today))


def _take_dated_day(tokens: TokenStream, today: date) -> ParsedDay | None:
    found = take_date(tokens, today)
    return ParsedDay(found) if found else None


def _take_day_of_month(tokens: TokenStream, today: date) -> ParsedDay | None:
    """Match `on the 1st`, `on the last day of the month`, `on the first monday of may`."""
    if _take_end_of_month(tokens):
        return ParsedDay(last_day_of_month(today))
    if not tokens.take("on"):
        return None
    has_article = bool(tokens.take("the"))
    last = has_article and tokens.take("last")
    day = -1 if last else take_ordinal(tokens)
    if day is None:
        return None
    if tokens.take("day") or last or tokens.peek().text in WEEKDAYS:
        return _take_nth_day_of_month(tokens, day, today)
    if not tokens.take_phrase("of the month") and (month := _take_month(tokens, today)):
        return ParsedDay(validate_date(month.year, month.month, day, today))
    found = next_day_with_number(day, today)
    return ParsedDay(
        found, alternative=next_day_with_number(day, today + _DAY) if found == today else None
    )


def _take_end_of_month(tokens: TokenStream) -> bool:
    tokens.take("at")
    tokens.take("the")
    return tokens.take_phrase("end of the month") or tokens.take_phrase("end of month")


def _take_nth_day_of_month(tokens: TokenStream, place: int, today: date) -> ParsedDay | None:
    """Match the nth weekday or the last day of a named month. Asks back without a month."""
    weekday = take_weekday(tokens)
    month = _take_month(tokens, today)
    if month is None:
        raise ClarificationNeededError("Of which month? Example: on the last friday of the month")
    found = nth_day_in_month(month, place, weekday)
    if found is None or found < today:
        raise ClarificationNeededError(
            "That month has no such day ahead. Write a date. Example: on 17 february"
        )
    return ParsedDay(found)


def _take_month(tokens: TokenStream, today: date) -> date | None:
    """Return the first day of the month after `of`, or None."""
    if tokens.take_phrase("of the month") or tokens.take_phrase("of this month"):
        return today.replace(day=1)
    if tokens.take_phrase("of next month"):
        return first_of_next_month(today)
    if tokens.peek().text == "of" and tokens.peek(1).text in MONTHS:
        tokens.next()
        month = MONTHS[tokens.next().text]
        return date(today.year + (month < today.month), month, 1)
    return None
