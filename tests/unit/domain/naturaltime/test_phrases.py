"""Times as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from duecourse.domain.naturaltime import (
    Clarification,
    ResolvedTime,
    parse_duration_text,
    parse_when,
)
from duecourse.domain.time.dst import to_instant
from duecourse.domain.time.recurrence import RecurrenceRule, Series

from local.runtime.template import ROOT
from tests.support.builders.tasks import task_from_json
from tests.support.time_phrases import ASK, NONE, Phrase, format_result, sections

FIRST, LATER, TRAPS = sections()
ALL = FIRST + LATER + TRAPS
BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 16, 13, 30, tzinfo=UTC)  # a Monday, 14:30 in Berlin
PAGE = (ROOT / "docs" / "times.md").read_text()
EXAMPLES = re.findall(r"^\| `([^`]+)` \| (.+?) \|$", PAGE, re.MULTILINE)


def read(
    text: str, *, now: datetime = NOW, zone: ZoneInfo = BERLIN
) -> ResolvedTime | Clarification | None:
    return parse_when(text, zone=zone, now=now)


def wall(text: str) -> datetime:
    return datetime.fromisoformat(text)


def question(text: str, *, now: datetime = NOW) -> str:
    found = read(text, now=now)
    assert isinstance(found, Clarification), found
    return found.question


def when(text: str, *, now: datetime = NOW, zone: ZoneInfo = BERLIN) -> ResolvedTime:
    found = read(text, now=now, zone=zone)
    assert isinstance(found, ResolvedTime), found
    return found


@pytest.mark.parametrize("phrase", ALL, ids=lambda phrase: phrase.text)
def test_a_phrase_means_its_instant_in_every_zone(phrase: Phrase) -> None:
    for zone, meant in phrase.expected:
        found = phrase.parse(zone)
        assert format_result(found, zone, phrase.now) == meant, (zone.key, found)
        if isinstance(found, ResolvedTime):
            assert (found.remaining_text, found.repeat) == (phrase.rest, phrase.repeat)


def test_of_the_phrases_written_down_first_no_more_than_five_are_asked_back_in_vain() -> None:
    right, silently_wrong = 0, []
    for phrase in FIRST:
        found = [
            (format_result(phrase.parse(zone), zone, phrase.now), meant)
            for zone, meant in phrase.expected
        ]
        right += all(got == meant for got, meant in found)
        silently_wrong += [
            (phrase.text, got, meant)
            for got, meant in found
            if got != meant and got not in (ASK, NONE)
        ]
    assert not silently_wrong
    assert len(FIRST) >= 150
    assert right >= len(FIRST) - 5
    assert len(LATER) >= 60


@pytest.mark.parametrize(
    "phrase", [phrase for phrase in ALL if phrase.repeat], ids=lambda phrase: phrase.text
)
def test_a_series_made_of_a_phrase_begins_where_it_says(phrase: Phrase) -> None:
    for zone, meant in phrase.expected:
        found = phrase.parse(zone)
        assert isinstance(found, ResolvedTime)
        assert found.wall_time is not None
        raw = {"due_at": found.wall_time.isoformat(), "timezone": zone.key, "repeat": found.repeat}
        raw |= {"description": "x"}
        task = task_from_json(raw, now=phrase.now)
        assert f"{task.due_at:%Y-%m-%d %H:%M}" == meant


@pytest.mark.parametrize(
    ("text", "second", "third"),
    [
        ("every day at 9", "2026-11-18T09:00", "2026-11-19T09:00"),
        ("every other friday", "2026-12-04T09:00", "2026-12-18T09:00"),
        ("every 2 weeks on tuesday and friday", "2026-11-20T09:00", "2026-12-01T09:00"),
        ("every month on the 31st", "2027-01-31T09:00", "2027-02-28T09:00"),
        ("every month on the last day", "2026-12-31T09:00", "2027-01-31T09:00"),
        ("every last friday of the month", "2026-12-25T09:00", "2027-01-29T09:00"),
        ("every weekend at 10", "2026-11-22T10:00", "2026-11-28T10:00"),
        ("every year on 24 december", "2027-12-24T09:00", "2028-12-24T09:00"),
        ("every 6 months", "2027-11-16T09:00", "2028-05-16T09:00"),
        ("every 3 days", "2026-11-22T09:00", "2026-11-25T09:00"),
        ("every 90 minutes", "2026-11-16T17:30", "2026-11-16T19:00"),
    ],
)
def test_a_series_goes_on_as_it_was_meant(text: str, second: str, third: str) -> None:
    found = when(text)
    assert found.wall_time is not None
    assert found.repeat is not None
    series = Series(RecurrenceRule.parse(found.repeat), found.wall_time, BERLIN)
    instant = to_instant(found.wall_time, BERLIN)
    for expected in (second, third):
        following = series.next_after(instant)
        assert following == to_instant(wall(expected), BERLIN)
        instant = following


@pytest.mark.parametrize(
    ("text", "delay"),
    [
        ("10 minutes", timedelta(minutes=10)),
        ("10 min", timedelta(minutes=10)),
        ("10M", timedelta(minutes=10)),
        ("2h30m", timedelta(hours=2, minutes=30)),
        ("1 hour and 30 minutes", timedelta(minutes=90)),
        ("1 hour, 30 mins", timedelta(minutes=90)),
        ("1.5 hours", timedelta(minutes=90)),
        ("1.5 days", timedelta(hours=36)),
        ("1 day 2 hours", timedelta(hours=26)),
    ],
)
def test_a_length_of_hours_and_less_is_an_exact_delay(text: str, delay: timedelta) -> None:
    assert read(f"in {text} stretch") == ResolvedTime("stretch", delay=delay)


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("in 10 minutes  buy  milk ", "buy  milk"),
        ("IN 10 MINUTES Buy Milk", "Buy Milk"),
        ("in 10 minutes android update", "android update"),
        ("in 10 minutes and 3 friends", "and 3 friends"),
        ("in 10 minutes first line\nsecond line", "first line\nsecond line"),
        ("in 10m 📞 mum", "📞 mum"),
        ("in 10 minutes to-do list", "to-do list"),
        ("in 10 minutes to do: write", "do: write"),
        ("in 10 minutes total recall", "total recall"),
        ("in 10 minutes -5 degrees", "-5 degrees"),
        ("in 10 minutes :) smile", ":) smile"),
        ("in 10 minutes that's it", "that's it"),
        ("in 10 minutes 2 weeks notice", "2 weeks notice"),
        ("in 10 minutes friday report", "friday report"),
        ("in 10 minutes", ""),
    ],
)
def test_what_follows_the_time_is_kept_as_it_was_written(text: str, rest: str) -> None:
    assert when(text) == ResolvedTime(rest, delay=timedelta(minutes=10))


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("at 9", "Did you mean 21:00 today or 09:00 tomorrow? Send it again with one of them."),
        (
            "at 12:15",
            "Did you mean 00:15 tomorrow or 12:15 tomorrow? Send it again with one of them.",
        ),
        ("tomorrow at 5", "Did you mean 05:00 or 17:00? Send it again with one of them."),
        (
            "monday at 18:00",
            "Did you mean 18:00 today or 18:00 on Monday 23 Nov 2026? "
            "Send it again with one of them.",
        ),
        (
            "monday at 9",
            "Did you mean 21:00 today or 09:00 on Monday 23 Nov 2026? "
            "Send it again with one of them.",
        ),
        (
            "next friday",
            "Did you mean Friday 20 Nov 2026 or Friday 27 Nov 2026? "
            "Send it again with one of them.",
        ),
        ("03/04 9:00", "Did you mean 3 April or 4 March? Send it again with one of them."),
        ("today at 13:00", "13:00 today has passed. Write a later time."),
        ("2020-01-01 9:00", "Wednesday 1 Jan 2020 has passed. Write a later date."),
        ("february 30", "February has no day 30. Write another date."),
        ("at 25:00", "25:00 is not a time. Write a time from 00:00 to 23:59."),
        ("at 13pm", "13pm is not a time. Write a time from 00:00 to 23:59."),
        (
            "in 9999999999 years",
            "That is more than 100 years away. Write a time within 100 years.",
        ),
    ],
)
def test_what_is_asked_back_names_the_choice(text: str, asked: str) -> None:
    assert question(text) == asked


@pytest.mark.parametrize(
    "text", ["at 9", "at 12:15", "monday at 18:00", "monday at 9", "next friday", "03/04 9:00"]
)
def test_what_is_offered_in_a_question_can_be_typed_as_the_answer(text: str) -> None:
    offered = re.fullmatch(
        r"Did you mean (.+) or (.+)\? Send it again with one of them.", question(text)
    )
    assert offered is not None
    first, second = (when(f"{answer} stretch") for answer in offered.groups())
    assert first.remaining_text == second.remaining_text == "stretch"
    assert first.wall_time != second.wall_time


@pytest.mark.parametrize("text", ["at 9am", "at 09:00", "at noon", "at 13", "at 14:30"])
def test_a_time_that_can_be_meant_in_one_way_only_is_tomorrows_once_it_has_passed(
    text: str,
) -> None:
    found = when(text).wall_time
    assert found is not None
    assert f"{found:%d %b}" == "17 Nov"


@pytest.mark.parametrize(
    "text",
    [
        "in 101 years x",
        "in 36526 days x",
        "in 999999999 hours x",
        "2127-01-01 9:00 x",
        "9999-12-31 23:59 x",
        "every 9999 years x",
        "every 300 years x",
    ],
)
def test_what_lies_beyond_a_hundred_years_is_refused(text: str) -> None:
    assert "100 years" in question(text)


@pytest.mark.parametrize("hour", range(1, 13))
def test_with_a_day_the_hours_before_seven_are_asked_back(hour: int) -> None:
    found = read(f"tomorrow at {hour}")
    assert isinstance(found, Clarification) == (hour < 7)
    assert when(f"tomorrow at {hour:02}:00").wall_time == wall(f"2026-11-17T{hour:02}:00")


@pytest.mark.parametrize(
    ("name", "day", "is_asked"),
    [
        ("friday", "16", True),
        ("friday", "19", True),
        ("friday", "20", False),  # it is Friday: the next one is in a week
        ("monday", "20", False),
        ("monday", "21", False),
        ("monday", "22", True),  # a Sunday, on which for some the next week has begun
    ],
)
def test_next_is_clear_only_where_both_ways_to_count_agree(
    name: str, day: str, is_asked: bool
) -> None:
    now = datetime.fromisoformat(f"2026-11-{day}T08:00Z")
    assert isinstance(read(f"next {name}", now=now), Clarification) == is_asked


def test_every_month_without_a_day_needs_one_that_all_months_have() -> None:
    last = datetime(2026, 10, 31, 12, 0, tzinfo=UTC)
    assert question("every month", now=last).startswith("On which day?")
    assert when("every month").repeat == "monthly"


@pytest.mark.parametrize("text", ["13/13 x", "50/50 chance", "16:9 monitor", "10.000 steps"])
def test_numbers_that_are_no_time_are_left_alone(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize("zone", ["[Europe/London]", "[UTC+1]", "(Asia/Kolkata)", "+1", "GMT"])
def test_a_time_in_another_zone_is_asked_back(zone: str) -> None:
    asked = (
        "Times are in your own time zone. Write the time there, without a zone. "
        "Change your zone: /timezone <place>"
    )
    assert question(f"tomorrow 15:00 {zone} call") == asked
    assert question("2026-11-20T15:00:00.000Z call") == asked


@pytest.mark.parametrize(
    "text", ["2026-11-20T15:00:30Z x", "2026-11-20T15:00:00.123Z x", "at 15:00:01 x"]
)
def test_seconds_of_a_time_of_the_day_are_not_dropped_in_silence(text: str) -> None:
    assert question(text) == (
        "Seconds are not supported. Write hours and minutes. Example: at 15:30"
    )


@pytest.mark.parametrize(
    "rest", [".env", "!important", "... wait", ":tada:", "-v", "--force", "~/.bashrc", "#42", "/x"]
)
@pytest.mark.parametrize("time", ["tomorrow 9am", "tomorrow", "tomorrow,", "tomorrow at 9:"])
def test_signs_that_begin_what_is_to_be_done_are_kept(time: str, rest: str) -> None:
    assert when(f"{time} {rest}") == ResolvedTime(rest, wall_time=wall("2026-11-17T09:00"))


@pytest.mark.parametrize("signs", [",", ";", ".", "!", "!!", "...", " -", " --", " –", " ,", ":"])
def test_signs_that_end_the_time_are_left_out(signs: str) -> None:
    assert when(f"tomorrow 9am{signs} call") == ResolvedTime(
        "call", wall_time=wall("2026-11-17T09:00")
    )
    assert when(f"tomorrow 9am{signs}").remaining_text == ""


def test_a_number_after_a_step_is_what_is_to_be_done() -> None:
    assert when("every 30 minutes 5 push-ups").remaining_text == "5 push-ups"


def test_a_delay_without_in_is_taken_only_where_it_is_wanted() -> None:
    assert read("10m tea") == ResolvedTime("tea", delay=timedelta(minutes=10))
    assert parse_when("10m tea", zone=BERLIN, now=NOW, is_bare_delay_allowed=False) is None


def test_a_day_at_the_end_that_says_what_it_is_about_is_left_alone() -> None:
    assert (
        when("at 9pm prepare slides for tomorrow").remaining_text == "prepare slides for tomorrow"
    )
    assert isinstance(read("at 9pm prepare slides tomorrow"), Clarification)


def test_the_day_is_the_senders_own() -> None:
    late = datetime(2026, 11, 16, 23, 30, tzinfo=UTC)
    assert when("tomorrow", now=late, zone=ZoneInfo("UTC")).wall_time == wall("2026-11-17T09:00")
    assert when("tomorrow", now=late, zone=BERLIN).wall_time == wall("2026-11-18T09:00")


def test_days_keep_the_time_on_the_wall_when_the_clocks_change_and_hours_do_not() -> None:
    evening = datetime(2026, 10, 24, 18, 0, tzinfo=UTC)  # 20:00 in Berlin, an hour more to come
    assert when("in 1 day", now=evening).wall_time == wall("2026-10-25T20:00")
    assert when("in 24 hours", now=evening).delay == timedelta(hours=24)


def test_a_step_is_not_taken_back_into_the_hour_that_comes_twice() -> None:
    first_pass = datetime(2026, 10, 25, 0, 50, tzinfo=UTC)  # 02:50, ten minutes before 02:00
    found = when("every 30 minutes", now=first_pass).wall_time
    assert found is not None
    assert to_instant(found, BERLIN) > first_pass


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("20m", timedelta(minutes=20)),
        ("1 hour", timedelta(hours=1)),
        ("half an hour", timedelta(minutes=30)),
        ("in 2 days", timedelta(days=2)),
        ("for an hour and a half", timedelta(minutes=90)),
        ("2h30", timedelta(minutes=150)),
        ("1,5 hours", timedelta(minutes=90)),
        ("a half hour", timedelta(minutes=30)),
        ("1.30 hours", None),
        ("1 month", None),
        ("a few hours", None),
        ("20", None),
        ("20m please", None),
        ("", None),
        ("99999 days", None),
        ("99999999999 days", None),
    ],
)
def test_a_bare_length_is_read_whole_or_not_at_all(text: str, length: timedelta | None) -> None:
    assert parse_duration_text(text) == length


def as_on_the_page(found: ResolvedTime | Clarification | None) -> str:
    if found is None:
        return "no time"
    if isinstance(found, Clarification):
        return f"*{found.question}*"
    due = found.wall_time or (NOW + (found.delay or timedelta(0))).astimezone(BERLIN)
    text = f"{due:%A} {due.day} {due:%b} {due.year}, {due:%H:%M}"
    return f"{text}, `{found.repeat}`" if found.repeat else text


@pytest.mark.parametrize(("text", "meaning"), EXAMPLES, ids=[text for text, _ in EXAMPLES])
def test_the_page_about_times_tells_the_truth(text: str, meaning: str) -> None:
    assert as_on_the_page(read(text)) == meaning


def test_the_page_about_times_has_the_phrases_of_the_contract() -> None:
    assert len(EXAMPLES) >= 60
    for text in ("in 10 minutes", "at 15:00", "every weekday 8:30", "every month on the 1st"):
        assert text in dict(EXAMPLES)
