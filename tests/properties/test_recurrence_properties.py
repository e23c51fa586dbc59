"""Properties of every series: any zone, any year, any rule."""

from __future__ import annotations

from calendar import isleap, monthrange
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from itertools import islice, pairwise, takewhile
from time import process_time
from zoneinfo import ZoneInfo, available_timezones

from dateutil.rrule import rrulestr
from duecourse.domain.time.dst import to_instant
from duecourse.domain.time.recurrence import RecurrenceError, RecurrenceRule, Series
from duecourse.domain.time.timezones import to_wall_time
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import scale_examples

DAY = timedelta(days=1)
TICK = timedelta(microseconds=1)
EARLIEST = datetime.min.replace(tzinfo=UTC)
# Hypothesis seldom meets a clock change by chance.
CHANGES = {
    "Europe/Berlin": ["2026-03-29T02:30", "2026-10-25T02:30", "2099-03-29T02:30"],
    "America/New_York": ["2026-03-08T02:30", "2026-11-01T01:30"],
    "Australia/Lord_Howe": ["2026-04-05T01:45", "2026-10-04T02:15"],
    "America/Sao_Paulo": ["2018-11-04T00:30", "2018-02-17T23:30"],
    "Pacific/Apia": ["2011-12-30T12:00"],
    "Pacific/Kiritimati": ["1994-12-31T12:00"],
    "Africa/Casablanca": ["2026-02-15T02:30", "2026-03-22T02:30"],
    "America/Nuuk": ["2026-03-28T23:30", "2026-10-24T23:30"],
}
WEEKDAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"]
TEXTS = ["daily", "weekly", "monthly", "weekdays", "30 2 * * *", "*/30 1-3 * * *", "15 0 L * *"]
TEXTS += ["FREQ=DAILY", "FREQ=HOURLY;INTERVAL=5", "FREQ=WEEKLY;BYDAY=SA,SU", "FREQ=MINUTELY"]

property_settings = settings(max_examples=scale_examples(150), deadline=None)

zones = st.sampled_from(sorted(available_timezones() - {"localtime", "Factory"})).map(ZoneInfo)
walls = st.builds(
    datetime.combine,
    st.dates(date(1975, 1, 1), date(2100, 12, 31)),
    st.times(),
)


@st.composite
def changes(draw: st.DrawFn) -> tuple[datetime, ZoneInfo]:
    """A few days around a time that its zone skips or doubles."""
    zone = draw(st.sampled_from(sorted(CHANGES)))
    change = datetime.fromisoformat(draw(st.sampled_from(CHANGES[zone])))
    days = draw(st.integers(-3, 0))
    minutes = draw(st.integers(-40, 40))
    return change + timedelta(days=days, minutes=minutes), ZoneInfo(zone)


moments = st.tuples(walls, zones) | changes()
repeats = st.sampled_from(TEXTS).map(RecurrenceRule.parse)


def list_occurrences(series: Series, since: datetime, number: int) -> list[datetime]:
    occurrences: list[datetime] = []
    instant = series.first_from(since)
    while instant and len(occurrences) < number:
        occurrences.append(instant)
        instant = series.next_after(instant)
    return occurrences


def monthly_wall_times(anchor: datetime, number: int) -> list[datetime]:
    """Return the monthly wall times, computed the slow and obvious way."""
    wall_times, year, month = [], anchor.year, anchor.month
    for _ in range(number):
        day = min(anchor.day, monthrange(year, month)[1])
        wall_times.append(datetime.combine(date(year, month, day), anchor.time()))
        year, month = (year, month + 1) if month < 12 else (year + 1, 1)
    return wall_times


def is_skipped(wall: datetime, zone: ZoneInfo) -> bool:
    return to_wall_time(wall.replace(tzinfo=zone).astimezone(UTC), zone) != wall


@property_settings
@given(moment=moments, repeat=repeats, back=st.timedeltas(DAY * -400, DAY * 400))
def test_occurrences_are_strictly_increasing(
    moment: tuple[datetime, ZoneInfo], repeat: RecurrenceRule, back: timedelta
) -> None:
    anchor, zone = moment
    series = Series(repeat, anchor, zone)
    since = to_instant(anchor, zone) + back
    wall_times = list_occurrences(series, since, 12)
    assert wall_times == sorted(set(wall_times))
    assert wall_times[0] >= max(since, to_instant(anchor, zone))


@property_settings
@given(moment=moments, keyword=st.sampled_from(["daily", "weekly", "monthly", "weekdays"]))
def test_a_series_keeps_the_time_of_day_of_its_anchor(
    moment: tuple[datetime, ZoneInfo], keyword: str
) -> None:
    anchor, zone = moment
    for instant in list_occurrences(
        Series(RecurrenceRule.parse(keyword), anchor, zone), to_instant(anchor, zone), 8
    ):
        wall = to_wall_time(instant, zone)
        if wall.time() != anchor.time():
            # Then the clock change skipped its own time, up to exactly this instant.
            before = to_wall_time(instant - TICK, zone)
            nominal = datetime.combine(before.date(), anchor.time())
            nominal += DAY if nominal <= before else timedelta(0)
            assert is_skipped(nominal, zone)
            assert before < nominal < wall


@property_settings
@given(moment=moments, repeat=repeats, data=st.data())
def test_the_next_occurrence_is_the_same_from_any_earlier_instant(
    moment: tuple[datetime, ZoneInfo], repeat: RecurrenceRule, data: st.DataObject
) -> None:
    anchor, zone = moment
    series = Series(repeat, anchor, zone)
    wall_times = list_occurrences(series, to_instant(anchor, zone), 8)
    for earlier, later in pairwise(wall_times):
        between = data.draw(st.timedeltas(TICK, later - earlier))
        assert series.first_from(earlier + between) == later
        assert series.next_after(later - between) == later
    assert series.count_between(wall_times[0], wall_times[-1]) == len(wall_times) - 2


@property_settings
@given(moment=moments, years=st.integers(0, 30))
def test_daily_has_an_occurrence_on_every_day_of_the_zone(
    moment: tuple[datetime, ZoneInfo], years: int
) -> None:
    anchor, zone = moment
    series = Series(RecurrenceRule.parse("daily"), anchor, zone)
    later = anchor + DAY * 365 * years
    since = to_instant(later, zone)
    expected = sorted({to_instant(later + DAY * day, zone) for day in range(10)})
    assert list_occurrences(series, since, len(expected)) == expected
    days = {to_wall_time(instant, zone).date() for instant in expected}
    for day in range(10):
        noon = datetime.combine(later.date() + DAY * day, time(12))
        assert noon.date() in days or is_skipped(later + DAY * day, zone)


@property_settings
@given(moment=moments, months=st.integers(0, 400))
def test_monthly_has_exactly_one_occurrence_in_each_month(
    moment: tuple[datetime, ZoneInfo], months: int
) -> None:
    anchor, zone = moment
    nominal = monthly_wall_times(anchor, months + 14)[months:]
    series = Series(RecurrenceRule.parse("monthly"), anchor, zone)
    wall_times = list_occurrences(series, to_instant(nominal[0], zone), 14)
    assert wall_times == [to_instant(wall, zone) for wall in nominal]
    unskipped = [wall for wall in nominal if not is_skipped(wall, zone)]
    assert {(wall.year, wall.month) for wall in unskipped} <= {
        (wall.year, wall.month) for wall in (to_wall_time(instant, zone) for instant in wall_times)
    }


@property_settings
@given(moment=moments)
def test_weekdays_are_the_daily_occurrences_without_the_weekend(
    moment: tuple[datetime, ZoneInfo],
) -> None:
    anchor, zone = moment
    days = (anchor + DAY * day for day in range(14))
    expected = sorted({to_instant(day, zone) for day in days if day.isoweekday() < 6})
    series = Series(RecurrenceRule.parse("weekdays"), anchor, zone)
    assert list_occurrences(series, to_instant(anchor, zone), len(expected)) == expected


# RRULE against dateutil itself


def comma_separated(values: st.SearchStrategy[int], maximum: int = 3) -> st.SearchStrategy[str]:
    return st.lists(values, min_size=1, max_size=maximum).map(
        lambda numbers: ",".join(map(str, numbers))
    )


def nonzero_up_to(maximum: int) -> st.SearchStrategy[int]:
    return st.integers(1, maximum) | st.integers(-maximum, -1)


PARTS = {
    "BYMONTH": comma_separated(st.integers(1, 12)),
    "BYMONTHDAY": comma_separated(nonzero_up_to(31)),
    "BYDAY": st.lists(st.sampled_from(WEEKDAYS), min_size=1, max_size=4).map(",".join),
    "BYHOUR": comma_separated(st.integers(0, 23)),
    "BYMINUTE": comma_separated(st.integers(0, 59)),
    "BYYEARDAY": comma_separated(nonzero_up_to(366)),
    "BYSETPOS": comma_separated(nonzero_up_to(5), 2),
    "WKST": st.sampled_from(WEEKDAYS),
}
# What dateutil supports: no BYSETPOS with WEEKLY, whose first week it truncates.
PARTS_BY_FREQUENCY = {
    "MINUTELY": ["BYMONTH", "BYMONTHDAY", "BYDAY", "BYHOUR", "BYMINUTE", "BYYEARDAY"],
    "HOURLY": ["BYMONTH", "BYMONTHDAY", "BYDAY", "BYHOUR", "BYMINUTE", "BYYEARDAY", "BYSETPOS"],
    "DAILY": ["BYMONTH", "BYMONTHDAY", "BYDAY", "BYHOUR", "BYMINUTE", "BYSETPOS"],
    "WEEKLY": ["BYMONTH", "BYDAY", "BYHOUR", "BYMINUTE", "WKST"],
    "MONTHLY": ["BYMONTH", "BYMONTHDAY", "BYDAY", "BYHOUR", "BYMINUTE", "BYSETPOS"],
    "YEARLY": [name for name in PARTS if name != "WKST"],
}
ordinals = st.lists(
    st.builds("{:+d}{}".format, nonzero_up_to(5), st.sampled_from(WEEKDAYS)), min_size=1, max_size=3
).map(",".join)


@st.composite
def rrules(draw: st.DrawFn) -> str:
    freq = draw(st.sampled_from(sorted(PARTS_BY_FREQUENCY)))
    names = draw(st.lists(st.sampled_from(PARTS_BY_FREQUENCY[freq]), unique=True, max_size=3))
    parts = {name: draw(PARTS[name]) for name in names}
    if freq in ("MONTHLY", "YEARLY") and draw(st.booleans()):
        parts["BYDAY"] = draw(ordinals)
    interval = draw(st.integers(1, 4) | st.integers(1, 60 if freq != "YEARLY" else 6))
    return ";".join(
        [f"FREQ={freq}", f"INTERVAL={interval}", *(f"{name}={parts[name]}" for name in parts)]
    )


# dateutil searches up to the year 9999 if nothing matches, so it starts shortly before; the
# calendar is the same there as 8000 years earlier.
LAST_DAY = datetime.combine(date(1999, 12, 31), time())
SPANS = {"MINUTELY": 365, "HOURLY": 365, "DAILY": 1500, "WEEKLY": 3000}


def dateutil_wall_times(text: str, anchor: datetime) -> Iterator[datetime]:
    try:
        for wall in rrulestr(text, dtstart=anchor.replace(year=anchor.year + 8000)):
            yield wall.replace(year=wall.year - 8000)
    except ValueError:  # nothing matches, or the calendar ends
        return


@settings(property_settings, max_examples=scale_examples(250))
@given(text=rrules(), data=st.data())
def test_an_rrule_agrees_with_dateutil(text: str, data: st.DataObject) -> None:
    span = SPANS.get(text.split(";")[0].removeprefix("FREQ="), 3600)
    anchor = LAST_DAY - timedelta(minutes=data.draw(st.integers(1440, span * 1440)))
    later = timedelta(minutes=data.draw(st.integers(0, 14_400)))
    start = anchor + later * (1 if span == 365 else 30)
    expected = (wall for wall in dateutil_wall_times(text, anchor) if wall >= start)
    wall_times = takewhile(
        lambda wall: wall.year < 2000, RecurrenceRule.parse(text).wall_times(anchor, start)
    )
    assert list(islice(wall_times, 20)) == list(islice(expected, 20))


@settings(property_settings, max_examples=scale_examples(60))
@given(
    anchor=st.datetimes(datetime.fromisoformat("1975-01-01"), datetime.fromisoformat("2090-01-01")),
    freq=st.sampled_from(["DAILY", "WEEKLY", "MONTHLY", "YEARLY"]),
    interval=st.integers(1, 9),
    week_start=st.sampled_from(WEEKDAYS),
    days=PARTS["BYDAY"],
    later=st.timedeltas(timedelta(0), DAY * 3650),
)
def test_jumping_ahead_gives_the_same_times_as_counting_from_the_anchor(
    anchor: datetime, freq: str, interval: int, week_start: str, days: str, later: timedelta
) -> None:
    text = f"FREQ={freq};INTERVAL={interval};WKST={week_start};BYDAY={days}"
    expected_wall_times = rrulestr(text, dtstart=anchor).xafter(
        (anchor + later).replace(microsecond=0), 10
    )
    wall_times = RecurrenceRule.parse(text).wall_times(anchor, anchor + later + TICK)
    assert [wall.replace(microsecond=0) for wall in islice(wall_times, 10)] == list(
        expected_wall_times
    )


@property_settings
@given(number=nonzero_up_to(53), year=st.integers(1975, 2100))
def test_byweekno_is_the_iso_week_number(number: int, year: int) -> None:
    begin = datetime.combine(date(year, 1, 1), time(9))
    rule = RecurrenceRule.parse(f"FREQ=YEARLY;BYWEEKNO={number};BYDAY={','.join(WEEKDAYS)}")
    wall_times = takewhile(lambda wall: wall.year == year, rule.wall_times(begin, begin))
    days = [begin.date() + DAY * day for day in range(365 + isleap(year))]
    assert [wall.date() for wall in wall_times] == [day for day in days if number in iso_weeks(day)]


def iso_weeks(day: date) -> tuple[int, int]:
    """Return the week number of the day from the start of its ISO year, and from its end."""
    year, week, _ = day.isocalendar()
    return week, week - date(year, 12, 28).isocalendar().week - 1


# Arbitrary texts

property_names = st.sampled_from(
    ["FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYSECOND", "DTSTART", *PARTS, "BYWEEKNO", "X"]
)
values = (
    st.sampled_from(
        [*PARTS_BY_FREQUENCY, "SECONDLY", "MO", "-5FR", "53MO", "0", "1", "-1", "29", "30", "31"]
    )
    | st.sampled_from(["10000", "99999999999999999999", "20261231T235959Z", "20260230", "", "+"])
    | st.sampled_from([",".join(map(str, range(24))), ",".join(map(str, range(60))), "1,2,x"])
    | comma_separated(st.integers(-400, 400), 30)
    | st.text(max_size=5)
)
parts = st.tuples(property_names, values).map("=".join)
assembled = st.tuples(
    st.sampled_from(["", "RRULE:", "rrule:", "EXRULE:"]),
    st.sampled_from(["FREQ=" + freq for freq in PARTS_BY_FREQUENCY]),
    st.lists(parts, max_size=5),
).map(lambda wall_times: wall_times[0] + ";".join([wall_times[1], *wall_times[2]]))
extended_rrules = st.builds(
    lambda rule, extra: ";".join([rule, *extra]),
    rrules(),
    st.lists(st.sampled_from(["COUNT=10000", "BYWEEKNO=53", "UNTIL=99991231T235959Z"]), max_size=1),
)
cron_fields = st.sampled_from(
    ["*", "*/7", "0", "5", "29", "30", "31", "2", "L", "LW", "5L", "1#5", "*/31", "MON", "1-5/2"]
) | st.text("0123456789*/-,#LWMON", min_size=1, max_size=6)
crons = st.lists(cron_fields, min_size=5, max_size=5).map(" ".join)


@settings(property_settings, max_examples=scale_examples(400))
@given(text=st.text(max_size=600) | assembled | extended_rrules | crons, anchor=walls)
def test_any_text_is_refused_or_evaluated_in_time(text: str, anchor: datetime) -> None:
    started_at = process_time()
    with suppress(RecurrenceError):
        series = Series(RecurrenceRule.parse(text), anchor, ZoneInfo("Europe/Berlin"))
        much_later = to_instant(anchor, series.zone) + DAY * 20_000
        assert series.next_after(EARLIEST) == series.first_from(EARLIEST)
        assert (series.first_from(much_later) or much_later) >= much_later
    assert process_time() - started_at < 1
