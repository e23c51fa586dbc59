"""Days as a repetition lists them: `monday to thursday`, `1st and 15th`, `last friday`."""

from __future__ import annotations

from duecourse.domain.when.clock import PARTS_OF_DAY
from duecourse.domain.when.date import take_ordinal
from duecourse.domain.when.weekday import FULL_NAMES, WEEKDAYS, take_weekday
from duecourse.domain.when.words import Words
from duecourse.domain.when.written_clock import take_clock

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
