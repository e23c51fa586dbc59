"""Parse `am` and `pm`, and build the time they belong to."""

from __future__ import annotations

from duecourse.domain.naturaltime.clock_time import ClockTime
from duecourse.domain.naturaltime.tokens import ClarificationNeededError, TokenStream

_MERIDIEM_HOURS = {"am": 0, "pm": 12}


def take_meridiem(tokens: TokenStream) -> str:
    if half := tokens.take("am", "pm"):
        return half
    if (
        tokens.peek(-1).is_number
        and not tokens.peek(1).is_adjacent
        and (half := tokens.take_adjacent("a", "p"))
    ):
        return f"{half}m"
    for half in _MERIDIEM_HOURS:
        if (
            tokens.peek(1).is_adjacent
            and tokens.peek(2).is_adjacent
            and tokens.take_phrase(f"{half[0]} . m")
        ):
            tokens.take_adjacent(".")
            return half
    return ""


def build_meridiem_clock(hour: int, minute: int, half: str) -> ClockTime:
    if not 1 <= hour <= 12 or minute > 59:
        raise no_such_time_error(f"{hour}{f':{minute:02}' if minute else ''}{half}")
    return ClockTime(hour % 12 + _MERIDIEM_HOURS[half], minute)


def no_such_time_error(text: str) -> ClarificationNeededError:
    return ClarificationNeededError(f"{text} is not a time. Write a time from 00:00 to 23:59.")
