"""A written time as a whole: its parts in any order, up to where the person's own text begins."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from duecourse.domain.when.after import is_within_a_word, refuse_loose_time, refuse_what_follows
from duecourse.domain.when.clock import PARTS, Part, take_part, within
from duecourse.domain.when.date import MONTHS
from duecourse.domain.when.day import take_day
from duecourse.domain.when.end import refuse_left_behind
from duecourse.domain.when.length import Length, take_length
from duecourse.domain.when.parts import Parts
from duecourse.domain.when.repeat import take_rule
from duecourse.domain.when.words import AskBackError, Words
from duecourse.domain.when.written_clock import take_clock

_NOW = Length()
_NONE = Parts()
_NEAR = ("today", "tonight", "tomorrow", "this", "next")
_VAGUE = ("later", "early", "late", "sometime")


def take_phrase(words: Words, today: date) -> Parts | None:
    """None where no time comes next. Asks back what is not whole."""
    words.take("me")
    if words.take("now"):
        return None if _is_no_time_by_itself(words) else Parts(length=_NOW)
    parts = _NONE
    while more := words.attempt(_longer, parts, today):
        parts = more
    if parts == _NONE:
        _refuse_hints(words, today)
        return None
    refuse_what_follows(words, parts, today)
    refuse_left_behind(words, parts)
    if is_within_a_word(words):
        return None
    return replace(parts, clock=within(parts.part, parts.clock)) if parts.part else parts


def _is_no_time_by_itself(words: Words) -> bool:
    """`now and then`, `now-ish`"""
    return words.peek().text in ("and", "or", "that") or is_within_a_word(words)


def _longer(words: Words, parts: Parts, today: date) -> Parts | None:
    if parts != _NONE:
        words.take(",")
    if not parts.has_day and (more := _with_day(words, parts, today)):
        return more
    if not parts.takes_time:
        return None
    if parts.part is None and parts != _NONE and (part := _take_part(words, parts)):
        return replace(parts, part=part)
    is_apart = parts != _NONE and bool(words.take(":", "-", "–"))
    after_day = not is_apart and (parts.has_day or parts.part is not None)
    clock = words.attempt(take_clock, after_day=after_day)
    return replace(parts, clock=clock) if clock else None


def _with_day(words: Words, parts: Parts, today: date) -> Parts | None:
    if rule := words.attempt(take_rule, today):
        return replace(parts, rule=rule, part=rule.part or parts.part)
    if length := words.attempt(_take_distance, today):
        if parts.clock and not length.is_calendar:
            raise AskBackError("That names two times. Which one do you mean?")
        return replace(parts, length=length)
    if day := words.attempt(take_day, today):
        return replace(parts, day=day, part=day.part or parts.part)
    return None


def _take_distance(words: Words, today: date) -> Length | None:
    """`in 10 minutes`, `10 minutes from now`"""
    if words.take("in"):
        words.take("about", "around")
        length = words.attempt(take_length)
        if words.take_all("' time") or words.peek(-1).text.endswith("'s"):
            words.take("time")
        return length
    length = words.attempt(take_length)
    if length and words.take("ago"):
        raise AskBackError("That has passed. When do you mean?")
    if length is None or words.take_all("from now"):
        return length
    day = take_day(words, today) if words.take("from", "after", "before") else None
    if day:
        raise AskBackError("Which day is that? Write its date.")
    return None


def _take_part(words: Words, parts: Parts) -> Part | None:
    """`tomorrow evening`, `friday in the evening`"""
    if found := take_part(words):
        return found
    is_next = words.peek(-1).text != "," and parts.clock is None
    return PARTS[words.next().text] if is_next and words.peek().text in PARTS else None


def _refuse_hints(words: Words, today: date) -> None:
    """What begins like a time but leaves out what counts."""
    first, second = words.peek(), words.peek(1)
    if first.text == "in" and (second.is_number or second.text == "-"):
        raise AskBackError("In how many minutes, hours or days? For example: in 10 minutes.")
    if first.text == "in" and second.text in MONTHS:
        raise AskBackError("On which day of that month? For example: on 17 february.")
    if take_part(words):
        raise AskBackError("On which day? For example: tomorrow morning.")
    if first.is_number and second.text in _NEAR:
        raise AskBackError(f'Is "{first.text[:9]}" the time? Then write "at {first.text[:9]}".')
    if words.take_all("first thing") or (first.text in _VAGUE and second.text in _NEAR):
        raise AskBackError("At what time? For example: tomorrow at 8:00.")
    refuse_loose_time(words)
    if words.take("by", "before", "after", "until", "from", "starting", "since"):
        _refuse_bound(words, today)


def _refuse_bound(words: Words, today: date) -> None:
    """`by friday` says up to when, not when."""
    if words.attempt(_longer, _NONE, today):
        raise AskBackError('When exactly is it to be? Begin with the time: "on friday at 9".')
