"""The occurrences of recurrence rules: words, cron and RRULE."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from time import process_time
from zoneinfo import ZoneInfo

import pytest
from duecourse.domain.time.recurrence import RecurrenceError, RecurrenceRule, Series

CORE = Path(__file__).parents[4] / "layers/core/python"
BERLIN = "Europe/Berlin"
NEW_YORK = "America/New_York"
LORD_HOWE = "Australia/Lord_Howe"
LONG_AGO = datetime(1950, 1, 1, tzinfo=UTC)
EVERY_MINUTE = f"BYHOUR={','.join(map(str, range(24)))};BYMINUTE={','.join(map(str, range(60)))}"


def parse(text: str) -> datetime:
    return datetime.fromisoformat(text)


def a_series(text: str, anchor: str, zone: str = "UTC") -> Series:
    return Series(RecurrenceRule.parse(text), parse(anchor), ZoneInfo(zone))


def occurrences(series: Series, since: datetime = LONG_AGO) -> Iterator[datetime]:
    instant = series.first_from(since)
    while instant:
        yield instant
        instant = series.next_after(instant)


def first_occurrences(number: int, series: Series, since: str = "1950-01-01T00:00Z") -> list[str]:
    return [
        f"{instant.astimezone(series.zone):%Y-%m-%d %H:%M}"
        for instant in islice(occurrences(series, parse(since)), number)
    ]


# Words


@pytest.mark.parametrize(
    ("zone", "anchor", "expected"),
    [
        (BERLIN, "2026-03-28T02:30", ["03-28 02:30", "03-29 03:00", "03-30 02:30"]),
        (BERLIN, "2026-10-24T02:30", ["10-24 02:30", "10-25 02:30", "10-26 02:30"]),
        (NEW_YORK, "2026-03-07T02:30", ["03-07 02:30", "03-08 03:00", "03-09 02:30"]),
        (NEW_YORK, "2026-10-31T01:30", ["10-31 01:30", "11-01 01:30", "11-02 01:30"]),
        (LORD_HOWE, "2026-10-03T02:10", ["10-03 02:10", "10-04 02:30", "10-05 02:10"]),
        (LORD_HOWE, "2026-04-04T01:45", ["04-04 01:45", "04-05 01:45", "04-06 01:45"]),
        (BERLIN, "2026-03-28T09:00", ["03-28 09:00", "03-29 09:00", "03-30 09:00"]),
    ],
)
def test_daily_keeps_its_wall_time_when_the_clocks_change(
    zone: str, anchor: str, expected: list[str]
) -> None:
    assert first_occurrences(3, a_series("daily", anchor, zone)) == [
        f"2026-{day}" for day in expected
    ]


@pytest.mark.parametrize(
    ("zone", "anchor", "instant"),
    [
        (BERLIN, "2026-03-28T02:30", "2026-03-29T01:00Z"),
        (NEW_YORK, "2026-03-07T02:30", "2026-03-08T07:00Z"),
        (LORD_HOWE, "2026-10-03T02:10", "2026-10-03T15:30Z"),
        (BERLIN, "2026-10-24T02:30", "2026-10-25T00:30Z"),
        (NEW_YORK, "2026-10-31T01:30", "2026-11-01T05:30Z"),
        (LORD_HOWE, "2026-04-04T01:45", "2026-04-04T14:45Z"),
    ],
)
def test_a_skipped_time_runs_after_the_gap_and_a_repeated_one_at_its_first_instant(
    zone: str, anchor: str, instant: str
) -> None:
    _, second = islice(occurrences(a_series("daily", anchor, zone)), 2)
    assert second == parse(instant)


def test_an_occurrence_in_a_gap_is_found_from_the_end_of_the_gap() -> None:
    series = a_series("daily", "2026-03-01T02:30", BERLIN)
    assert series.first_from(parse("2026-03-29T01:00Z")) == parse("2026-03-29T01:00Z")
    assert series.next_after(parse("2026-03-29T01:00Z")) == parse("2026-03-30T00:30Z")


def test_a_repeated_time_does_not_run_twice() -> None:
    series = a_series("daily", "2026-10-01T02:30", BERLIN)
    assert series.first_from(parse("2026-10-25T00:30:00.000001Z")) == parse("2026-10-26T01:30Z")
    assert series.first_from(parse("2026-10-25T01:30Z")) == parse("2026-10-26T01:30Z")


def test_a_whole_skipped_day_runs_once_when_the_next_day_begins() -> None:
    assert first_occurrences(4, a_series("daily", "2011-12-29T09:00", "Pacific/Apia")) == [
        "2011-12-29 09:00",
        "2011-12-31 00:00",
        "2011-12-31 09:00",
        "2012-01-01 09:00",
    ]


@pytest.mark.parametrize(
    ("anchor", "expected"),
    [
        ("2026-01-31T09:00", ["01-31", "02-28", "03-31", "04-30", "05-31", "06-30"]),
        ("2026-01-30T09:00", ["01-30", "02-28", "03-30", "04-30", "05-30", "06-30"]),
        ("2028-01-31T09:00", ["01-31", "02-29", "03-31", "04-30", "05-31", "06-30"]),
        ("2026-02-28T09:00", ["02-28", "03-28", "04-28", "05-28", "06-28", "07-28"]),
        ("2026-07-31T09:00", ["07-31", "08-31", "09-30", "10-31", "11-30", "12-31"]),
    ],
)
def test_monthly_runs_on_the_last_day_of_a_shorter_month(anchor: str, expected: list[str]) -> None:
    days = first_occurrences(6, a_series("monthly", anchor, BERLIN))
    assert days == [f"{anchor[:4]}-{day} 09:00" for day in expected]


def test_monthly_on_a_leap_day_runs_each_month_on_the_29th_or_the_last() -> None:
    series = a_series("monthly", "2028-02-29T09:00")
    assert first_occurrences(3, series, "2029-01-01T00:00Z") == [
        "2029-01-29 09:00",
        "2029-02-28 09:00",
        "2029-03-29 09:00",
    ]


def test_weekly_keeps_its_weekday_and_wall_time_through_the_year() -> None:
    series = a_series("weekly", "2026-03-23T09:00", BERLIN)
    assert first_occurrences(3, series) == [
        "2026-03-23 09:00",
        "2026-03-30 09:00",
        "2026-04-06 09:00",
    ]
    assert first_occurrences(1, series, "2036-10-25T00:00Z") == ["2036-10-27 09:00"]


def test_weekdays_skip_saturday_and_sunday() -> None:
    assert first_occurrences(4, a_series("weekdays", "2026-05-07T17:00", BERLIN)) == [
        "2026-05-07 17:00",
        "2026-05-08 17:00",
        "2026-05-11 17:00",
        "2026-05-12 17:00",
    ]


def test_weekdays_anchored_on_a_saturday_begin_on_monday() -> None:
    assert first_occurrences(1, a_series("weekdays", "2026-05-09T17:00")) == ["2026-05-11 17:00"]


@pytest.mark.parametrize("text", ["daily", "monthly", "FREQ=DAILY", "FREQ=MONTHLY"])
def test_microseconds_of_the_anchor_are_kept(text: str) -> None:
    series = a_series(text, "2026-01-01T09:00:07.250001")
    assert series.first_from(LONG_AGO) == parse("2026-01-01T09:00:07.250001Z")
    second = series.next_after(parse("2026-01-01T09:00:07.250001Z"))
    assert second
    assert second.microsecond == 250_001


@pytest.mark.parametrize(
    "text", ["daily", "weekly", "monthly", "weekdays", "0 9 * * *", "FREQ=DAILY"]
)
def test_nothing_occurs_before_the_anchor(text: str) -> None:
    series = a_series(text, "2026-06-01T09:00")
    assert series.first_from(LONG_AGO) == parse("2026-06-01T09:00Z")
    assert series.next_after(LONG_AGO) == parse("2026-06-01T09:00Z")


def test_first_from_includes_the_instant_and_next_after_does_not() -> None:
    series = a_series("daily", "2026-06-01T09:00")
    assert series.first_from(parse("2026-06-05T09:00Z")) == parse("2026-06-05T09:00Z")
    assert series.next_after(parse("2026-06-05T09:00Z")) == parse("2026-06-06T09:00Z")


# Cron


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("30 9 * * *", ["05-07 09:30", "05-08 09:30"]),
        ("0 9 * * 1", ["05-11 09:00", "05-18 09:00"]),
        ("0 9 * * mon-fri", ["05-08 09:00", "05-11 09:00"]),
        ("*/20 12 * * *", ["05-07 12:00", "05-07 12:20"]),
        ("0 0 1 * *", ["06-01 00:00", "07-01 00:00"]),
        ("0  0\tL * *", ["05-31 00:00", "06-30 00:00"]),
        ("0 0 * * FRI#2", ["05-08 00:00", "06-12 00:00"]),
    ],
)
def test_cron_lines_run_on_the_wall_clock(line: str, expected: list[str]) -> None:
    actual = first_occurrences(2, a_series(line, "2026-05-07T09:15", BERLIN))
    assert actual == [f"2026-{day}" for day in expected]


def test_cron_uses_the_anchor_only_as_its_start() -> None:
    series = a_series("0 9 * * *", "2026-05-07T09:00:00.5", BERLIN)
    assert first_occurrences(1, series) == ["2026-05-08 09:00"]
    assert series.first_from(LONG_AGO) == parse("2026-05-08T07:00Z")


def test_a_frequent_cron_line_runs_once_at_the_end_of_a_gap() -> None:
    series = a_series("*/30 * * * *", "2026-01-01T00:00", BERLIN)
    assert first_occurrences(4, series, "2026-03-29T00:30Z") == [
        "2026-03-29 01:30",
        "2026-03-29 03:00",
        "2026-03-29 03:30",
        "2026-03-29 04:00",
    ]


def test_a_frequent_cron_line_runs_once_in_a_repeated_hour() -> None:
    series = a_series("*/30 * * * *", "2026-01-01T00:00", BERLIN)
    assert list(islice(occurrences(series, parse("2026-10-25T00:00Z")), 4)) == [
        parse("2026-10-25T00:00Z"),
        parse("2026-10-25T00:30Z"),
        parse("2026-10-25T02:00Z"),
        parse("2026-10-25T02:30Z"),
    ]


# RRULE


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("FREQ=DAILY", ["01-31 09:00", "02-01 09:00", "02-02 09:00"]),
        ("RRULE:FREQ=DAILY;INTERVAL=10", ["01-31 09:00", "02-10 09:00", "02-20 09:00"]),
        ("rrule:freq=daily;byhour=8,10", ["01-31 10:00", "02-01 08:00", "02-01 10:00"]),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,SA", ["01-31 09:00", "02-09 09:00", "02-14 09:00"]),
        ("FREQ=WEEKLY;BYDAY=SU; WKST=SU", ["02-01 09:00", "02-08 09:00", "02-15 09:00"]),
        ("FREQ=MONTHLY", ["01-31 09:00", "03-31 09:00", "05-31 09:00"]),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", ["01-31 09:00", "02-28 09:00", "03-31 09:00"]),
        ("FREQ=MONTHLY;BYDAY=2TU", ["02-10 09:00", "03-10 09:00", "04-14 09:00"]),
        ("FREQ=MONTHLY;BYDAY=2TU,SU", ["02-01 09:00", "02-08 09:00", "02-10 09:00"]),
        (
            "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1",
            ["02-27 09:00", "03-31 09:00", "04-30 09:00"],
        ),
        ("FREQ=YEARLY;BYDAY=20MO", ["05-18 09:00"]),
        ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", ["05-11 09:00"]),
        ("FREQ=YEARLY;BYWEEKNO=20", ["05-16 09:00"]),
        ("FREQ=HOURLY;INTERVAL=7", ["01-31 09:00", "01-31 16:00", "01-31 23:00"]),
        ("FREQ=HOURLY;BYMINUTE=5,10,15;BYSETPOS=-1", ["01-31 09:15", "01-31 10:15"]),
        ("FREQ=MINUTELY;INTERVAL=90;BYHOUR=12", ["01-31 12:00", "02-01 12:00"]),
        ("FREQ=DAILY;COUNT=2", ["01-31 09:00", "02-01 09:00"]),
        ("FREQ=DAILY;UNTIL=20260202T085959", ["01-31 09:00", "02-01 09:00"]),
        ("FREQ=DAILY;UNTIL=20260202T090000", ["01-31 09:00", "02-01 09:00", "02-02 09:00"]),
        ("FREQ=DAILY;UNTIL=20260202T080000Z", ["01-31 09:00", "02-01 09:00", "02-02 09:00"]),
        ("FREQ=DAILY;UNTIL=20260202T075959Z", ["01-31 09:00", "02-01 09:00"]),
        ("FREQ=DAILY;UNTIL=20260201", ["01-31 09:00", "02-01 09:00"]),
    ],
)
def test_rrules_run_from_their_anchor_on(rule: str, expected: list[str]) -> None:
    actual = first_occurrences(len(expected), a_series(rule, "2026-01-31T09:00", BERLIN))
    assert actual == [f"2026-{day}" for day in expected]


@pytest.mark.parametrize("end", ["COUNT=3", "UNTIL=20260202T090000", "UNTIL=20260202T080000Z"])
def test_a_finite_series_has_no_occurrence_after_its_end(end: str) -> None:
    series = a_series(f"FREQ=DAILY;{end}", "2026-01-31T09:00", BERLIN)
    assert len(first_occurrences(200, series)) == 3
    assert series.next_after(parse("2026-02-02T08:00Z")) is None
    assert series.first_from(parse("2026-02-02T08:00Z")) == parse("2026-02-02T08:00Z")


def test_a_yearly_rule_on_a_leap_day_waits_for_the_next_one() -> None:
    series = a_series("FREQ=YEARLY", "2096-02-29T09:00")
    assert first_occurrences(2, series) == ["2096-02-29 09:00", "2104-02-29 09:00"]


@pytest.mark.parametrize("freq", ["YEARLY", "MONTHLY", "DAILY", "HOURLY;BYHOUR=9"])
def test_a_rare_leap_day_is_found_however_far_away(freq: str) -> None:
    series = a_series(f"FREQ={freq};BYMONTH=2;BYMONTHDAY=29;BYDAY=MO", "2072-02-29T09:00")
    assert first_occurrences(2, series) == ["2072-02-29 09:00", "2112-02-29 09:00"]


def test_a_gap_longer_than_the_horizon_ends_a_series() -> None:
    assert first_occurrences(2, a_series("FREQ=YEARLY;INTERVAL=50", "2026-01-01T09:00")) == [
        "2026-01-01 09:00"
    ]


def test_a_rule_with_a_count_can_exceed_the_horizon() -> None:
    assert len(first_occurrences(200, a_series("FREQ=YEARLY;COUNT=100", "2026-01-01T09:00"))) == 100


# Ends of the series


@pytest.mark.parametrize(
    "text",
    [
        "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MONTHLY;BYMONTH=2,4;BYMONTHDAY=31",
        "FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=30",
        "FREQ=MINUTELY;BYMONTH=2;BYMONTHDAY=30;COUNT=10000",
        "FREQ=MINUTELY;INTERVAL=1440;BYHOUR=5",
        "FREQ=MINUTELY;INTERVAL=9960;BYHOUR=5;BYMINUTE=7",
        "FREQ=HOURLY;INTERVAL=24;BYHOUR=3",
        "FREQ=MINUTELY;BYSETPOS=2",
        "FREQ=WEEKLY;BYDAY=MO;BYSETPOS=366",
        f"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30;{EVERY_MINUTE}",
        f"FREQ=MONTHLY;BYMONTH=4;BYMONTHDAY=31;BYSETPOS={','.join(map(str, range(250, 340)))}",
        "FREQ=DAILY;UNTIL=20200101",
        "FREQ=DAILY;UNTIL=20200101T000000Z",
    ],
)
def test_a_rule_that_never_fires_is_detected_quickly(text: str) -> None:
    started = process_time()
    assert a_series(text, "2024-02-29T04:00").first_from(LONG_AGO) is None
    assert process_time() - started < 0.5


@pytest.mark.parametrize("text", ["daily", "0 0 29 2 *", "FREQ=YEARLY", "FREQ=DAILY;COUNT=1"])
def test_a_rule_that_fires_has_a_first_occurrence(text: str) -> None:
    assert a_series(text, "2024-02-29T04:00").first_from(LONG_AGO) is not None


@pytest.mark.parametrize(
    "text",
    [
        "daily",
        "weekdays",
        "monthly",
        "* * * * *",
        "FREQ=MINUTELY",
        "FREQ=HOURLY;INTERVAL=7",
        "FREQ=DAILY;BYDAY=MO",
        "FREQ=WEEKLY;INTERVAL=3",
        "FREQ=MONTHLY;BYDAY=-1FR",
        "FREQ=YEARLY",
        f"FREQ=YEARLY;BYDAY=MO,TU,WE,TH,FR,SA,SU;{EVERY_MINUTE}",
    ],
)
def test_an_old_series_finds_its_next_occurrence_in_milliseconds(text: str) -> None:
    series = a_series(text, "1971-01-01T04:30", BERLIN)
    series.first_from(LONG_AGO)
    started = process_time()
    assert series.next_after(parse("2026-12-30T12:00Z"))
    assert process_time() - started < 0.05


@pytest.mark.parametrize("text", ["daily", "monthly", "0 0 * * *", "FREQ=DAILY", "FREQ=WEEKLY"])
def test_the_end_of_the_calendar_is_the_end_of_the_series(text: str) -> None:
    last = datetime.max.replace(tzinfo=UTC)
    for zone in ("Pacific/Kiritimati", "Pacific/Niue"):
        last_series = Series(RecurrenceRule.parse(text), last.replace(tzinfo=None), ZoneInfo(zone))
        assert last_series.first_from(LONG_AGO) is None
        series = Series(RecurrenceRule.parse(text), parse("2026-01-01T00:00"), ZoneInfo(zone))
        assert series.next_after(last) is None
        assert series.first_from(parse("9900-12-31T23:59:59Z")) is None
        assert series.count_between(parse("9890-01-01T00:00Z"), last, limit=5) == 5


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Niue"])
def test_the_beginning_of_the_calendar_is_a_valid_start(zone: str) -> None:
    series = a_series("daily", "2026-01-01T00:00", zone)
    assert series.first_from(datetime.min.replace(tzinfo=ZoneInfo(zone))) == series.first_from(
        LONG_AGO
    )


def test_an_aware_or_too_early_anchor_is_rejected() -> None:
    with pytest.raises(ValueError, match="naive"):
        a_series("daily", "2026-01-01T00:00Z")
    with pytest.raises(ValueError, match="1900"):
        a_series("daily", "1899-12-31T00:00")


def test_a_naive_instant_is_rejected() -> None:
    with pytest.raises(ValueError, match="aware"):
        a_series("daily", "2026-01-01T00:00").first_from(parse("2026-01-01T00:00"))


# Counting


@pytest.mark.parametrize(
    ("after", "before", "expected"),
    [
        ("2026-06-01T09:00Z", "2026-06-05T09:00Z", 3),
        ("2026-06-01T08:59Z", "2026-06-05T09:01Z", 5),
        ("2026-05-01T00:00Z", "2026-06-02T00:00Z", 1),
        ("2026-06-02T00:00Z", "2026-06-02T01:00Z", 0),
        ("2026-06-05T00:00Z", "2026-06-02T00:00Z", 0),
    ],
)
def test_only_occurrences_strictly_between_are_counted(
    after: str, before: str, expected: int
) -> None:
    assert (
        a_series("daily", "2026-06-01T09:00").count_between(parse(after), parse(before)) == expected
    )


def test_counting_stops_at_the_limit() -> None:
    series = a_series("FREQ=MINUTELY", "2016-01-01T00:00")
    year = (parse("2026-01-01T00:00Z"), parse("2027-01-01T00:00Z"))
    assert series.count_between(*year) == 10_000
    assert series.count_between(*year, limit=7) == 7


def test_minutes_of_a_skipped_or_repeated_hour_are_not_counted_twice() -> None:
    series = a_series("* * * * *", "2026-01-01T00:00", BERLIN)
    tick = timedelta(microseconds=1)
    assert (
        series.count_between(parse("2026-03-28T23:00Z") - tick, parse("2026-03-29T22:00Z"))
        == 23 * 60
    )
    assert (
        series.count_between(parse("2026-10-24T22:00Z") - tick, parse("2026-10-25T23:00Z"))
        == 24 * 60
    )


# Parsing


def test_a_rule_keeps_its_text_and_equals_another_with_the_same() -> None:
    assert RecurrenceRule.parse("  Daily \n").text == "Daily"
    assert RecurrenceRule.parse("FREQ=DAILY") == RecurrenceRule.parse(" FREQ=DAILY")
    assert hash(RecurrenceRule.parse("0 9 * * *")) == hash(RecurrenceRule.parse("0 9 * * *"))
    assert RecurrenceRule.parse("daily") != RecurrenceRule.parse("weekly")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("fortnightly", "'fortnightly'"),
        ("@daily", "'@daily'"),
        ("daily\nweekly", "one line"),
        ("täglich", "plain text"),
        ("d" * 501, "501 characters"),
        ("* * * *", "not one of"),
        ("0 0 * * * *", "not one of"),
        ("60 * * * *", "minute field"),
        ("* 24 * * *", "hour field"),
        ("* * 32 * *", "day-of-month field"),
        ("* * 0 * *", "day-of-month field"),
        ("* * * 13 *", "month field"),
        ("* * * * 8", "day-of-week field"),
        ("*/0 * * * *", "minute field"),
        ("0 0 30 2 *", "never fires"),
        ("0 0 31 4,6,9,11 *", "never fires"),
        ("* * * * MON#6", "day-of-week field"),
        ("RRULE:", "not one of"),
        ("FREQ=", "FREQ"),
        ("INTERVAL=2", "FREQ"),
        ("FREQ=SECONDLY", "FREQ"),
        ("FREQ=FORTNIGHTLY", "FREQ"),
        ("FREQ=DAILY;FREQ=DAILY", "FREQ=DAILY"),
        ("FREQ=DAILY;BYSECOND=0", "BYSECOND"),
        ("FREQ=DAILY;BYEASTER=0", "BYEASTER"),
        ("FREQ=DAILY;", "''"),
        ("DTSTART=20260101T000000;FREQ=DAILY", "DTSTART"),
        ("DTSTART:20260101T000000 RRULE:FREQ=DAILY", "DTSTART"),
        ("FREQ=DAILY;EXDATE=20260101T000000", "EXDATE"),
        ("RRULE:FREQ=DAILY\nEXDATE:20260101T000000", "one line"),
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL"),
        ("FREQ=DAILY;INTERVAL=-1", "INTERVAL"),
        ("FREQ=DAILY;INTERVAL=10001", "INTERVAL"),
        ("FREQ=DAILY;INTERVAL=1e3", "INTERVAL"),
        ("FREQ=DAILY;COUNT=0", "COUNT"),
        ("FREQ=DAILY;COUNT=10001", "COUNT"),
        ("FREQ=DAILY;COUNT=2;UNTIL=20270101", "COUNT and UNTIL"),
        ("FREQ=DAILY;UNTIL=tomorrow", "UNTIL"),
        ("FREQ=DAILY;UNTIL=20260230T000000Z", "UNTIL"),
        ("FREQ=DAILY;UNTIL=20260201T240000", "UNTIL"),
        ("FREQ=DAILY;UNTIL=2026-02-01", "UNTIL"),
        ("FREQ=DAILY;WKST=XX", "WKST"),
        ("FREQ=DAILY;WKST=1MO", "WKST"),
        ("FREQ=DAILY;BYHOUR=24", "BYHOUR"),
        ("FREQ=DAILY;BYMINUTE=60", "BYMINUTE"),
        ("FREQ=DAILY;BYHOUR=", "BYHOUR"),
        ("FREQ=YEARLY;BYMONTH=0", "BYMONTH"),
        ("FREQ=YEARLY;BYMONTHDAY=0", "BYMONTHDAY"),
        ("FREQ=YEARLY;BYMONTHDAY=-32", "BYMONTHDAY"),
        ("FREQ=YEARLY;BYYEARDAY=367", "BYYEARDAY"),
        ("FREQ=YEARLY;BYWEEKNO=54;BYDAY=MO", "BYWEEKNO"),
        ("FREQ=MONTHLY;BYSETPOS=0;BYDAY=MO", "BYSETPOS"),
        ("FREQ=WEEKLY;BYDAY=2MO", "BYDAY"),
        ("FREQ=MONTHLY;BYDAY=6MO", "BYDAY"),
        ("FREQ=MONTHLY;BYDAY=0MO", "BYDAY"),
        ("FREQ=YEARLY;BYMONTH=12;BYDAY=53MO", "BYDAY"),
        ("FREQ=YEARLY;BYDAY=54MO", "BYDAY"),
        ("FREQ=YEARLY;BYWEEKNO=20;BYDAY=1MO", "BYDAY"),
        ("FREQ=WEEKLY;BYMONTHDAY=3", "BYMONTHDAY"),
        ("FREQ=DAILY;BYYEARDAY=3", "BYYEARDAY"),
        ("FREQ=MONTHLY;BYWEEKNO=3;BYDAY=MO", "BYWEEKNO"),
    ],
)
def test_an_invalid_rule_is_rejected_with_the_problem(text: str, problem: str) -> None:
    with pytest.raises(RecurrenceError) as caught:
        RecurrenceRule.parse(text)
    assert problem in str(caught.value)
    assert str(caught.value).endswith(".")


def test_the_words_load_neither_cronsim_nor_dateutil() -> None:
    code = (
        "import sys; from duecourse.domain.time.recurrence import RecurrenceRule; "
        "RecurrenceRule.parse('daily'); "
        "sys.exit('cronsim' in sys.modules or 'dateutil' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(CORE)}, check=True)  # noqa: S603
