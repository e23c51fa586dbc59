"""Refuse words after a time that would change its meaning, instead of ignoring them.

Each `refuse` function raises ClarificationNeededError with a question for the sender.
"""

from __future__ import annotations

from datetime import date

from duecourse.domain.naturaltime.clock import AT_WORDS, take_clock
from duecourse.domain.naturaltime.clock_time import PARTS_OF_DAY, ClockTime
from duecourse.domain.naturaltime.dates import MONTHS, take_ordinal
from duecourse.domain.naturaltime.days import take_day
from duecourse.domain.naturaltime.duration import NUMBER_WORDS, UNIT_SPELLINGS, take_duration
from duecourse.domain.naturaltime.parsed import TimeExpression
from duecourse.domain.naturaltime.recurrence import ADVERBS, take_rule
from duecourse.domain.naturaltime.timezone_guard import refuse_timezone
from duecourse.domain.naturaltime.tokens import ClarificationNeededError, Token, TokenStream
from duecourse.domain.naturaltime.vague import refuse_vague_time
from duecourse.domain.naturaltime.weekdays import WEEKDAY_PLURALS, WEEKDAYS

_LIMIT_WORDS = ("until", "till", "starting", "beginning", "from", "except", "between")
_CONJUNCTIONS = ("and", "&", "or", "plus")
_DAY_SEPARATORS = (",", ";", "/", "+", "&", "and")
_DAY_NAMES = frozenset((*WEEKDAYS, *WEEKDAY_PLURALS))
_TWO_DAYS_QUESTION = "That names two days. Write only one."
_MIN_EXTRA_MINUTES = 10  # a smaller number may be content: `an hour one last time`
_DASHES = ("-", "–", "—")
_SIGNS_INSIDE_WORDS = frozenset("%°€$£/&@#+*=<>_~^|")


def refuse_ambiguous_suffix(tokens: TokenStream, expression: TimeExpression, today: date) -> None:
    """Check what follows `expression`. The position stays."""
    if expression.clock or expression.part_of_day:
        refuse_timezone(tokens)
        _refuse_range(tokens)
    refuse_vague_time(tokens, expression)
    if expression.rule:
        _refuse_limits(tokens)
        _refuse_adverb(tokens)
        _refuse_more_weekdays(tokens)
        _refuse_unnamed_day(tokens, has_day=expression.rule.interval is None)
    if expression.day or expression.duration:
        _refuse_near_day(tokens)
    if expression.day:
        _refuse_more_days(tokens)
    _refuse_minutes(tokens, expression.clock)
    refuse_multiple_times(tokens, expression)
    _refuse_second_time(tokens, expression, today)


def is_inside_word(tokens: TokenStream) -> bool:
    """Return whether the time is only part of a word: `friday-ish`, `5 m&ms`."""
    follows = tokens.peek()
    if not follows.is_adjacent or follows.text in (":", ",", ";"):
        return False
    if not follows.is_punctuation or follows.text in _SIGNS_INSIDE_WORDS:
        return True
    ahead = 1
    while tokens.peek(ahead).is_adjacent and tokens.peek(ahead).is_punctuation:
        ahead += 1
    return tokens.peek(ahead).is_adjacent


def _refuse_range(tokens: TokenStream) -> None:
    sign, end = tokens.peek(), tokens.peek(1)
    if sign.text not in (*_DASHES, "to", "until", "till"):
        return
    is_glued = sign.is_adjacent and end.is_adjacent and end.is_number
    if is_glued or tokens.can_take(1, take_clock, is_after_day=False):
        raise ClarificationNeededError("Write one time, not a start and an end.")


def _refuse_minutes(tokens: TokenStream, clock: ClockTime | None) -> None:
    """Refuse `at 9 30`, `in 1 hour 30`, `in an hour and thirty`."""
    before, minute = tokens.peek(-1), tokens.peek()
    if clock and clock.is_informal and before.is_number and _is_minute(minute):
        raise ClarificationNeededError(
            f"Did you mean {before.text}:{minute.text}? Then write {before.text}:{minute.text}."
        )
    if clock is None and tokens.can_take(0, _take_extra_minutes, UNIT_SPELLINGS.get(before.text)):
        raise ClarificationNeededError("How many minutes? Example: 1 hour 30 minutes")


def _is_minute(token: Token) -> bool:
    return token.is_number and len(token.text) == 2 and int(token.text) <= 59


def _take_extra_minutes(tokens: TokenStream, unit: str | None) -> bool | None:
    has_and = bool(tokens.take("and", "&", "plus"))
    minute = tokens.next()
    is_minute = _is_minute(minute) or NUMBER_WORDS.get(minute.text, 0) >= _MIN_EXTRA_MINUTES
    if has_and and unit == "hour":
        is_minute = (
            is_minute or minute.is_number or minute.text in (*NUMBER_WORDS, "half", "quarter")
        )
    is_meant = unit == "hour" or (unit == "minute" and has_and)
    return (is_meant and is_minute) or None


def _refuse_limits(tokens: TokenStream) -> None:
    first, second = tokens.peek().text, tokens.peek(1).text
    is_limit = first in _LIMIT_WORDS or (first in ("in", "of") and second in MONTHS)
    if is_limit or (first == "for" and tokens.can_take(1, take_duration)):
        raise ClarificationNeededError(
            "A start, an end or an exception is not supported. Write only how it repeats, and"
            " cancel it later."
        )


def _refuse_adverb(tokens: TokenStream) -> None:
    """Refuse `daily report`: `daily` may be a recurrence or part of a name."""
    if tokens.peek(-1).text in ADVERBS and not tokens.is_exhausted:
        raise ClarificationNeededError(
            'Should it repeat? Then write "every". Example: every day at 9:00'
        )


def _refuse_unnamed_day(tokens: TokenStream, *, has_day: bool) -> None:
    """Refuse `every year on my birthday`."""
    if not has_day and tokens.peek().text == "on" and not tokens.peek(1).is_adjacent:
        raise ClarificationNeededError("Which day is that? Example: every year on 24 december")


def _refuse_more_days(tokens: TokenStream) -> None:
    """Refuse `monday to friday`, `friday after next`, `tomorrow, friday, at 9`."""
    first, second = tokens.peek().text, tokens.peek(1).text
    if first in (*_DASHES, "to", "through") and second in WEEKDAYS:
        raise ClarificationNeededError(
            'On each of these days? Then write "every". Example: every weekday at 9:00'
        )
    if (first, second) == ("after", "next") or tokens.can_take(0, _take_weekday_list_with_time):
        raise ClarificationNeededError(_TWO_DAYS_QUESTION)


def _refuse_near_day(tokens: TokenStream) -> None:
    if tokens.peek().text in ("today", "tonight", "tomorrow"):
        raise ClarificationNeededError(_TWO_DAYS_QUESTION)


def _take_weekday_list_with_time(tokens: TokenStream) -> bool | None:
    """Match a list of weekdays that continues one before it: `wed fri at 9`, `/wed/fri 9:00`."""
    is_after_weekday = tokens.peek(-1).text in WEEKDAYS
    tokens.take(*_DAY_SEPARATORS)
    if tokens.next().text not in WEEKDAYS:
        return None
    while tokens.take(*_DAY_SEPARATORS) or tokens.peek().text in WEEKDAYS:
        tokens.take(*WEEKDAYS)
    has_time = tokens.is_exhausted or tokens.can_take(0, take_clock, is_after_day=False)
    return has_time or is_after_weekday or None


def _refuse_more_weekdays(tokens: TokenStream) -> None:
    """Refuse `every monday friday report`."""
    is_next = tokens.peek(-1).text in _DAY_NAMES and tokens.peek().text in _DAY_NAMES
    if is_next or tokens.can_take(0, _take_weekday_list_with_time):
        raise ClarificationNeededError(
            'On which days? Write "and" between them, or a colon after them. '
            "Example: every monday and friday: report"
        )


def _refuse_second_time(tokens: TokenStream, expression: TimeExpression, today: date) -> None:
    """Refuse `at 9 and 17:00`, `at 9am, 1pm and 5pm`, `in 2 hours at 9`."""
    first, second = tokens.peek().text, tokens.peek(1)
    if tokens.can_take(0, _take_repeat_marker, today):
        raise ClarificationNeededError(ONE_TIME_QUESTION)
    is_more = second.text in PARTS_OF_DAY or (expression.clock is not None and second.is_number)
    if first in _CONJUNCTIONS and (is_more or tokens.can_take(1, _take_any_time, today)):
        raise ClarificationNeededError(ONE_TIME_QUESTION)
    is_led = first in (*AT_WORDS, "on", "in", "every", "each", "next")
    if is_led and tokens.can_take(0, _take_any_time, today):
        raise ClarificationNeededError("That names two times. Write only one.")


def _take_any_time(tokens: TokenStream, today: date) -> object | None:
    tokens.take("in")
    return (
        tokens.try_take(take_rule, today)
        or tokens.try_take(take_duration)
        or tokens.try_take(take_day, today)
        or tokens.try_take(take_ordinal)
        or tokens.try_take(take_clock, is_after_day=False)
    )


def _take_repeat_marker(tokens: TokenStream, today: date) -> object | None:
    """Match `and again in 20`, `then 12`."""
    tokens.take(",")
    tokens.take(*_CONJUNCTIONS)
    is_again = bool(tokens.take("then"))
    is_again = bool(tokens.take("again") or tokens.take_phrase("once more")) or is_again
    if not is_again:
        return None
    ahead = 1 if tokens.peek().text in (*AT_WORDS, "in") else 0
    follows = tokens.peek(ahead)
    return follows.is_number or follows.text in NUMBER_WORDS or _take_any_time(tokens, today)


ONE_TIME_QUESTION = "Write only one time. For more times, create one task for each."
_LIST_SEPARATORS = (",", ";", "/", "+", "|")
_MAX_DIGITS = 4


def refuse_multiple_times(tokens: TokenStream, expression: TimeExpression) -> None:
    """Refuse `at 9, 12 and 18` and `8am 8pm`, but not `at 9 7 dwarfs`, where 7 is content."""
    is_listed = tokens.peek().text in _LIST_SEPARATORS
    ahead = 1 if is_listed else 0
    has_time = expression.clock is not None or (
        expression.rule is not None and not expression.can_take_clock
    )
    if expression.clock and expression.rule:
        is_more = _is_number(tokens, ahead, in_letters=is_listed) or _is_clock(tokens, ahead)
    elif is_listed:
        is_hour = expression.clock is not None and tokens.peek().text != "+" and _is_hour(tokens, 1)
        is_more = is_hour or _is_clock(tokens, ahead)
    else:
        is_more = has_time and tokens.peek().is_number and _is_clock(tokens, 0)
    if is_more:
        raise ClarificationNeededError(ONE_TIME_QUESTION)


def _is_number(tokens: TokenStream, ahead: int, *, in_letters: bool) -> bool:
    word = tokens.peek(ahead)
    is_short = word.is_number and len(word.text) <= _MAX_DIGITS
    return is_short or (in_letters and word.text in NUMBER_WORDS)


def _is_hour(tokens: TokenStream, ahead: int) -> bool:
    hour, follows = tokens.peek(ahead), tokens.peek(ahead + 1)
    is_hour = hour.is_number and len(hour.text) <= 2 and int(hour.text) <= 24
    return is_hour and follows.text not in UNIT_SPELLINGS and not follows.is_adjacent


def _is_clock(tokens: TokenStream, ahead: int) -> bool:
    if tokens.peek(-1).text == "h" == tokens.peek(ahead + 1).text:
        return True
    try:
        return tokens.can_take(ahead, take_clock, is_after_day=False)
    except ClarificationNeededError:  # `2h workshop`, `12.50 euro`
        return False
