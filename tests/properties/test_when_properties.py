"""What holds for every text that may be a time."""

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

from tests.support.time_phrases import instant_of, sections

PHRASES = [phrase.text for section in sections() for phrase in section]
VOCABULARY = sorted({word for text in PHRASES for word in text.split()})
PIECES = [*":.,-/'&@½T", "0", "31", "99", "2027", "fold", "pm", "th", "h", "\n", "²", "\ud800"]
ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia"]
ZONES += ["Australia/Lord_Howe", "America/Sao_Paulo", "Africa/Casablanca"]
# Hypothesis seldom meets a clock change by chance.
CHANGES = ["2026-03-29T00:59", "2026-10-25T00:50", "2026-10-25T01:10", "2026-11-01T05:55"]
CHANGES += ["2026-03-08T06:59", "2028-02-29T12:00", "2026-12-31T23:59", "2026-01-31T10:00"]

calm = settings(max_examples=200, deadline=None)

zones = st.sampled_from(ZONES).map(ZoneInfo)
moments = st.datetimes(
    datetime.fromisoformat("2000-01-01"), datetime.fromisoformat("2100-01-01")
) | st.sampled_from(CHANGES).map(datetime.fromisoformat)
nows = moments.map(lambda moment: moment.replace(tzinfo=UTC))
texts = (
    st.sampled_from(PHRASES)
    | st.lists(st.sampled_from(VOCABULARY), max_size=8).map(" ".join)
    | st.lists(st.sampled_from(VOCABULARY + PIECES), max_size=12).map("".join)
    | st.text()
)
weekdays = st.sampled_from(["monday", "tue", "friday", "saturday and sunday", "wed, thu"])
places = st.sampled_from(["first", "second", "3rd", "fourth", "last"])
repetitions = st.one_of(
    st.sampled_from(["every day", "every weekday", "every weekend", "every month on the last day"]),
    st.builds("every {} {}s".format, st.integers(1, 400), st.sampled_from(["minute", "hour"])),
    st.builds("every {} {}s".format, st.integers(1, 30), st.sampled_from(["day", "week", "month"])),
    st.builds("every {}".format, weekdays),
    st.builds("every {} weeks on {}".format, st.integers(1, 60), weekdays),
    st.builds("every {} {} of the month".format, places, st.sampled_from(["sunday", "thursday"])),
    st.builds("every {} months on the {}th".format, st.integers(1, 24), st.integers(1, 28)),
    st.builds("every month on the {}th".format, st.integers(1, 31)),
    st.builds("every year on {} march".format, st.integers(1, 31)),
)


@calm
@given(text=texts, zone=zones, now=nows)
def test_any_text_is_read_without_an_error_and_never_into_the_past(
    text: str, zone: ZoneInfo, now: datetime
) -> None:
    found = parse_when(text, zone=zone, now=now)
    if isinstance(found, Clarification):
        assert found.question
    if isinstance(found, ResolvedTime):
        assert (found.delay is None) != (found.wall_time is None)
        assert now <= instant_of(found, zone, now) <= now + MAX_DURATION
        assert text.rstrip().endswith(found.remaining_text)


@calm
@given(text=repetitions, at=st.sampled_from(["", " at 02:30", " at 9pm"]), zone=zones, now=nows)
def test_a_repetition_is_a_rule_whose_series_begins_with_the_time_read(
    text: str, at: str, zone: ZoneInfo, now: datetime
) -> None:
    found = parse_when(text + at, zone=zone, now=now)
    if isinstance(found, Clarification):  # no hour of its own, or a day that not every month has
        assert at or "months" in text
        return
    assert isinstance(found, ResolvedTime)
    assert found.wall_time is not None
    assert found.repeat is not None
    series = Series(RecurrenceRule.parse(found.repeat), found.wall_time, zone)
    assert series.first_from(now) == to_instant(found.wall_time, zone)


@calm
@given(text=texts, zone=zones, now=nows)
def test_capitals_make_no_difference(text: str, zone: ZoneInfo, now: datetime) -> None:
    assume(text.isascii())
    found, loud = (parse_when(said, zone=zone, now=now) for said in (text, text.upper()))
    assert type(found) is type(loud)
    if isinstance(found, ResolvedTime) and isinstance(loud, ResolvedTime):
        assert (found.wall_time, found.delay, found.repeat) == (
            loud.wall_time,
            loud.delay,
            loud.repeat,
        )


lengths = st.lists(
    st.builds(
        "{}{}{}".format,
        st.integers(0, 10**12) | st.sampled_from(["a", "half an", "1.5", "½", "two"]),
        st.sampled_from(["", " "]),
        st.sampled_from(["s", "m", "min", "minutes", "h", "hour", "days", "weeks", "months", "y"]),
    ),
    min_size=1,
    max_size=3,
).map(" ".join)


@calm
@given(text=lengths | texts)
def test_any_text_is_a_length_or_none(text: str) -> None:
    length = parse_duration_text(text)
    assert length is None or timedelta(0) <= length <= MAX_DURATION


DATES = ["{0:%Y-%m-%d}", "{0.day}.{0.month}.{0.year}", "{0.day} {0:%B} {0.year}"]
DATES += ["{0:%b} {0.day}, {0.year}", "on the {0.day}th of {0:%B} {0.year}"]
DATES += ["{0:%A} {0.day} {0:%b} {0.year}", "{0:%A}, {0:%d.%m.%Y}"]
CLOCKS = ["{0:%H:%M}", "at {0:%H:%M}", "{0:%I:%M %p}", "at {0:%I.%M%p}", "at {0:%H%M}"]


@calm
@given(
    day=st.dates(date(2027, 1, 1), date(2120, 12, 31)),
    at=st.times(),
    forms=st.tuples(st.sampled_from(DATES), st.sampled_from(CLOCKS), st.booleans()),
    zone=zones,
)
def test_a_time_that_is_written_out_is_read_back(
    day: date, at: time, forms: tuple[str, str, bool], zone: ZoneInfo
) -> None:
    now = datetime(2026, 11, 16, 13, 30, tzinfo=UTC)
    wall = datetime.combine(day, at.replace(second=0, microsecond=0))
    written, clock, is_clock_first = forms
    parts = [written.format(wall), clock.format(wall)]
    text = " ".join(parts[::-1] if is_clock_first and clock.startswith("at") else parts)
    assert parse_when(f"{text} feed the cat", zone=zone, now=now) == ResolvedTime(
        "feed the cat", wall_time=wall
    )


@calm
@given(minutes=st.integers(0, 10**6), zone=zones, now=nows)
def test_a_delay_that_is_written_out_is_read_back(
    minutes: int, zone: ZoneInfo, now: datetime
) -> None:
    hours, rest = divmod(minutes, 60)
    found = parse_when(f"in {hours} hours and {rest} minutes tea", zone=zone, now=now)
    assert found == ResolvedTime("tea", delay=timedelta(minutes=minutes))


@calm
@given(zone=zones, now=nows, hour=st.integers(0, 23), minute=st.integers(0, 59))
def test_a_time_of_the_day_is_the_next_one_on_the_wall(
    zone: ZoneInfo, now: datetime, hour: int, minute: int
) -> None:
    found = parse_when(f"at {hour:02}:{minute:02}", zone=zone, now=now)
    if isinstance(found, Clarification):  # 10:15 may be 22:15
        assert 10 <= hour <= 12
        return
    assert isinstance(found, ResolvedTime)
    assert found.wall_time is not None
    assert found.wall_time.time() == time(hour, minute)
    today = to_wall_time(now, zone).date()
    assert found.wall_time.date() - today <= timedelta(days=1)
    is_ahead = to_instant(datetime.combine(today, time(hour, minute)), zone) > now
    assert (found.wall_time.date() == today) == is_ahead


@calm
@given(
    hour=st.integers(4, 11),
    day=st.sampled_from(["tomorrow", "on friday", "every friday", "in 3 days", "20 june"]),
    zone=zones,
    now=nows,
)
def test_the_evening_of_a_day_says_which_half_of_it_a_time_before_it_is_in(
    hour: int, day: str, zone: ZoneInfo, now: datetime
) -> None:
    found = parse_when(f"at {hour} {day} evening dinner", zone=zone, now=now)
    assert found == parse_when(f"{day} at {hour + 12}:00 dinner", zone=zone, now=now)


@calm
@given(
    lead=st.sampled_from(["tomorrow 9am", "in 10 minutes", "every day at 9", "friday 8:30pm,"]),
    rest=st.text(st.sampled_from(".!#*_~/\"'…>xyz"), min_size=1, max_size=8),
    zone=zones,
    now=nows,
)
def test_what_begins_after_a_blank_is_not_cut(
    lead: str, rest: str, zone: ZoneInfo, now: datetime
) -> None:
    assume(rest.strip(".!"))
    found = parse_when(f"{lead} {rest}", zone=zone, now=now)
    assert isinstance(found, ResolvedTime | Clarification)
    assert isinstance(found, Clarification) or found.remaining_text == rest


@pytest.mark.parametrize(
    "piece", ["at 9 ", "10m tea ", "in 1 hour and ", "every monday, ", "1", "a", "9.", "-"]
)
def test_a_long_text_takes_no_long_time(piece: str) -> None:
    text = (piece * 200_000)[:800_000]
    start = process_time()
    parse_when(text, zone=ZoneInfo("Europe/Berlin"), now=datetime(2026, 11, 16, tzinfo=UTC))
    parse_duration_text(text)
    assert process_time() - start < 1
