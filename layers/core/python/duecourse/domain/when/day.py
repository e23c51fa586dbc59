"""Days as people name them: `tomorrow`, `on friday`, `next week`, `the last day of the month`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from duecourse.domain.when.clock import PARTS_OF_DAY, PartOfDay
from duecourse.domain.when.date import MONTHS, checked_date, take_date, take_ordinal
from duecourse.domain.when.month import last_of, next_month, next_with, place_in_month
from duecourse.domain.when.say import say_date, which
from duecourse.domain.when.weekday import FULL_NAMES, WEEKDAYS, take_weekday
from duecourse.domain.when.words import AskBackError, Words
from duecourse.domain.when.written_clock import AT

_DAY = timedelta(days=1)
_ALSO_WORDS = ("sun", "sat", "wed")  # a weekday only where the words beside it say so
_SATURDAY, _SUNDAY = 5, 6


@dataclass(frozen=True, slots=True)
class Day:
    """A day, and if that is today by its name, the later day that may be meant as well."""

    first: date
    later: date | None = None
    part_of_day: PartOfDay | None = None


def take_day(words: Words, today: date) -> Day | None:
    """Asks back where two days may be meant, and where the day has passed."""
    for read in (_near, _weekday, _ahead, _dated, _of_month):
        day = words.attempt(read, today)
        if day:
            words.attempt(_own_name, day.first)
            return day
    return None


def _own_name(words: Words, day: date) -> int | None:
    """`tomorrow, tuesday`"""
    words.take(",")
    number = take_weekday(words)
    return number if number == day.weekday() else None


def _near(words: Words, today: date) -> Day | None:
    if words.take("yesterday"):
        raise AskBackError("Yesterday has passed. Which day do you mean?")
    words.take("on")
    words.take("the")
    if words.take_all("day after tomorrow"):
        return Day(today + 2 * _DAY)
    if words.take("tomorrow", "tmrw", "tmr"):
        return Day(today + _DAY)
    if words.take("tonight"):
        return Day(today, part_of_day=PartOfDay.NIGHT)
    if words.take("today"):
        return Day(today)
    if words.peek().text == "this" and words.peek(1).text in PARTS_OF_DAY:
        words.next()
        return Day(today, part_of_day=PARTS_OF_DAY[words.next().text])
    return None


def _weekday(words: Words, today: date) -> Day | None:
    is_led = bool(words.take("on"))
    which_one = words.take("this", "next", "coming", "last")
    if which_one == "this" and words.take("coming"):
        which_one = "coming"
    name = words.peek().text
    number = take_weekday(words)
    if number is None or (name in _ALSO_WORDS and not (is_led or which_one or _is_beside(words))):
        return None
    if words.take_all("next week"):
        which_one = "next week"
    elif words.peek().text == "week":
        raise AskBackError("Which day do you mean? Write its date.")
    dated = words.attempt(_and_date, today)
    if dated is None:
        return _of_name(which_one, number, today)
    if dated.weekday() != number:
        raise AskBackError(
            f"{say_date(dated)} is no {FULL_NAMES[number].title()}. Which do you mean?"
        )
    return Day(dated)


def _is_beside(words: Words) -> bool:
    follows = words.peek()
    if follows.text in WEEKDAYS or (follows.text == "/" and words.peek(1).text in WEEKDAYS):
        return True
    return follows.is_number or follows.text in (*AT, *PARTS_OF_DAY, "noon", "midnight", ",")


def _and_date(words: Words, today: date) -> date | None:
    """`friday, 20 november`, `friday the 20th`"""
    words.take(",")
    if found := words.attempt(take_date, today):
        return found
    words.take("the")
    day = take_ordinal(words)
    return next_with(day, today) if day else None


def _of_name(which_one: str, number: int, today: date) -> Day:
    coming = today + _DAY * ((number - today.weekday()) % 7)
    monday = _next_monday(today)
    match which_one:
        case "last":
            raise AskBackError("That day has passed. Which day do you mean?")
        case "next week":
            return Day(monday + _DAY * number)
        case "next" if coming != today:
            if coming < monday or today.weekday() == _SUNDAY:
                raise which(say_date(coming), say_date(coming + 7 * _DAY))
            return Day(coming)
        case "next":
            return Day(today + 7 * _DAY)
        case "this" if coming >= monday:
            raise AskBackError(f"Did you mean {say_date(coming)}? Then write its date.")
    return Day(coming, later=coming + 7 * _DAY if coming == today else None)


def _next_monday(today: date) -> date:
    return today + _DAY * (7 - today.weekday())


def _ahead(words: Words, today: date) -> Day | None:
    """`next week on friday`, `next month`, `this weekend`"""
    words.take("on", "at", "over")
    which_one = words.take("this", "next", "the", "coming")
    match which_one and words.take("week", "weekend", "month", "year"):
        case "weekend":
            return _weekend(which_one, today)
        case "week" if which_one == "next":
            return _in_week_after(words, today)
        case "month" if which_one == "next":
            return _in_month_after(words, today)
        case "year" if which_one == "next":
            return Day(date(today.year + 1, 1, 1))
    return None


def _weekend(which_one: str, today: date) -> Day:
    if today.weekday() >= _SATURDAY:
        raise AskBackError("Which weekend do you mean, and which day of it?")
    saturday = today + _DAY * (_SATURDAY - today.weekday())
    if which_one == "next":
        raise which(say_date(saturday), say_date(saturday + 7 * _DAY))
    return Day(saturday)


def _in_week_after(words: Words, today: date) -> Day:
    def named(words: Words) -> int | None:
        is_led = bool(words.take("on", ","))
        return take_weekday(words) if is_led or words.peek().text in FULL_NAMES else None

    number = words.attempt(named)
    return Day(_next_monday(today) + _DAY * (number or 0))


def _in_month_after(words: Words, today: date) -> Day:
    def named(words: Words) -> int | None:
        return take_ordinal(words) if words.take_all("on the") else None

    day = words.attempt(named)
    first = next_month(today)
    return Day(checked_date(first.year, first.month, day or 1, today))


def _dated(words: Words, today: date) -> Day | None:
    found = take_date(words, today)
    return Day(found) if found else None


def _of_month(words: Words, today: date) -> Day | None:
    """`on the 1st`, `on the last day of the month`, `on the first monday of may`"""
    if _end_of_month(words):
        return Day(last_of(today))
    if not words.take("on"):
        return None
    has_article = bool(words.take("the"))
    last = has_article and words.take("last")
    day = -1 if last else take_ordinal(words)
    if day is None:
        return None
    if words.take("day") or last or words.peek().text in WEEKDAYS:
        return _placed(words, day, today)
    if not words.take_all("of the month") and (month := _take_month(words, today)):
        return Day(checked_date(month.year, month.month, day, today))
    found = next_with(day, today)
    return Day(found, later=next_with(day, today + _DAY) if found == today else None)


def _end_of_month(words: Words) -> bool:
    words.take("at")
    words.take("the")
    return words.take_all("end of the month") or words.take_all("end of month")


def _placed(words: Words, place: int, today: date) -> Day | None:
    """The nth weekday, or the last day, of a month that is named."""
    weekday = take_weekday(words)
    month = _take_month(words, today)
    if month is None:
        raise AskBackError("Of which month? For example: on the last friday of the month.")
    found = place_in_month(month, place, weekday)
    if found is None or found < today:
        raise AskBackError("There is no such day ahead in that month. Which day do you mean?")
    return Day(found)


def _take_month(words: Words, today: date) -> date | None:
    """The first day of the month that follows `of`."""
    if words.take_all("of the month") or words.take_all("of this month"):
        return today.replace(day=1)
    if words.take_all("of next month"):
        return next_month(today)
    if words.peek().text == "of" and words.peek(1).text in MONTHS:
        words.next()
        month = MONTHS[words.next().text]
        return date(today.year + (month < today.month), month, 1)
    return None
