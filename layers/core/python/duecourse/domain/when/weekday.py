"""The days of the week by their names, long and short."""

from __future__ import annotations

from duecourse.domain.when.words import Words

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
