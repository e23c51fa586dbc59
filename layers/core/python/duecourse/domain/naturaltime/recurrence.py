"""Parse recurrences: `every day`, `every 2 weeks on friday`, `on mondays`, `hourly`."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from duecourse.domain.naturaltime.clock_time import PARTS_OF_DAY
from duecourse.domain.naturaltime.dates import MONTHS, take_date_parts, take_ordinal, take_ordinals
from duecourse.domain.naturaltime.duration import (
    NUMBER_WORDS,
    UNIT_SPELLINGS,
    CalendarDuration,
    take_duration,
)
from duecourse.domain.naturaltime.recurrence_rules import (
    DAILY,
    DAY,
    LAST_DAY_OF_EVERY_MONTH,
    MONTH,
    WEEK,
    WEEKEND,
    WORKDAYS,
    YEAR,
    ParsedRule,
    interval_rule,
    monthly_rule,
    nth_day_rule,
    weekly_rule,
    yearly_rule,
)
from duecourse.domain.naturaltime.tokens import ClarificationNeededError, TokenStream
from duecourse.domain.naturaltime.weekdays import (
    WEEKDAY_PLURALS,
    WEEKDAYS,
    take_nth_day,
    take_position,
    take_weekday_or_plural,
    take_weekdays,
)

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
    "biweekly": "Twice a week, or every 2 weeks? Example: every 2 weeks on friday",
    "bimonthly": "Twice a month, or every 2 months? Example: every 2 months on the 1st",
    "quarterly": "In which months? Example: every 3 months on the 1st",
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
        raise ClarificationNeededError(
            "At which times? Create one task for each. Example: every day at 9:00"
        )


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
        raise ClarificationNeededError("On which day? Example: every year on 24 december")
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
            f"Every {place} weeks, or the {named} one of each month? Write for example:"
            f" every {place} weeks on friday, or: every {named} friday of the month"
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
        raise ClarificationNeededError("On which day? Example: every month on the last day")
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
