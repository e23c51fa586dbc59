"""Refuse vague times and bounds with a question, since a reminder needs one exact time."""

from __future__ import annotations

from duecourse.domain.naturaltime.clock import AT_WORDS, take_clock
from duecourse.domain.naturaltime.clock_time import PARTS_OF_DAY
from duecourse.domain.naturaltime.duration import NUMBER_WORDS
from duecourse.domain.naturaltime.parsed import TimeExpression
from duecourse.domain.naturaltime.tokens import ClarificationNeededError, TokenStream

_INFORMAL_TIMES = (
    "lunch lunchtime dinner dinnertime breakfast sunrise sunset dawn dusk teatime bedtime"
)
_MEAL_TIMES = ("lunchtime", "dinnertime", "teatime", "bedtime")
_BOUND_WORDS = (
    "after",
    "before",
    "by",
    "until",
    "till",
    "between",
    "from",
    "since",
    "past",
    "starting",
)
_TIME_PREFIXES = (*AT_WORDS, "by", "before", "after", "during", "over")
_VAGUE_NAMES = (
    "first thing,last thing,eod,eob,cob,end of day,end of the day,end of business,"
    "close of business,am,pm,a . m,p . m,early,late,later,sometime,anytime,some time,any time,asap"
    ",as soon as possible,overnight,mid,midmorning,midafternoon"
)
_VAGUE = _VAGUE_NAMES.split(",")
_OR_WORDS = ("so", "more", "less", "later", "earlier", "sooner", "before", "after", "thereabouts")
_AND_PHRASES = ("and a bit", "and change", "and something", "and some")
_ISH_STEMS = frozenset((*PARTS_OF_DAY, *NUMBER_WORDS, "noon", "midday", "midnight", "lunch"))
_LIMIT_WORDS = ("latest", "earliest", "onward", "onwards")
_LIMIT_PHRASES = (
    "no later than",
    "not later than",
    "not before",
    "no earlier than",
    "at the latest",
    "at the earliest",
)
_EXACT_TIME_QUESTION = "At what time exactly? Example: tomorrow at 8:00"


def refuse_vague_time(tokens: TokenStream, expression: TimeExpression) -> None:
    """Raise ClarificationNeededError if vague words follow the time. The position stays."""
    _refuse_alternative(tokens)
    _refuse_limit(tokens)
    if expression.clock or expression.duration:
        _refuse_ish(tokens)
    if expression.clock:
        _refuse_other_half(tokens, expression)
        return
    _refuse_bound(tokens)
    if tokens.can_take(0, take_vague):
        raise ClarificationNeededError(_EXACT_TIME_QUESTION)
    if expression.part_of_day is None:
        _refuse_rough_hour(tokens)
        _refuse_possessive_part(tokens)
        refuse_informal_time(tokens)


def refuse_informal_time(tokens: TokenStream) -> None:
    """Refuse `at lunch`, `after work`."""
    first, second = tokens.peek().text, tokens.peek(1).text
    loose = _INFORMAL_TIMES.split() + (
        ["work", "school", "bed"] if first in ("before", "after") else []
    )
    is_led = first in _TIME_PREFIXES and second in loose
    if is_led or first in _MEAL_TIMES:
        raise ClarificationNeededError("At what time is that? Example: at 12:30")


def take_vague(tokens: TokenStream) -> str | None:
    """Match `first thing`, `by eod`, `late`."""
    tokens.take(",")
    tokens.take(*AT_WORDS, "by", "before", "until", "till", "in")
    tokens.take("the")
    return next((phrase for phrase in _VAGUE if tokens.take_phrase(phrase)), None)


def _refuse_alternative(tokens: TokenStream) -> None:
    """Refuse `in a day or two`, `at 9 or so`, `in an hour and a bit`."""
    second = tokens.peek(1)
    is_other = second.is_number or second.text in NUMBER_WORDS or second.text in _OR_WORDS
    is_more = any(tokens.can_take(0, _take_phrase, phrase) for phrase in _AND_PHRASES)
    if is_more or (tokens.peek().text == "or" and is_other):
        raise ClarificationNeededError("When exactly? Write one time. Example: in 2 days")


def _refuse_limit(tokens: TokenStream) -> None:
    """Refuse `9am at the latest`, `no later than 9`."""
    is_limit = any(tokens.can_take(0, _take_phrase, phrase) for phrase in _LIMIT_PHRASES)
    if is_limit or tokens.peek().text in _LIMIT_WORDS:
        raise ClarificationNeededError(
            "Write one exact time, not a limit. Example: tomorrow at 9:00"
        )


def _take_phrase(tokens: TokenStream, phrase: str) -> bool | None:
    return tokens.take_phrase(phrase) or None


def _refuse_bound(tokens: TokenStream) -> None:
    """Refuse `tomorrow after 5pm`: it gives a limit, not a time."""
    ahead = 1 if tokens.peek().text == "," else 0
    bound = tokens.peek(ahead).text
    if bound in (*_BOUND_WORDS, "~") and tokens.can_take(ahead + 1, _take_any_clock):
        raise ClarificationNeededError(
            f'"{bound}" leaves the time open. Write one exact time. Example: tomorrow at 17:00'
        )


def _take_any_clock(tokens: TokenStream) -> bool | None:
    try:
        return take_clock(tokens, is_after_day=True) is not None or None
    except ClarificationNeededError:  # `after 5`, where am or pm is open too
        return True


def _refuse_other_half(tokens: TokenStream, expression: TimeExpression) -> None:
    """Refuse `at 8 evening`: the evening would change the time."""
    clock = expression.clock
    if clock is None or clock.is_unambiguous or expression.part_of_day:
        return
    ahead = 1 if tokens.peek().text == "," else 0
    part = PARTS_OF_DAY.get(tokens.peek(ahead).text)
    if part and clock.hour not in part.hours:
        raise ClarificationNeededError(
            f'Did you mean "in the {part.word}"? Then write "in the {part.word}".'
        )


def _refuse_possessive_part(tokens: TokenStream) -> None:
    """Refuse `tomorrow evening's dinner`."""
    own = tokens.peek().text
    if own.endswith("'s") and own.removesuffix("'s") in PARTS_OF_DAY:
        raise ClarificationNeededError(_EXACT_TIME_QUESTION)


def _refuse_ish(tokens: TokenStream) -> None:
    """Refuse `in an hour-ish`, `at 9-ish`."""
    if tokens.peek().is_adjacent and tokens.can_take(0, _take_phrase, "- ish"):
        raise ClarificationNeededError(_EXACT_TIME_QUESTION)


def _refuse_rough_hour(tokens: TokenStream) -> None:
    """Refuse `at 8ish`, `around noonish`."""
    is_led = tokens.peek().text in AT_WORDS
    word = tokens.peek(1 if is_led else 0).text
    is_rough = word.endswith("ish") and word.removesuffix("ish") in _ISH_STEMS
    if is_rough or (is_led and tokens.peek(1).is_number):
        raise ClarificationNeededError("At what time exactly? Example: at 8:00")
