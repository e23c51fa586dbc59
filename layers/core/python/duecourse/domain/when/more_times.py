"""A second time of the day right after the first: asked back, since only one can be kept."""

from __future__ import annotations

from duecourse.domain.when.length import NUMBERS, UNITS
from duecourse.domain.when.words import AskBackError, Words
from duecourse.domain.when.written_clock import take_clock
from duecourse.domain.when.written_time import WrittenTime

ONE_AT_A_TIME = "One time at a time, please: which one is it to be?"
_LISTING = (",", ";", "/", "+", "|")
_MOST_DIGITS = 4


def refuse_more_times(words: Words, written: WrittenTime) -> None:
    """`at 9, 12 and 18`, `8am 8pm`; but in `at 9 7 dwarfs`, seven is the person's own word."""
    is_listed = words.peek().text in _LISTING
    ahead = 1 if is_listed else 0
    has_time = written.clock is not None or (written.rule is not None and not written.takes_time)
    if written.clock and written.rule:
        is_more = _is_number(words, ahead, in_letters=is_listed) or _is_clock(words, ahead)
    elif is_listed:
        is_hour = written.clock is not None and words.peek().text != "+" and _is_hour(words, 1)
        is_more = is_hour or _is_clock(words, ahead)
    else:
        is_more = has_time and words.peek().is_number and _is_clock(words, 0)
    if is_more:
        raise AskBackError(ONE_AT_A_TIME)


def _is_number(words: Words, ahead: int, *, in_letters: bool) -> bool:
    word = words.peek(ahead)
    is_short = word.is_number and len(word.text) <= _MOST_DIGITS
    return is_short or (in_letters and word.text in NUMBERS)


def _is_hour(words: Words, ahead: int) -> bool:
    hour, follows = words.peek(ahead), words.peek(ahead + 1)
    is_hour = hour.is_number and len(hour.text) <= 2 and int(hour.text) <= 24
    return is_hour and follows.text not in UNITS and not follows.is_glued


def _is_clock(words: Words, ahead: int) -> bool:
    if words.peek(-1).text == "h" == words.peek(ahead + 1).text:
        return True
    try:
        return words.comes(ahead, take_clock, after_day=False)
    except AskBackError:  # `2h workshop`, `12.50 euro`
        return False
