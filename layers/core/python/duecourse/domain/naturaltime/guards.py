"""What may not follow a time, because it would change it: asked back rather than passed over."""

from __future__ import annotations

from datetime import date

from duecourse.domain.naturaltime.clock import AT, PARTS_OF_DAY, Clock, take_clock
from duecourse.domain.naturaltime.dates import MONTHS, take_ordinal
from duecourse.domain.naturaltime.days import PLURALS, WEEKDAYS, take_day
from duecourse.domain.naturaltime.duration import NUMBERS, UNITS, take_length
from duecourse.domain.naturaltime.parsed import WrittenTime
from duecourse.domain.naturaltime.recurrence import ADVERBS, take_rule
from duecourse.domain.naturaltime.tokens import AskBackError, Word, Words
from duecourse.domain.naturaltime.vague import refuse_rough

_LIMITS = ("until", "till", "starting", "beginning", "from", "except", "between")
_ALSO = ("and", "&", "or", "plus")
_BETWEEN_DAYS = (",", ";", "/", "+", "&", "and")
_DAY_NAMES = frozenset((*WEEKDAYS, *PLURALS))
_TWO_DAYS = "That names two days. Which one do you mean?"
_MANY = 10  # minutes; `an hour one last time` counts something else
_DASHES = ("-", "–", "—")
_SIGNS_IN_WORDS = frozenset("%°€$£/&@#+*=<>_~^|")


def refuse_what_follows(words: Words, written: WrittenTime, today: date) -> None:
    """Leaves the place as it is."""
    if written.clock or written.part_of_day:
        refuse_zone(words)
        _refuse_range(words)
    refuse_rough(words, written)
    if written.rule:
        _refuse_limits(words)
        _refuse_adverb(words)
        _refuse_more_weekdays(words)
        _refuse_open_day(words, has_day=written.rule.step is None)
    if written.day or written.length:
        _refuse_near_day(words)
    if written.day:
        _refuse_more_days(words)
    _refuse_minutes(words, written.clock)
    refuse_more_times(words, written)
    _refuse_another(words, written, today)


def is_within_a_word(words: Words) -> bool:
    """`friday-ish`, `5 m&ms`"""
    follows = words.peek()
    if not follows.is_glued or follows.text in (":", ",", ";"):
        return False
    if not follows.is_sign or follows.text in _SIGNS_IN_WORDS:
        return True
    ahead = 1
    while words.peek(ahead).is_glued and words.peek(ahead).is_sign:
        ahead += 1
    return words.peek(ahead).is_glued


def _refuse_range(words: Words) -> None:
    sign, end = words.peek(), words.peek(1)
    if sign.text not in (*_DASHES, "to", "until", "till"):
        return
    is_glued = sign.is_glued and end.is_glued and end.is_number
    if is_glued or words.comes(1, take_clock, after_day=False):
        raise AskBackError("I can keep one time, not a beginning and an end. Which one?")


def _refuse_minutes(words: Words, clock: Clock | None) -> None:
    """`at 9 30`, `in 1 hour 30`, `in an hour and thirty`"""
    before, minute = words.peek(-1), words.peek()
    if clock and clock.is_spoken and before.is_number and _is_minute(minute):
        raise AskBackError(f"Did you mean {before.text}:{minute.text}? Then write it so.")
    if clock is None and words.comes(0, _minutes_more, UNITS.get(before.text)):
        raise AskBackError('How many minutes more? Write them so: "1 hour 30 minutes".')


def _is_minute(word: Word) -> bool:
    return word.is_number and len(word.text) == 2 and int(word.text) <= 59


def _minutes_more(words: Words, unit: str | None) -> bool | None:
    has_and = bool(words.take("and", "&", "plus"))
    minute = words.next()
    is_minute = _is_minute(minute) or NUMBERS.get(minute.text, 0) >= _MANY
    if has_and and unit == "hour":
        is_minute = is_minute or minute.is_number or minute.text in (*NUMBERS, "half", "quarter")
    is_meant = unit == "hour" or (unit == "minute" and has_and)
    return (is_meant and is_minute) or None


def _refuse_limits(words: Words) -> None:
    first, second = words.peek().text, words.peek(1).text
    is_limit = first in _LIMITS or (first in ("in", "of") and second in MONTHS)
    if is_limit or (first == "for" and words.comes(1, take_length)):
        raise AskBackError(
            "I cannot keep a beginning, an end or an exception. Say how it repeats, and cancel it"
            " when it is no longer wanted."
        )


def _refuse_adverb(words: Words) -> None:
    """`daily report`: every day, or only a name?"""
    if words.peek(-1).text in ADVERBS and not words.is_done:
        raise AskBackError('Is it to be repeated? Then say so with "every": every day at 9.')


def _refuse_open_day(words: Words, *, has_day: bool) -> None:
    """`every year on my birthday`"""
    if not has_day and words.peek().text == "on" and not words.peek(1).is_glued:
        raise AskBackError("On which day is that? For example: every year on 24 december.")


def _refuse_more_days(words: Words) -> None:
    """`monday to friday`, `friday after next`, `tomorrow, friday, at 9`"""
    first, second = words.peek().text, words.peek(1).text
    if first in (*_DASHES, "to", "through") and second in WEEKDAYS:
        raise AskBackError('On each of these days? Then write "every", as in: every weekday at 9.')
    if (first, second) == ("after", "next") or words.comes(0, _days_and_time):
        raise AskBackError(_TWO_DAYS)


def _refuse_near_day(words: Words) -> None:
    if words.peek().text in ("today", "tonight", "tomorrow"):
        raise AskBackError(_TWO_DAYS)


def _days_and_time(words: Words) -> bool | None:
    """A list of weekdays that begins with one before it: `wed fri at 9`, `/wed/fri 9:00`."""
    is_after_weekday = words.peek(-1).text in WEEKDAYS
    words.take(*_BETWEEN_DAYS)
    if words.next().text not in WEEKDAYS:
        return None
    while words.take(*_BETWEEN_DAYS) or words.peek().text in WEEKDAYS:
        words.take(*WEEKDAYS)
    has_time = words.is_done or words.comes(0, take_clock, after_day=False)
    return has_time or is_after_weekday or None


def _refuse_more_weekdays(words: Words) -> None:
    """`every monday friday report`"""
    is_next = words.peek(-1).text in _DAY_NAMES and words.peek().text in _DAY_NAMES
    if is_next or words.comes(0, _days_and_time):
        raise AskBackError('On which days? Write "and" between them, or a colon after them.')


def _refuse_another(words: Words, written: WrittenTime, today: date) -> None:
    """`at 9 and 17:00`, `at 9am, 1pm and 5pm`, `in 2 hours at 9`"""
    first, second = words.peek().text, words.peek(1)
    if words.comes(0, _again, today):
        raise AskBackError(ONE_AT_A_TIME)
    is_more = second.text in PARTS_OF_DAY or (written.clock is not None and second.is_number)
    if first in _ALSO and (is_more or words.comes(1, _another, today)):
        raise AskBackError(ONE_AT_A_TIME)
    is_led = first in (*AT, "on", "in", "every", "each", "next")
    if is_led and words.comes(0, _another, today):
        raise AskBackError("That names two times. Which one do you mean?")


def _another(words: Words, today: date) -> object | None:
    words.take("in")
    return (
        words.attempt(take_rule, today)
        or words.attempt(take_length)
        or words.attempt(take_day, today)
        or words.attempt(take_ordinal)
        or words.attempt(take_clock, after_day=False)
    )


def _again(words: Words, today: date) -> object | None:
    """`and again in 20`, `then 12`"""
    words.take(",")
    words.take(*_ALSO)
    is_again = bool(words.take("then"))
    is_again = bool(words.take("again") or words.take_all("once more")) or is_again
    if not is_again:
        return None
    ahead = 1 if words.peek().text in (*AT, "in") else 0
    follows = words.peek(ahead)
    return follows.is_number or follows.text in NUMBERS or _another(words, today)


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


_SHORT_NAMES = (
    "utc gmt cet cest eet eest bst ist msk est edt cst cdt mst mdt pst pdt et pt jst aest aedt sgt"
    " hst akst akdt ast adt nst ndt nzst nzdt acst acdt awst kst hkt pht wib sast brt pkt trt gst"
    " npt zulu"
)
_AREA_NAMES = (
    "africa america antarctica arctic asia atlantic australia europe indian pacific etc us canada"
    " brazil chile mexico"
)
_PLACE_NAMES = (
    "london berlin york india tokyo paris madrid rome moscow dubai sydney singapore delhi mumbai"
    " beijing shanghai kong chicago denver angeles francisco seattle boston toronto lisbon dublin"
    " vienna zurich amsterdam istanbul kyiv warsaw uk us european german germany french france"
    " british english indian japan japanese china chinese russian spanish italian polish turkish"
    " israel brazil mexico canada their his her server standard daylight summer winter"
)
_ABBREVIATIONS = frozenset(_SHORT_NAMES.split())
_REGIONS = ("eastern", "pacific", "central", "mountain")
_AREAS = frozenset(_AREA_NAMES.split())
_PLACES = frozenset(_PLACE_NAMES.split())
_MOST_AHEAD = 14  # hours that a zone may be ahead of UTC
_BEFORE = ("(", "[", ",", "<")


def refuse_zone(words: Words) -> None:
    """`UTC`, `(CET)`, `+0100`, `Europe/London`, `Pacific`, `London time`"""
    ahead = 1 if words.peek().text in _BEFORE else 0
    if any(words.comes(ahead, read) for read in (_name, _place, _offset)):
        raise AskBackError(
            "I read times in your own zone, which /timezone sets. What time is it there?"
        )


def _name(words: Words) -> bool | None:
    word, sign = words.peek(), words.peek(1)
    if word.text in _AREAS and sign.is_glued and sign.text == "/" and words.peek(2).is_glued:
        return True
    is_z = word.text == "z" and (word.is_glued or not sign.is_glued)
    return is_z or word.text in _ABBREVIATIONS or word.text in _REGIONS or None


def _place(words: Words) -> bool | None:
    """`London time`, `New York time`"""
    is_place = any(words.peek(ahead).text in _PLACES for ahead in (0, 1))
    return (is_place and "time" in (words.peek(1).text, words.peek(2).text)) or None


def _offset(words: Words) -> bool | None:
    """`+0100`, `+02:00`, `+1`, `-0500`; but `-5 degrees` are the person's own words."""
    sign, hours = words.peek(), words.peek(1)
    if sign.text == "+" and sign.is_glued:
        return True
    if sign.text not in ("+", "-") or not hours.is_glued or not hours.is_number:
        return None
    is_padded = len(hours.text) == 2 and (hours.text[0] == "0" or words.peek(2).text == ":")
    is_ahead = sign.text == "+" and len(hours.text) <= 2 and int(hours.text) <= _MOST_AHEAD
    return len(hours.text) == 4 or is_padded or is_ahead or None
