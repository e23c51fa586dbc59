"""The days of the week by their names, long and short."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from duecourse.domain.naturaltime.clock import AT, PARTS_OF_DAY, PartOfDay, take_clock
from duecourse.domain.naturaltime.dates import (
    MONTHS,
    checked_date,
    last_of,
    next_month,
    next_with,
    place_in_month,
    take_date,
    take_ordinal,
)
from duecourse.domain.naturaltime.labels import say_date, which
from duecourse.domain.naturaltime.tokens import AskBackError, Words

_NAMES = (
    "monday mon,tuesday tue tues,wednesday wed,thursday thu thur thurs,friday fri,"
    "saturday sat,sunday sun"
)
WEEKDAYS = {
    name: number for number, names in enumerate(_NAMES.split(",")) for name in names.split()
}
FULL_NAMES = tuple(name for name in WEEKDAYS if name.endswith("day"))


def take_weekday(words: Words) -> int | None:
    number = WEEKDAYS.get(words.peek().text)
    if number is not None:
        words.next()
        if words.peek(-1).text not in FULL_NAMES and not words.peek(1).is_glued:
            words.take_glued(".")
    return number


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


PLURALS = {f"{name}s": number for number, name in enumerate(FULL_NAMES)}


def take_weekdays(words: Words) -> frozenset[int]:
    """`monday, wednesday and friday`, `mon wed fri at 8`, `monday to thursday`"""
    last = take_weekday_or_plural(words)
    found = set() if last is None else {last}
    while last is not None and (further := words.attempt(_further_day)):
        is_range, day = further
        between = range((day - last) % 7) if is_range else ()
        found |= {(last + ahead) % 7 for ahead in between} | {day}
        last = day
    return frozenset(found)


def _further_day(words: Words) -> tuple[bool, int] | None:
    is_range = bool(words.take("to", "through", "-", "–"))
    is_listed = bool(words.take(",", "/", "+", ";"))
    is_listed = bool(words.take("and", "&")) or is_listed
    words.take("every", "on")
    day = take_weekday_or_plural(words)
    if day is None or not (is_range or is_listed or _is_within_list(words)):
        return None
    return is_range, day


def _is_within_list(words: Words) -> bool:
    """`every mon wed fri at 8`: without a sign, only what follows tells that a day is listed."""
    follows = words.peek().text
    if words.is_done or follows in (*WEEKDAYS, *PLURALS, *PARTS_OF_DAY, ":", "-", "–"):
        return True
    if follows in ("and", "&", ",", "/", "+") and words.peek(1).text in (*WEEKDAYS, *PLURALS):
        return True
    return words.comes(1 if follows == "," else 0, take_clock, after_day=True)


def take_weekday_or_plural(words: Words) -> int | None:
    if words.peek().text in PLURALS:
        return PLURALS[words.next().text]
    return take_weekday(words)


def take_ordinals(words: Words) -> list[int]:
    """`1st`, `1st and 15th`"""
    day = take_ordinal(words)
    days = []
    while day is not None:
        days.append(day)
        day = words.attempt(_further_ordinal)
    return days


def _further_ordinal(words: Words) -> int | None:
    is_listed = bool(words.take(","))
    is_listed = bool(words.take("and", "&")) or is_listed
    words.take("the")
    return take_ordinal(words) if is_listed else None


def take_place(words: Words) -> int | None:
    """`first`, `2nd`; -1 for `last`"""
    return -1 if words.take("last") else take_ordinal(words)


def take_placed_day(words: Words) -> tuple[int, int | None] | None:
    """`first monday`, `last day`: which one, and of which weekday, if of one."""
    place = take_place(words)
    weekday = take_weekday(words)
    if place is None or (weekday is None and not words.take("day")):
        return None
    return place, weekday
