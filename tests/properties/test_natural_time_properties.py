"""Properties of parsing any text as a time."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from duecourse.domain.naturaltime import (
    Clarification,
    ResolvedTime,
    parse_duration_text,
    parse_when,
)
from duecourse.domain.time.dst import to_instant
from duecourse.domain.time.duration import MAX_DURATION
from duecourse.domain.time.recurrence import RecurrenceRule, Series
from duecourse.domain.time.timezones import to_wall_time
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.examples import scale_examples
from tests.support.time_phrases import instant_of, sections

PHRASES = [phrase.text for section in sections() for phrase in section]
VOCABULARY = sorted({token for text in PHRASES for token in text.split()})
PIECES = [*":.,-/'&@½T", "0", "31", "99", "2027", "fold", "pm", "th", "h", "\n", "²", "\ud800"]
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia"]
ZONES += ["Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca"]
# Hypothesis rarely draws a clock change by itself.
CLOCK_CHANGES = ["2026-03-29T00:59", "2026-10-25T00:50", "2026-10-25T01:10", "2026-11-01T05:55"]
CLOCK_CHANGES += ["2026-03-08T06:59", "2028-02-29T12:00", "2026-12-31T23:59", "2026-01-31T10:00"]

property_settings = settings(max_examples=scale_examples(200), deadline=None)

zones = st.sampled_from(ZONES).map(ZoneInfo)
moments = st.datetimes(
    datetime.fromisoformat("2000-01-01"), datetime.fromisoformat("2100-01-01")
) | st.sampled_from(CLOCK_CHANGES).map(datetime.fromisoformat)
nows = moments.map(lambda moment: moment.replace(tzinfo=UTC))
texts = (
    st.sampled_from(PHRASES)
    | st.lists(st.sampled_from(VOCABULARY), max_size=8).map(" ".join)
    | st.lists(st.sampled_from(VOCABULARY + PIECES), max_size=12).map("".join)
    | st.text()
)
weekdays = st.sampled_from(["monday", "tue", "friday", "saturday and sunday", "wed, thu"])
ordinals = st.sampled_from(["first", "second", "3rd", "fourth", "last"])
recurrences = st.one_of(
    st.sampled_from(["every day", "every weekday", "every weekend", "every month on the last day"]),
    st.builds("every {} {}s".format, st.integers(1, 400), st.sampled_from(["minute", "hour"])),
    st.builds("every {} {}s".format, st.integers(1, 30), st.sampled_from(["day", "week", "month"])),
    st.builds("every {}".format, weekdays),
    st.builds("every {} weeks on {}".format, st.integers(1, 60), weekdays),
    st.builds("every {} {} of the month".format, ordinals, st.sampled_from(["sunday", "thursday"])),
    st.builds("every {} months on the {}th".format, st.integers(1, 24), st.integers(1, 28)),
    st.builds("every month on the {}th".format, st.integers(1, 31)),
    st.builds("every year on {} march".format, st.integers(1, 31)),
)


@property_settings
@given(text=texts, zone=zones, now=nows)
def test_any_text_is_parsed_without_an_error_and_never_into_the_past(
    text: str, zone: ZoneInfo, now: datetime
) -> None:
    result = parse_when(text, zone=zone, now=now)
    if isinstance(result, Clarification):
        assert result.question
    if isinstance(result, ResolvedTime):
        assert (result.delay is None) != (result.wall_time is None)
        assert now <= instant_of(result, zone, now) <= now + MAX_DURATION
        assert text.rstrip().endswith(result.remaining_text)


@property_settings
@given(text=recurrences, at=st.sampled_from(["", " at 02:30", " at 9pm"]), zone=zones, now=nows)
def test_a_recurrence_starts_at_the_parsed_time(
    text: str, at: str, zone: ZoneInfo, now: datetime
) -> None:
    result = parse_when(text + at, zone=zone, now=now)
    if isinstance(result, Clarification):  # it has no hour, or a day that some months lack
        assert at or "months" in text
        return
    assert isinstance(result, ResolvedTime)
    assert result.wall_time is not None
    assert result.repeat is not None
    series = Series(RecurrenceRule.parse(result.repeat), result.wall_time, zone)
    assert series.first_from(now) == to_instant(result.wall_time, zone)


@property_settings
@given(text=texts, zone=zones, now=nows)
def test_parsing_is_case_insensitive(text: str, zone: ZoneInfo, now: datetime) -> None:
    assume(text.isascii())
    result, in_capitals = (
        parse_when(variant, zone=zone, now=now) for variant in (text, text.upper())
    )
    assert type(result) is type(in_capitals)
    if isinstance(result, ResolvedTime) and isinstance(in_capitals, ResolvedTime):
        assert (result.wall_time, result.delay, result.repeat) == (
            in_capitals.wall_time,
            in_capitals.delay,
            in_capitals.repeat,
        )


duration_texts = st.lists(
    st.builds(
        "{}{}{}".format,
        st.integers(0, 10**12) | st.sampled_from(["a", "half an", "1.5", "½", "two"]),
        st.sampled_from(["", " "]),
        st.sampled_from(["s", "m", "min", "minutes", "h", "hour", "days", "weeks", "months", "y"]),
    ),
    min_size=1,
    max_size=3,
).map(" ".join)


@property_settings
@given(text=duration_texts | texts)
def test_any_text_is_a_duration_or_none(text: str) -> None:
    duration = parse_duration_text(text)
    assert duration is None or timedelta(0) <= duration <= MAX_DURATION


DATES = ["{0:%Y-%m-%d}", "{0.day}.{0.month}.{0.year}", "{0.day} {0:%B} {0.year}"]
DATES += ["{0:%b} {0.day}, {0.year}", "on the {0.day}th of {0:%B} {0.year}"]
DATES += ["{0:%A} {0.day} {0:%b} {0.year}", "{0:%A}, {0:%d.%m.%Y}"]
CLOCKS = ["{0:%H:%M}", "at {0:%H:%M}", "{0:%I:%M %p}", "at {0:%I.%M%p}", "at {0:%H%M}"]


@property_settings
@given(
    day=st.dates(date(2027, 1, 1), date(2120, 12, 31)),
    at=st.times(),
    forms=st.tuples(st.sampled_from(DATES), st.sampled_from(CLOCKS), st.booleans()),
    zone=zones,
)
def test_a_formatted_time_parses_back(
    day: date, at: time, forms: tuple[str, str, bool], zone: ZoneInfo
) -> None:
    now = datetime(2026, 11, 16, 13, 30, tzinfo=UTC)
    wall = datetime.combine(day, at.replace(second=0, microsecond=0))
    date_format, clock, is_clock_first = forms
    parts = [date_format.format(wall), clock.format(wall)]
    text = " ".join(parts[::-1] if is_clock_first and clock.startswith("at") else parts)
    assert parse_when(f"{text} feed the cat", zone=zone, now=now) == ResolvedTime(
        "feed the cat", wall_time=wall
    )


@property_settings
@given(minutes=st.integers(0, 10**6), zone=zones, now=nows)
def test_a_formatted_delay_parses_back(minutes: int, zone: ZoneInfo, now: datetime) -> None:
    hours, rest = divmod(minutes, 60)
    result = parse_when(f"in {hours} hours and {rest} minutes tea", zone=zone, now=now)
    assert result == ResolvedTime("tea", delay=timedelta(minutes=minutes))


@property_settings
@given(zone=zones, now=nows, hour=st.integers(0, 23), minute=st.integers(0, 59))
def test_a_time_of_day_is_its_next_wall_clock_occurrence(
    zone: ZoneInfo, now: datetime, hour: int, minute: int
) -> None:
    result = parse_when(f"at {hour:02}:{minute:02}", zone=zone, now=now)
    if isinstance(result, Clarification):  # 10:15 can mean 22:15
        assert 10 <= hour <= 12
        return
    assert isinstance(result, ResolvedTime)
    assert result.wall_time is not None
    assert result.wall_time.time() == time(hour, minute)
    today = to_wall_time(now, zone).date()
    assert result.wall_time.date() - today <= timedelta(days=1)
    is_ahead = to_instant(datetime.combine(today, time(hour, minute)), zone) > now
    assert (result.wall_time.date() == today) == is_ahead


@property_settings
@given(
    hour=st.integers(4, 11),
    day=st.sampled_from(["tomorrow", "on friday", "every friday", "in 3 days", "20 june"]),
    zone=zones,
    now=nows,
)
def test_evening_after_an_hour_means_pm(hour: int, day: str, zone: ZoneInfo, now: datetime) -> None:
    result = parse_when(f"at {hour} {day} evening dinner", zone=zone, now=now)
    assert result == parse_when(f"{day} at {hour + 12}:00 dinner", zone=zone, now=now)


@property_settings
@given(
    lead=st.sampled_from(["tomorrow 9am", "in 10 minutes", "every day at 9", "friday 8:30pm,"]),
    rest=st.text(st.sampled_from(".!#*_~/\"'…>xyz"), min_size=1, max_size=8),
    zone=zones,
    now=nows,
)
def test_the_remaining_text_is_not_truncated(
    lead: str, rest: str, zone: ZoneInfo, now: datetime
) -> None:
    assume(rest.strip(".!"))
    result = parse_when(f"{lead} {rest}", zone=zone, now=now)
    assert isinstance(result, ResolvedTime | Clarification)
    assert isinstance(result, Clarification) or result.remaining_text == rest


@pytest.mark.parametrize(
    "piece", ["at 9 ", "10m tea ", "in 1 hour and ", "every monday, ", "1", "a", "9.", "-"]
)
def test_a_long_text_is_parsed_in_time(piece: str) -> None:
    text = (piece * 200_000)[:800_000]
    start = process_time()
    parse_when(text, zone=ZoneInfo("Europe/Berlin"), now=datetime(2026, 11, 16, tzinfo=UTC))
    parse_duration_text(text)
    assert process_time() - start < 1
