"""Times that are named roughly, or only by a bound: asked back, since a reminder needs one time."""

from __future__ import annotations

from duecourse.domain.naturaltime.clock import AT, PARTS_OF_DAY, take_clock
from duecourse.domain.naturaltime.duration import NUMBERS
from duecourse.domain.naturaltime.parsed import WrittenTime
from duecourse.domain.naturaltime.tokens import AskBackError, Words

_LOOSE = "lunch lunchtime dinner dinnertime breakfast sunrise sunset dawn dusk teatime bedtime"
_HOURS_OF_MEALS = ("lunchtime", "dinnertime", "teatime", "bedtime")
_BOUNDS = ("after", "before", "by", "until", "till", "between", "from", "since", "past", "starting")
_LEADS = (*AT, "by", "before", "after", "during", "over")
_VAGUE_NAMES = (
    "first thing,last thing,eod,eob,cob,end of day,end of the day,end of business,"
    "close of business,am,pm,a . m,p . m,early,late,later,sometime,anytime,some time,any time,asap"
    ",as soon as possible,overnight,mid,midmorning,midafternoon"
)
_VAGUE = _VAGUE_NAMES.split(",")
_OR_MORE = ("so", "more", "less", "later", "earlier", "sooner", "before", "after", "thereabouts")
_AND_MORE = ("and a bit", "and change", "and something", "and some")
_ISH = frozenset((*PARTS_OF_DAY, *NUMBERS, "noon", "midday", "midnight", "lunch"))
_AT_MOST = ("latest", "earliest", "onward", "onwards")
_NO_LATER = (
    "no later than",
    "not later than",
    "not before",
    "no earlier than",
    "at the latest",
    "at the earliest",
)
_EXACTLY = "At what time exactly? For example: tomorrow at 8:00."


def refuse_rough(words: Words, written: WrittenTime) -> None:
    """Leaves the place as it is."""
    _refuse_either(words)
    _refuse_limit(words)
    if written.clock or written.length:
        _refuse_ish(words)
    if written.clock:
        _refuse_other_half(words, written)
        return
    _refuse_bound(words)
    if words.comes(0, take_vague):
        raise AskBackError(_EXACTLY)
    if written.part_of_day is None:
        _refuse_rough_hour(words)
        _refuse_own_part(words)
        refuse_loose_time(words)


def refuse_loose_time(words: Words) -> None:
    """`at lunch`, `after work`"""
    first, second = words.peek().text, words.peek(1).text
    loose = _LOOSE.split() + (["work", "school", "bed"] if first in ("before", "after") else [])
    is_led = first in _LEADS and second in loose
    if is_led or first in _HOURS_OF_MEALS:
        raise AskBackError("At what time is that? For example: at 12:30.")


def take_vague(words: Words) -> str | None:
    """`first thing`, `by eod`, `late`"""
    words.take(",")
    words.take(*AT, "by", "before", "until", "till", "in")
    words.take("the")
    return next((phrase for phrase in _VAGUE if words.take_all(phrase)), None)


def _refuse_either(words: Words) -> None:
    """`in a day or two`, `at 9 or so`, `in an hour and a bit`"""
    second = words.peek(1)
    is_other = second.is_number or second.text in NUMBERS or second.text in _OR_MORE
    is_more = any(words.comes(0, _take_all, phrase) for phrase in _AND_MORE)
    if is_more or (words.peek().text == "or" and is_other):
        raise AskBackError("When exactly? I can keep one time only.")


def _refuse_limit(words: Words) -> None:
    """`9am at the latest`, `no later than 9`"""
    is_limit = any(words.comes(0, _take_all, phrase) for phrase in _NO_LATER)
    if is_limit or words.peek().text in _AT_MOST:
        raise AskBackError("I can keep one time, not a limit. When exactly is it to be?")


def _take_all(words: Words, phrase: str) -> bool | None:
    return words.take_all(phrase) or None


def _refuse_bound(words: Words) -> None:
    """`tomorrow after 5pm` says from when on, not when."""
    ahead = 1 if words.peek().text == "," else 0
    bound = words.peek(ahead).text
    if bound in (*_BOUNDS, "~") and words.comes(ahead + 1, _any_clock):
        raise AskBackError(f'When exactly is it to be? "{bound}" leaves it open.')


def _any_clock(words: Words) -> bool | None:
    try:
        return take_clock(words, after_day=True) is not None or None
    except AskBackError:  # `after 5`, where the half of the day is open as well
        return True


def _refuse_other_half(words: Words, written: WrittenTime) -> None:
    """`at 8 evening`: the evening would change the time."""
    clock = written.clock
    if clock is None or clock.is_sure or written.part_of_day:
        return
    ahead = 1 if words.peek().text == "," else 0
    part = PARTS_OF_DAY.get(words.peek(ahead).text)
    if part and clock.hour not in part.hours:
        raise AskBackError(f'Did you mean "in the {part.word}"? Then write it so.')


def _refuse_own_part(words: Words) -> None:
    """`tomorrow evening's dinner`"""
    own = words.peek().text
    if own.endswith("'s") and own.removesuffix("'s") in PARTS_OF_DAY:
        raise AskBackError(_EXACTLY)


def _refuse_ish(words: Words) -> None:
    """`in an hour-ish`, `at 9-ish`"""
    if words.peek().is_glued and words.comes(0, _take_all, "- ish"):
        raise AskBackError(_EXACTLY)


def _refuse_rough_hour(words: Words) -> None:
    """`at 8ish`, `around noonish`"""
    is_led = words.peek().text in AT
    word = words.peek(1 if is_led else 0).text
    is_rough = word.endswith("ish") and word.removesuffix("ish") in _ISH
    if is_rough or (is_led and words.peek(1).is_number):
        raise AskBackError("At what time exactly? For example: at 8:00.")
