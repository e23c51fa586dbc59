"""Wall-clock times as instants, including those that a clock change skips or repeats."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from duecourse.domain.time.dst import earliest_wall_time, to_instant
from duecourse.domain.time.timezones import to_wall_time


def parse(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("zone", "wall_time", "instant"),
    [
        ("UTC", "2026-05-01T09:00", "2026-05-01T09:00Z"),
        ("Europe/Berlin", "2026-01-15T09:00", "2026-01-15T08:00Z"),
        ("Europe/Berlin", "2026-07-15T09:00", "2026-07-15T07:00Z"),
        ("Asia/Kathmandu", "2026-07-15T09:00", "2026-07-15T03:15Z"),
        ("Europe/Berlin", "2150-07-15T09:00", "2150-07-15T07:00Z"),
    ],
)
def test_an_ordinary_time_has_one_instant(zone: str, wall_time: str, instant: str) -> None:
    assert to_instant(parse(wall_time), ZoneInfo(zone)) == parse(instant)
    assert to_wall_time(parse(instant), ZoneInfo(zone)) == parse(wall_time)


@pytest.mark.parametrize(
    ("zone", "wall_time", "instant"),
    [
        ("Europe/Berlin", "2026-03-29T02:00", "2026-03-29T01:00Z"),
        ("Europe/Berlin", "2026-03-29T02:30", "2026-03-29T01:00Z"),
        ("Europe/Berlin", "2026-03-29T02:59:59.999999", "2026-03-29T01:00Z"),
        ("America/New_York", "2026-03-08T02:30", "2026-03-08T07:00Z"),
        ("Australia/Lord_Howe", "2026-10-04T02:15", "2026-10-03T15:30Z"),
        ("America/Sao_Paulo", "2018-11-04T00:30", "2018-11-04T03:00Z"),
        ("Africa/Monrovia", "1972-01-07T00:10", "1972-01-07T00:44:30Z"),
        ("Pacific/Apia", "2011-12-30T00:00", "2011-12-30T10:00Z"),
        ("Pacific/Apia", "2011-12-30T23:59", "2011-12-30T10:00Z"),
        ("Europe/Berlin", "2190-03-28T02:30", "2190-03-28T01:00Z"),
    ],
)
def test_a_skipped_time_is_the_first_valid_instant_after_the_gap(
    zone: str, wall_time: str, instant: str
) -> None:
    assert to_instant(parse(wall_time), ZoneInfo(zone)) == parse(instant)


@pytest.mark.parametrize(
    ("zone", "wall_time", "first", "gap"),
    [
        ("Europe/Berlin", "2026-10-25T02:30", "2026-10-25T00:30Z", timedelta(hours=1)),
        ("America/New_York", "2026-11-01T01:30", "2026-11-01T05:30Z", timedelta(hours=1)),
        ("Australia/Lord_Howe", "2026-04-05T01:45", "2026-04-04T14:45Z", timedelta(minutes=30)),
    ],
)
def test_a_repeated_time_is_its_first_instant(
    zone: str, wall_time: str, first: str, gap: timedelta
) -> None:
    assert to_instant(parse(wall_time), ZoneInfo(zone)) == parse(first)
    assert to_instant(parse(wall_time).replace(fold=1), ZoneInfo(zone)) == parse(first)
    assert to_wall_time(parse(first) + gap, ZoneInfo(zone)) == parse(wall_time)


def test_an_instant_is_in_utc_and_a_wall_time_is_naive() -> None:
    instant = to_instant(parse("2026-03-29T02:30"), ZoneInfo("Europe/Berlin"))
    assert instant.tzinfo is UTC
    second_occurrence = to_wall_time(parse("2026-10-25T01:30Z"), ZoneInfo("Europe/Berlin"))
    assert (second_occurrence.tzinfo, second_occurrence.fold) == (None, 0)


def test_an_aware_wall_time_is_rejected() -> None:
    with pytest.raises(ValueError, match="naive"):
        to_instant(parse("2026-01-01T00:00Z"), ZoneInfo("UTC"))


@pytest.mark.parametrize(
    ("instant", "wall_time"),
    [
        ("2026-03-29T00:30Z", "2026-03-29T01:30"),
        ("2026-03-29T01:00Z", "2026-03-29T02:00"),
        ("2026-03-29T01:00:00.000001Z", "2026-03-29T03:00:00.000001"),
        ("2026-10-25T01:00Z", "2026-10-25T02:00"),
        ("2026-10-25T01:30Z", "2026-10-25T02:30"),
    ],
)
def test_the_earliest_wall_time_lies_before_a_gap_that_ends_at_the_instant(
    instant: str, wall_time: str
) -> None:
    assert earliest_wall_time(parse(instant), ZoneInfo("Europe/Berlin")) == parse(wall_time)
