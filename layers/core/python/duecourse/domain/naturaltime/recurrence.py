"""Rules of repetition in the form that Repeat.parse reads, each with its first day."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta

from duecourse.domain.naturaltime.clock import PARTS_OF_DAY, PartOfDay
from duecourse.domain.naturaltime.dates import (
    MONTHS,
    last_of,
    place_in_month,
    take_ordinal,
    take_written_date,
)
from duecourse.domain.naturaltime.days import (
    PLURALS,
    WEEKDAYS,
    take_ordinals,
    take_place,
    take_placed_day,
    take_weekday_or_plural,
    take_weekdays,
)
from duecourse.domain.naturaltime.duration import NUMBERS, UNITS, Length, take_length
from duecourse.domain.naturaltime.tokens import AskBackError, Words

WORKDAYS, WEEKEND = frozenset(range(5)), frozenset((5, 6))
DAY, WEEK, MONTH, YEAR = Length(days=1), Length(days=7), Length(months=1), Length(months=12)
IN_EVERY_MONTH = 28
_WORDS = {DAY: "daily", WEEK: "weekly", MONTH: "monthly"}
_CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_MOST_STEPS = 10_000
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Rule:
    """Its first day is the first one that fits, or else one step from now."""

    text: str
    fits: Callable[[date], bool] | None = None
    step: Length | None = None
    part_of_day: PartOfDay | None = None


DAILY = Rule("daily", lambda _day: True)


def weekly(days: frozenset[int], interval: int = 1) -> Rule:
    text = _rrule("WEEKLY", interval, BYDAY=(_CODES[day] for day in sorted(days)))
    if interval == 1 and len(days) == 1:
        text = "weekly"
    if interval == 1 and days == WORKDAYS:
        text = "weekdays"
    return Rule(text, lambda day: day.weekday() in days)


def monthly(days: list[int], interval: int = 1) -> Rule:
    if not all(1 <= day <= 31 for day in days):
        raise AskBackError("No month has such a day. Which day do you mean?")
    if interval == 1 and len(days) == 1:
        return Rule("monthly", lambda day: day.day == days[0])
    if max(days) > IN_EVERY_MONTH:
        raise AskBackError(f"Not every month has a day {max(days)}. Did you mean the last day?")
    text = _rrule("MONTHLY", interval, BYMONTHDAY=sorted(set(days)))
    return Rule(text, lambda day: day.day in days)


def monthly_at(place: int, weekday: int | None, interval: int = 1) -> Rule:
    """The nth of a month's days, or of its days of one name; -1 for the last."""
    if weekday is None and place > 0:
        return monthly([place], interval)
    if weekday is None:
        return Rule(_rrule("MONTHLY", interval, BYMONTHDAY=[-1]), lambda day: day == last_of(day))
    if place > 4:
        raise AskBackError("Not every month has a fifth one. Did you mean the last?")
    return Rule(
        _rrule("MONTHLY", interval, BYDAY=[f"{place}{_CODES[weekday]}"]),
        lambda day: day == place_in_month(day.replace(day=1), place, weekday),
    )


def yearly(day: int, month: int, interval: int = 1) -> Rule:
    if (month, day) == (2, 29):
        raise AskBackError("Not every year has a 29 February. Did you mean 28 February or 1 March?")
    try:
        date(2001, month, day)
    except ValueError:
        raise AskBackError("There is no such day in the year. Which do you mean?") from None
    text = _rrule("YEARLY", interval, BYMONTH=[month], BYMONTHDAY=[day])
    return Rule(text, lambda some: (some.month, some.day) == (month, day))


def spaced(length: Length) -> Rule:
    """Every so often, from now on."""
    if not length.is_calendar:
        return Rule(_by_the_minute(length), step=length)
    if length.months and length.days:
        raise AskBackError("How many days, or how many months?")
    if length in _WORDS:
        return Rule(_WORDS[length], step=length)
    if length.months:
        freq, unit, steps = ("MONTHLY", 1, length.months)
        freq, unit = (freq, unit) if steps % 12 else ("YEARLY", 12)
    else:
        steps = length.days
        freq, unit = ("DAILY", 1) if steps % 7 else ("WEEKLY", 7)
    return Rule(_rrule(freq, steps // unit), step=length)


def _by_the_minute(length: Length) -> str:
    minutes, rest = divmod(length.exact, _MINUTE)
    if rest or not minutes:
        raise AskBackError("I can repeat once a minute at most. How often do you mean?")
    return _rrule("MINUTELY", minutes) if minutes % 60 else _rrule("HOURLY", minutes // 60)


def _rrule(freq: str, interval: int = 1, **parts: Iterable[object]) -> str:
    if not 1 <= interval <= _MOST_STEPS:
        raise AskBackError(f"A step must be from 1 to {_MOST_STEPS}. How often do you mean?")
    steps: dict[str, Iterable[object]] = {"INTERVAL": [interval]} if interval > 1 else {}
    named = {"FREQ": [freq], **steps, **parts}
    return ";".join(f"{name}={','.join(map(str, values))}" for name, values in named.items())


ADVERBS = {
    "hourly": Length(exact=timedelta(hours=1)),
    "daily": DAY,
    "everyday": DAY,
    "weekly": WEEK,
    "fortnightly": Length(days=14),
    "monthly": MONTH,
    "yearly": YEAR,
    "annually": YEAR,
}
_UNCLEAR = {
    "biweekly": "Twice a week, or every 2 weeks?",
    "bimonthly": "Twice a month, or every 2 months?",
    "quarterly": "In which months? For example: every 3 months on the 1st.",
}
_OF_THE_MONTH = ("of the month", "of each month", "of every month", "in the month", "of a month")
_NAMED = {2: "second", 3: "third", 4: "fourth"}


def take_rule(words: Words, today: date) -> Rule | None:
    _refuse_counts(words)
    for read in (_led_by_every, _adverb, _plural, _of_every_month):
        rule = words.attempt(read, today)
        if rule:
            return rule
    return None


def _refuse_counts(words: Words) -> None:
    """`twice a day`, `3 times a week`"""
    count = words.peek()
    is_count = count.text in ("twice", "thrice")
    is_count = is_count or ((count.is_number or count.text in NUMBERS) and _is_times(words))
    ahead = 1 if count.text in ("twice", "thrice") else 2
    is_per = words.peek(ahead).text in ("a", "per", "each", "every")
    if is_count and is_per and words.peek(ahead + 1).text in UNITS:
        raise AskBackError("At which times? Each of them is to be set by itself.")


def _is_times(words: Words) -> bool:
    return words.peek(1).text in ("times", "x")


def _led_by_every(words: Words, today: date) -> Rule | None:
    words.take("on")
    if not words.take("every", "each") and not words.take_all("once a"):
        return None
    words.take("single")
    for read in (_kind_of_day, _listed, _placed, _dated, _numbered):
        rule = words.attempt(read)
        if rule:
            return rule
    if words.peek().text in MONTHS:
        raise AskBackError("On which day? For example: every year on 24 december.")
    if words.peek().text == "quarter":
        raise AskBackError(_UNCLEAR["quarterly"])
    length = words.attempt(take_length) or words.attempt(_one_or_nth)
    return _every_length(words, length, today) if length else None


def _kind_of_day(words: Words) -> Rule | None:
    if words.take("day"):
        return DAILY
    working = words.take_all("working day") or words.take_all("business day")
    if working or words.take("weekday", "workday"):
        return weekly(WORKDAYS)
    if words.take("weekend"):
        return weekly(WEEKEND)
    if words.peek().text in PARTS_OF_DAY:
        return replace(DAILY, part_of_day=PARTS_OF_DAY[words.next().text])
    return None


def _listed(words: Words) -> Rule | None:
    days = take_weekdays(words)
    return weekly(days) if days else None


def _placed(words: Words) -> Rule | None:
    """`first monday of the month`, `other friday`, `2 mondays`, `last day of the month`"""
    if interval := words.attempt(_interval):
        weekday = take_weekday_or_plural(words)
        return None if weekday is None else weekly(frozenset({weekday}), interval)
    place = take_place(words)
    weekday = take_weekday_or_plural(words)
    if place is None or (weekday is None and (place not in (-1, 1) or not words.take("day"))):
        return None
    is_of_month = any(words.take_all(phrase) for phrase in _OF_THE_MONTH)
    if place > 1 and not is_of_month:
        named = _NAMED.get(place, f"{place}th")
        raise AskBackError(
            f"Every {place} weeks, or the {named} one of each month? For example: every {place}"
            f" weeks on friday, or: every {named} friday of the month."
        )
    return monthly_at(place, weekday)


def _interval(words: Words) -> int | None:
    if words.take("other"):
        return 2
    number = words.number()
    return None if number is None or words.peek().is_glued else int(number.text)


def _dated(words: Words) -> Rule | None:
    """`24 december`, `december 24th`, `24.12.`"""
    found = take_written_date(words)
    return yearly(found[0], found[1]) if found else None


def _numbered(words: Words) -> Rule | None:
    """`1st of the month`, `1st and 15th`"""
    is_written = not words.peek().is_number
    days = take_ordinals(words)
    if not days or words.peek().text in UNITS:
        return None
    is_of_month = any(words.take_all(phrase) for phrase in _OF_THE_MONTH)
    return None if is_written and not is_of_month else monthly(days)


def _one_or_nth(words: Words) -> Length | None:
    """A unit without a number stands for one of it: `hour and a half`, `other week`."""
    number = 2 if words.take("other") else words.attempt(take_ordinal) or 1
    amount = "half a" if words.take("half") else str(number)
    unit = words.peek().text
    if unit not in UNITS or len(unit) == 1:
        return None
    words.next()
    has_half = words.take_all("and a half")
    return take_length(Words(f"{amount} {unit}{' and a half' if has_half else ''}"))


def _every_length(words: Words, length: Length, today: date) -> Rule:
    rule = words.attempt(_on_days, length)
    if rule:
        return rule
    if length.months and today.day > IN_EVERY_MONTH:
        raise AskBackError("On which day? For example: every month on the last day.")
    return spaced(length)


def _on_days(words: Words, length: Length) -> Rule | None:
    words.take(",")
    is_led = bool(words.take("on"))
    if length.days and length.days % 7 == 0 and not length.exact:
        days = take_weekdays(words) if is_led or words.peek().text in WEEKDAYS else frozenset()
        return weekly(days, length.days // 7) if days else None
    if not length.months or not is_led:
        return None
    if length.months % 12 == 0 and (found := words.attempt(take_written_date)):
        return yearly(found[0], found[1], length.months // 12)
    return _on_days_of_month(words, length.months)


def _on_days_of_month(words: Words, interval: int) -> Rule | None:
    words.take("the")
    if days := words.attempt(take_placed_day):
        return monthly_at(*days, interval)
    numbers = take_ordinals(words)
    return monthly(numbers, interval) if numbers else None


def _adverb(words: Words, today: date) -> Rule | None:
    if words.peek().text in _UNCLEAR:
        raise AskBackError(_UNCLEAR[words.peek().text])
    length = ADVERBS.get(words.next().text)
    if length is None:
        return None
    return DAILY if length == DAY else _every_length(words, length, today)


def _plural(words: Words, _today: date) -> Rule | None:
    """`weekdays`, `on mondays and thursdays`"""
    words.take("on")
    if words.take("weekdays", "workdays"):
        return weekly(WORKDAYS)
    if words.take("weekends"):
        return weekly(WEEKEND)
    return _listed(words) if words.peek().text in PLURALS else None


def _of_every_month(words: Words, _today: date) -> Rule | None:
    """`on the last friday of every month`"""
    words.take("on")
    words.take("the")
    placed = words.attempt(take_placed_day)
    numbers = [] if placed else take_ordinals(words)
    if not (words.take_all("of every month") or words.take_all("of each month")):
        return None
    if placed:
        return monthly_at(*placed)
    return monthly(numbers) if numbers else None
