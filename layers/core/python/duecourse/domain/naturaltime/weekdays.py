"""Parse weekdays: one, a list (`mon, wed and fri`), or a position in a month (`last friday`)."""

from __future__ import annotations

from duecourse.domain.naturaltime.clock import take_clock
from duecourse.domain.naturaltime.clock_time import PARTS_OF_DAY
from duecourse.domain.naturaltime.dates import take_ordinal
from duecourse.domain.naturaltime.tokens import TokenStream

_WEEKDAY_NAMES = (
    "monday mon,tuesday tue tues,wednesday wed,thursday thu thur thurs,friday fri,"
    "saturday sat,sunday sun"
)
WEEKDAYS = {
    name: number for number, names in enumerate(_WEEKDAY_NAMES.split(",")) for name in names.split()
}
FULL_NAMES = tuple(name for name in WEEKDAYS if name.endswith("day"))


def take_weekday(tokens: TokenStream) -> int | None:
    number = WEEKDAYS.get(tokens.peek().text)
    if number is not None:
        tokens.next()
        if tokens.peek(-1).text not in FULL_NAMES and not tokens.peek(1).is_adjacent:
            tokens.take_adjacent(".")
    return number


WEEKDAY_PLURALS = {f"{name}s": number for number, name in enumerate(FULL_NAMES)}


def take_weekdays(tokens: TokenStream) -> frozenset[int]:
    """Match `monday, wednesday and friday`, `mon wed fri at 8`, `monday to thursday`."""
    last = take_weekday_or_plural(tokens)
    found = set() if last is None else {last}
    while last is not None and (further := tokens.try_take(_take_next_day)):
        is_range, day = further
        between = range((day - last) % 7) if is_range else ()
        found |= {(last + ahead) % 7 for ahead in between} | {day}
        last = day
    return frozenset(found)


def _take_next_day(tokens: TokenStream) -> tuple[bool, int] | None:
    is_range = bool(tokens.take("to", "through", "-", "–"))
    is_listed = bool(tokens.take(",", "/", "+", ";"))
    is_listed = bool(tokens.take("and", "&")) or is_listed
    tokens.take("every", "on")
    day = take_weekday_or_plural(tokens)
    if day is None or not (is_range or is_listed or _is_list_continued(tokens)):
        return None
    return is_range, day


def _is_list_continued(tokens: TokenStream) -> bool:
    """Return whether a weekday without a separator belongs to the list: `mon wed fri at 8`.

    Only what follows it tells.
    """
    follows = tokens.peek().text
    if tokens.is_exhausted or follows in (
        *WEEKDAYS,
        *WEEKDAY_PLURALS,
        *PARTS_OF_DAY,
        ":",
        "-",
        "–",
    ):
        return True
    if follows in ("and", "&", ",", "/", "+") and tokens.peek(1).text in (
        *WEEKDAYS,
        *WEEKDAY_PLURALS,
    ):
        return True
    return tokens.can_take(1 if follows == "," else 0, take_clock, is_after_day=True)


def take_weekday_or_plural(tokens: TokenStream) -> int | None:
    if tokens.peek().text in WEEKDAY_PLURALS:
        return WEEKDAY_PLURALS[tokens.next().text]
    return take_weekday(tokens)


def take_position(tokens: TokenStream) -> int | None:
    """Match `first` or `2nd`; return -1 for `last`."""
    return -1 if tokens.take("last") else take_ordinal(tokens)


def take_nth_day(tokens: TokenStream) -> tuple[int, int | None] | None:
    """Match `first monday` or `last day`; return the position and the weekday, if any."""
    place = take_position(tokens)
    weekday = take_weekday(tokens)
    if place is None or (weekday is None and not tokens.take("day")):
        return None
    return place, weekday
