"""Parse times of day: `15:00`, `9am`, `half past 8`, `noon`, `at night`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from duecourse.domain.naturaltime.clock_time import (
    PARTS_OF_DAY,
    ClockTime,
    PartOfDay,
    resolve_part_of_day,
)
from duecourse.domain.naturaltime.duration import NUMBER_WORDS, UNIT_SPELLINGS
from duecourse.domain.naturaltime.labels import ambiguity_error
from duecourse.domain.naturaltime.meridiem import (
    build_meridiem_clock,
    no_such_time_error,
    take_meridiem,
)
from duecourse.domain.naturaltime.tokens import ClarificationNeededError, Token, TokenStream


def take_part_of_day(tokens: TokenStream) -> PartOfDay | None:
    """Match `in the evening`, `at night`."""
    is_named = tokens.peek(2).text in PARTS_OF_DAY
    if is_named and (tokens.take_phrase("in the") or tokens.take_phrase("during the")):
        return PARTS_OF_DAY[tokens.next().text]
    return PartOfDay.NIGHT if tokens.take_phrase("at night") else None


AT_WORDS = ("at", "@", "around", "about")
_NAMED_MINUTES = {"quarter": 15, "half": 30}
_SPOKEN_MINUTES = (5, 10, 20, 25)
_SECONDS_MESSAGE = "Seconds are not supported. Write hours and minutes. Example: at 15:30"
_MINUTE_WORDS = ("ten", "fifteen", "twenty", "thirty", "forty", "fifty")


@dataclass(frozen=True, slots=True)
class _ClockPrefix:
    """What stands before a time.

    Without a prefix, a bare number is a time only if it can mean nothing else.
    """

    has_at: bool
    is_after_day: bool

    @property
    def is_present(self) -> bool:
        return self.has_at or self.is_after_day


def take_clock(tokens: TokenStream, *, is_after_day: bool) -> ClockTime | None:
    prefix = _take_prefix(tokens, is_after_day=is_after_day)
    clock = (
        _take_named_time(tokens)
        or tokens.try_take(_take_spoken_time, prefix)
        or tokens.try_take(_take_numeric_time, prefix)
    )
    if clock is None or clock.part_of_day or clock.is_midnight:
        return clock
    part = take_part_of_day(tokens)
    return resolve_part_of_day(part, clock) if part else clock


def _take_prefix(tokens: TokenStream, *, is_after_day: bool) -> _ClockPrefix:
    """Take `at` or `about`. Without a day, `about 9` may begin the content: `about 9 people`."""
    has_at = bool(tokens.take("at", "@"))
    is_rough = bool(tokens.take("around", "about"))
    return _ClockPrefix(has_at or (is_rough and is_after_day), is_after_day)


def _take_named_time(tokens: TokenStream) -> ClockTime | None:
    if tokens.take("noon", "midday"):
        return ClockTime(12)
    return ClockTime(0, is_midnight=True) if tokens.take("midnight") else None


def _take_spoken_time(tokens: TokenStream, prefix: _ClockPrefix) -> ClockTime | None:
    """Match `half past 8`, `a quarter to nine`, `5 past 9`."""
    tokens.take("a")
    word = tokens.next()
    has_unit = bool(tokens.take("minutes", "min", "mins"))
    minutes = _NAMED_MINUTES.get(word.text) or _parse_hour(word)
    if (
        word.text == "half"
        and prefix.is_present
        and (named := _parse_hour(tokens.peek())) in range(1, 13)
    ):
        raise ambiguity_error(f"{named - 1 or 12}:30", f"{named}:30")
    direction = tokens.take("past", "to")
    hour_word = tokens.next()
    hour = _parse_hour(hour_word)
    is_said_so = word.text in _NAMED_MINUTES or (
        prefix.is_present and (has_unit or minutes in _SPOKEN_MINUTES)
    )
    if not is_said_so or not direction or not 1 <= hour <= 23 or not 1 <= minutes <= 59:
        return None
    if direction == "past":
        return _build_informal_clock(tokens, hour, minutes)
    before = 12 if hour == 1 else hour - 1
    if word.is_number and hour_word.is_number and not has_unit:
        raise _range_or_time_error(f"{before}:{60 - minutes:02}", f"{minutes} to {hour}")
    return _build_informal_clock(tokens, before, 60 - minutes)


def _range_or_time_error(at: str, between: str) -> ClarificationNeededError:
    return ClarificationNeededError(
        f"Did you mean {at}, or from {between}? Write one time. Example: at {at}"
    )


def _build_informal_clock(tokens: TokenStream, hour: int, minute: int) -> ClockTime:
    half = take_meridiem(tokens)
    if half:
        return build_meridiem_clock(hour, minute, half)
    return ClockTime(hour, minute, is_unambiguous=hour > 12, is_informal=True)


def _parse_hour(token: Token) -> int:
    if token.is_number and len(token.text) <= 2:
        return int(token.text)
    return NUMBER_WORDS.get(token.text, -1)


def _take_numeric_time(tokens: TokenStream, prefix: _ClockPrefix) -> ClockTime | None:
    word = tokens.next()
    if word.is_number and len(word.text) in (3, 4):
        return _build_compact_time(tokens, word.text, prefix)
    hour = _parse_hour(word)
    if not 0 <= hour <= 99:
        return None
    if hour == 12 and (named := _take_named_time(tokens)):
        return named
    minute = _take_minute(tokens, word, prefix)
    if half := take_meridiem(tokens):
        return build_meridiem_clock(hour, minute or 0, half)
    if minute is not None:
        tokens.take("h", "hrs", "uhr")
        clock = _build_clock(hour, minute, word)
        return clock if word.is_number or prefix.has_at else None
    return _take_bare_hour(tokens, word, hour, prefix)


def _build_compact_time(tokens: TokenStream, digits: str, prefix: _ClockPrefix) -> ClockTime | None:
    """Build the time for `1530` or `930am`."""
    hour, minute = int(digits[:-2]), int(digits[-2:])
    if half := take_meridiem(tokens):
        return build_meridiem_clock(hour, minute, half)
    if hour > 23 or minute > 59 or tokens.peek().text in UNIT_SPELLINGS or not prefix.is_present:
        return None
    if not prefix.has_at and not tokens.take("hrs", "h", "uhr") and not tokens.is_exhausted:
        raise ClarificationNeededError(
            f'Is "{digits}" the time? Then write "at {hour:02}:{minute:02}".'
        )
    tokens.take("hrs", "h", "uhr")
    return _build_clock(hour, minute, digits)


def _take_minute(tokens: TokenStream, hour: Token, prefix: _ClockPrefix) -> int | None:
    """Match `:30`, `.30`, `h30`, and `thirty` after an hour in words."""
    if not hour.is_number:
        return _take_minute_words(tokens)
    sign, minute = tokens.peek(), tokens.peek(1)
    is_joined = sign.is_adjacent and minute.is_adjacent and minute.is_number
    if not is_joined or sign.text not in (":", ".", "h"):
        return None
    if len(minute.text) != 2:
        if sign.text == ":" and prefix.is_present:
            raise no_such_time_error(f"{hour.text}:{minute.text[:9]}")
        return None
    if (
        sign.text == "."
        and not prefix.is_present
        and tokens.peek(2).text not in ("am", "pm", "a", "p")
    ):
        raise ClarificationNeededError(
            f'Is "{hour.text}.{minute.text}" the time? Then write "at {hour.text}:{minute.text}".'
        )
    tokens.position += 2
    _skip_zero_seconds(tokens)
    return int(minute.text)


def _skip_zero_seconds(tokens: TokenStream) -> None:
    sign, second = tokens.peek(), tokens.peek(1)
    if sign.is_adjacent and sign.text == ":" and second.is_adjacent and second.is_number:
        if second.text != "00":
            raise ClarificationNeededError(_SECONDS_MESSAGE)
        tokens.position += 2
        _skip_zero_fraction(tokens)


def _skip_zero_fraction(tokens: TokenStream) -> None:
    sign, fraction = tokens.peek(), tokens.peek(1)
    if sign.is_adjacent and sign.text in (".", ",") and fraction.is_adjacent and fraction.is_number:
        if fraction.text.strip("0"):
            raise ClarificationNeededError(_SECONDS_MESSAGE)
        tokens.position += 2


def _take_minute_words(tokens: TokenStream) -> int | None:
    if tokens.peek().text not in _MINUTE_WORDS:
        return None
    minute = NUMBER_WORDS[tokens.next().text]
    tokens.take("-")
    if minute >= 20 and 1 <= NUMBER_WORDS.get(tokens.peek().text, 0) <= 9:
        minute += NUMBER_WORDS[tokens.next().text]
    return minute


def _build_clock(hour: int, minute: int, written: Token | str) -> ClockTime:
    text = written if isinstance(written, str) else written.text
    if hour == 24 and minute == 0:
        raise ClarificationNeededError(
            "24:00 is 00:00 of the next day. Write that day. Example: tomorrow at 00:00"
        )
    if hour > 23 or minute > 59:
        raise no_such_time_error(f"{hour}:{minute:02}")
    is_sure = hour > 12 or hour == 0 or text.startswith("0")
    return ClockTime(hour, minute, is_unambiguous=is_sure)


def _take_bare_hour(
    tokens: TokenStream, token: Token, hour: int, prefix: _ClockPrefix
) -> ClockTime | None:
    if tokens.take("o'clock", "oclock", "uhr") or (tokens.take_adjacent("h") and prefix.is_present):
        return replace(_build_clock(hour, 0, token), is_informal=True)
    if tokens.peek(-1).text == "h":
        raise _hour_or_delay_error(hour)
    follows = tokens.peek()
    is_other = follows.is_adjacent and not follows.is_punctuation
    if hour > (24 if prefix.has_at else 23) or is_other or follows.text in UNIT_SPELLINGS:
        return None
    clock = replace(_build_clock(hour, 0, token), is_informal=True)
    if part := take_part_of_day(tokens):
        return resolve_part_of_day(part, clock)
    if prefix.has_at or (prefix.is_after_day and tokens.is_exhausted):
        return clock
    if prefix.is_after_day:
        raise ClarificationNeededError(f'Is "{token.text}" the time? Then write "at {token.text}".')
    return None


def _hour_or_delay_error(hour: int) -> ClarificationNeededError:
    """Return the question for `9h` without `at`: a time of day or a delay."""
    delay = f"in {hour} hour{'' if hour == 1 else 's'}"
    if hour > 23:
        return ClarificationNeededError(f'Did you mean "{delay}"? Then write "{delay}".')
    return ambiguity_error(f"at {hour}:00", delay)
