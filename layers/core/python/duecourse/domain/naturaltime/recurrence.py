"""Parse recurrences into rules that RecurrenceRule.parse reads, each with its first day."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta

from duecourse.domain.naturaltime.clock import PARTS_OF_DAY, PartOfDay
from duecourse.domain.naturaltime.dates import (
    MONTHS,
    last_day_of_month,
    nth_day_in_month,
    take_date_parts,
    take_ordinal,
)
from duecourse.domain.naturaltime.days import (
    WEEKDAY_PLURALS,
    WEEKDAYS,
    take_nth_day,
    take_ordinals,
    take_position,
    take_weekday_or_plural,
    take_weekdays,
)
from duecourse.domain.naturaltime.duration import (
    NUMBER_WORDS,
    UNIT_SPELLINGS,
    CalendarDuration,
    take_duration,
)
from duecourse.domain.naturaltime.tokens import ClarificationNeededError, TokenStream

WORKDAYS, WEEKEND = frozenset(range(5)), frozenset((5, 6))
DAY, WEEK, MONTH, YEAR = (
    CalendarDuration(days=1),
    CalendarDuration(days=7),
    CalendarDuration(months=1),
    CalendarDuration(months=12),
)
LAST_DAY_OF_EVERY_MONTH = 28
_NAMED_RULES = {DAY: "daily", WEEK: "weekly", MONTH: "monthly"}
_WEEKDAY_CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_MAX_INTERVAL = 10_000
_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class ParsedRule:
    """A recurrence that starts on the first day `is_match` accepts, or one `interval` from now."""

    text: str
    is_match: Callable[[date], bool] | None = None
    interval: CalendarDuration | None = None
    part_of_day: PartOfDay | None = None


DAILY = ParsedRule("daily", lambda _day: True)


def weekly_rule(days: frozenset[int], interval: int = 1) -> ParsedRule:
    text = _format_rrule("WEEKLY", interval, BYDAY=(_WEEKDAY_CODES[day] for day in sorted(days)))
    if interval == 1 and len(days) == 1:
        text = "weekly"
    if interval == 1 and days == WORKDAYS:
        text = "weekdays"
    return ParsedRule(text, lambda day: day.weekday() in days)


def monthly_rule(days: list[int], interval: int = 1) -> ParsedRule:
    if not all(1 <= day <= 31 for day in days):
        raise ClarificationNeededError("No month has such a day. Which day do you mean?")
    if interval == 1 and len(days) == 1:
        return ParsedRule("monthly", lambda day: day.day == days[0])
    if max(days) > LAST_DAY_OF_EVERY_MONTH:
        raise ClarificationNeededError(
            f"Not every month has a day {max(days)}. Did you mean the last day?"
        )
    text = _format_rrule("MONTHLY", interval, BYMONTHDAY=sorted(set(days)))
    return ParsedRule(text, lambda day: day.day in days)


def nth_day_rule(position: int, weekday: int | None, interval: int = 1) -> ParsedRule:
    """Return the rule for the nth day of each month, or its nth `weekday`; -1 is the last."""
    if weekday is None and position > 0:
        return monthly_rule([position], interval)
    if weekday is None:
        return ParsedRule(
            _format_rrule("MONTHLY", interval, BYMONTHDAY=[-1]),
            lambda day: day == last_day_of_month(day),
        )
    if position > 4:
        raise ClarificationNeededError("Not every month has a fifth one. Did you mean the last?")
    return ParsedRule(
        _format_rrule("MONTHLY", interval, BYDAY=[f"{position}{_WEEKDAY_CODES[weekday]}"]),
        lambda day: day == nth_day_in_month(day.replace(day=1), position, weekday),
    )


def yearly_rule(day: int, month: int, interval: int = 1) -> ParsedRule:
    if (month, day) == (2, 29):
        raise ClarificationNeededError(
            "Not every year has a 29 February. Did you mean 28 February or 1 March?"
        )
    try:
        date(2001, month, day)
    except ValueError:
        raise ClarificationNeededError(
            "There is no such day in the year. Which do you mean?"
        ) from None
    text = _format_rrule("YEARLY", interval, BYMONTH=[month], BYMONTHDAY=[day])
    return ParsedRule(text, lambda some: (some.month, some.day) == (month, day))


def interval_rule(duration: CalendarDuration) -> ParsedRule:
    """Return the rule that repeats at a fixed interval from now on."""
    if not duration.is_calendar:
        return ParsedRule(_format_minute_interval(duration), interval=duration)
    if duration.months and duration.days:
        raise ClarificationNeededError("How many days, or how many months?")
    if duration in _NAMED_RULES:
        return ParsedRule(_NAMED_RULES[duration], interval=duration)
    if duration.months:
        freq, unit, steps = ("MONTHLY", 1, duration.months)
        freq, unit = (freq, unit) if steps % 12 else ("YEARLY", 12)
    else:
        steps = duration.days
        freq, unit = ("DAILY", 1) if steps % 7 else ("WEEKLY", 7)
    return ParsedRule(_format_rrule(freq, steps // unit), interval=duration)


def _format_minute_interval(duration: CalendarDuration) -> str:
    minutes, rest = divmod(duration.exact, _MINUTE)
    if rest or not minutes:
        raise ClarificationNeededError("I can repeat once a minute at most. How often do you mean?")
    return (
        _format_rrule("MINUTELY", minutes)
        if minutes % 60
        else _format_rrule("HOURLY", minutes // 60)
    )


def _format_rrule(freq: str, interval: int = 1, **parts: Iterable[object]) -> str:
    if not 1 <= interval <= _MAX_INTERVAL:
        raise ClarificationNeededError(
            f"A step must be from 1 to {_MAX_INTERVAL}. How often do you mean?"
        )
    steps: dict[str, Iterable[object]] = {"INTERVAL": [interval]} if interval > 1 else {}
    named = {"FREQ": [freq], **steps, **parts}
    return ";".join(f"{name}={','.join(map(str, values))}" for name, values in named.items())


ADVERBS = {
    "hourly": CalendarDuration(exact=timedelta(hours=1)),
    "daily": DAY,
    "everyday": DAY,
    "weekly": WEEK,
    "fortnightly": CalendarDuration(days=14),
    "monthly": MONTH,
    "yearly": YEAR,
    "annually": YEAR,
}
_AMBIGUOUS_ADVERBS = {
    "biweekly": "Twice a week, or every 2 weeks?",
    "bimonthly": "Twice a month, or every 2 months?",
    "quarterly": "In which months? For example: every 3 months on the 1st.",
}
_OF_THE_MONTH = ("of the month", "of each month", "of every month", "in the month", "of a month")
_ORDINAL_NAMES = {2: "second", 3: "third", 4: "fourth"}


def take_rule(tokens: TokenStream, today: date) -> ParsedRule | None:
    _refuse_counts(tokens)
    for read in (_take_every, _take_adverb, _take_plural_days, _take_of_every_month):
        rule = tokens.try_take(read, today)
        if rule:
            return rule
    return None


def _refuse_counts(tokens: TokenStream) -> None:
    """Refuse `twice a day`, `3 times a week`."""
    count = tokens.peek()
    is_count = count.text in ("twice", "thrice")
    is_count = is_count or ((count.is_number or count.text in NUMBER_WORDS) and _is_times(tokens))
    ahead = 1 if count.text in ("twice", "thrice") else 2
    is_per = tokens.peek(ahead).text in ("a", "per", "each", "every")
    if is_count and is_per and tokens.peek(ahead + 1).text in UNIT_SPELLINGS:
        raise ClarificationNeededError("At which times? Each of them is to be set by itself.")


def _is_times(tokens: TokenStream) -> bool:
    return tokens.peek(1).text in ("times", "x")


def _take_every(tokens: TokenStream, today: date) -> ParsedRule | None:
    tokens.take("on")
    if not tokens.take("every", "each") and not tokens.take_phrase("once a"):
        return None
    tokens.take("single")
    for read in (
        _take_day_kind,
        _take_weekday_list,
        _take_nth_weekday,
        _take_yearly_date,
        _take_month_days,
    ):
        rule = tokens.try_take(read)
        if rule:
            return rule
    if tokens.peek().text in MONTHS:
        raise ClarificationNeededError("On which day? For example: every year on 24 december.")
    if tokens.peek().text == "quarter":
        raise ClarificationNeededError(_AMBIGUOUS_ADVERBS["quarterly"])
    length = tokens.try_take(take_duration) or tokens.try_take(_take_unit_interval)
    return _build_interval_rule(tokens, length, today) if length else None


def _take_day_kind(tokens: TokenStream) -> ParsedRule | None:
    if tokens.take("day"):
        return DAILY
    working = tokens.take_phrase("working day") or tokens.take_phrase("business day")
    if working or tokens.take("weekday", "workday"):
        return weekly_rule(WORKDAYS)
    if tokens.take("weekend"):
        return weekly_rule(WEEKEND)
    if tokens.peek().text in PARTS_OF_DAY:
        return replace(DAILY, part_of_day=PARTS_OF_DAY[tokens.next().text])
    return None


def _take_weekday_list(tokens: TokenStream) -> ParsedRule | None:
    days = take_weekdays(tokens)
    return weekly_rule(days) if days else None


def _take_nth_weekday(tokens: TokenStream) -> ParsedRule | None:
    """Match `first monday of the month`, `other friday`, `2 mondays`, `last day of the month`."""
    if interval := tokens.try_take(_take_interval):
        weekday = take_weekday_or_plural(tokens)
        return None if weekday is None else weekly_rule(frozenset({weekday}), interval)
    place = take_position(tokens)
    weekday = take_weekday_or_plural(tokens)
    if place is None or (weekday is None and (place not in (-1, 1) or not tokens.take("day"))):
        return None
    is_of_month = any(tokens.take_phrase(phrase) for phrase in _OF_THE_MONTH)
    if place > 1 and not is_of_month:
        named = _ORDINAL_NAMES.get(place, f"{place}th")
        raise ClarificationNeededError(
            f"Every {place} weeks, or the {named} one of each month? For example: every {place}"
            f" weeks on friday, or: every {named} friday of the month."
        )
    return nth_day_rule(place, weekday)


def _take_interval(tokens: TokenStream) -> int | None:
    if tokens.take("other"):
        return 2
    number = tokens.take_number()
    return None if number is None or tokens.peek().is_adjacent else int(number.text)


def _take_yearly_date(tokens: TokenStream) -> ParsedRule | None:
    """Match `24 december`, `december 24th`, `24.12.`."""
    found = take_date_parts(tokens)
    return yearly_rule(found[0], found[1]) if found else None


def _take_month_days(tokens: TokenStream) -> ParsedRule | None:
    """Match `1st of the month`, `1st and 15th`."""
    is_written = not tokens.peek().is_number
    days = take_ordinals(tokens)
    if not days or tokens.peek().text in UNIT_SPELLINGS:
        return None
    is_of_month = any(tokens.take_phrase(phrase) for phrase in _OF_THE_MONTH)
    return None if is_written and not is_of_month else monthly_rule(days)


def _take_unit_interval(tokens: TokenStream) -> CalendarDuration | None:
    """Match a unit without a number as one of it: `hour and a half`, `other week`."""
    number = 2 if tokens.take("other") else tokens.try_take(take_ordinal) or 1
    amount = "half a" if tokens.take("half") else str(number)
    unit = tokens.peek().text
    if unit not in UNIT_SPELLINGS or len(unit) == 1:
        return None
    tokens.next()
    has_half = tokens.take_phrase("and a half")
    return take_duration(TokenStream(f"{amount} {unit}{' and a half' if has_half else ''}"))


def _build_interval_rule(
    tokens: TokenStream, duration: CalendarDuration, today: date
) -> ParsedRule:
    rule = tokens.try_take(_take_on_days, duration)
    if rule:
        return rule
    if duration.months and today.day > LAST_DAY_OF_EVERY_MONTH:
        raise ClarificationNeededError("On which day? For example: every month on the last day.")
    return interval_rule(duration)


def _take_on_days(tokens: TokenStream, duration: CalendarDuration) -> ParsedRule | None:
    tokens.take(",")
    is_led = bool(tokens.take("on"))
    if duration.days and duration.days % 7 == 0 and not duration.exact:
        days = take_weekdays(tokens) if is_led or tokens.peek().text in WEEKDAYS else frozenset()
        return weekly_rule(days, duration.days // 7) if days else None
    if not duration.months or not is_led:
        return None
    if duration.months % 12 == 0 and (found := tokens.try_take(take_date_parts)):
        return yearly_rule(found[0], found[1], duration.months // 12)
    return _take_on_days_of_month(tokens, duration.months)


def _take_on_days_of_month(tokens: TokenStream, interval: int) -> ParsedRule | None:
    tokens.take("the")
    if days := tokens.try_take(take_nth_day):
        return nth_day_rule(*days, interval)
    numbers = take_ordinals(tokens)
    return monthly_rule(numbers, interval) if numbers else None


def _take_adverb(tokens: TokenStream, today: date) -> ParsedRule | None:
    if tokens.peek().text in _AMBIGUOUS_ADVERBS:
        raise ClarificationNeededError(_AMBIGUOUS_ADVERBS[tokens.peek().text])
    length = ADVERBS.get(tokens.next().text)
    if length is None:
        return None
    return DAILY if length == DAY else _build_interval_rule(tokens, length, today)


def _take_plural_days(tokens: TokenStream, _today: date) -> ParsedRule | None:
    """Match `weekdays`, `on mondays and thursdays`."""
    tokens.take("on")
    if tokens.take("weekdays", "workdays"):
        return weekly_rule(WORKDAYS)
    if tokens.take("weekends"):
        return weekly_rule(WEEKEND)
    return _take_weekday_list(tokens) if tokens.peek().text in WEEKDAY_PLURALS else None


def _take_of_every_month(tokens: TokenStream, _today: date) -> ParsedRule | None:
    """Match `on the last friday of every month`."""
    tokens.take("on")
    tokens.take("the")
    placed = tokens.try_take(take_nth_day)
    numbers = [] if placed else take_ordinals(tokens)
    if not (tokens.take_phrase("of every month") or tokens.take_phrase("of each month")):
        return None
    if placed:
        return nth_day_rule(*placed)
    return monthly_rule(numbers) if numbers else None
