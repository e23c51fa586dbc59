"""Parsing of times in natural language."""

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

FIRST_PHRASES, LATER_PHRASES, TRICKY_PHRASES = sections()
ALL_PHRASES = FIRST_PHRASES + LATER_PHRASES + TRICKY_PHRASES
BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 16, 13, 30, tzinfo=UTC)  # a Monday, 14:30 in Berlin
TIMES_PAGE = (ROOT / "docs" / "times.md").read_text()
EXAMPLES = re.findall(r"^\| `([^`]+)` \| (.+?) \|$", TIMES_PAGE, re.MULTILINE)


def parse(
    text: str, *, now: datetime = NOW, zone: ZoneInfo = BERLIN
) -> ResolvedTime | Clarification | None:
    return parse_when(text, zone=zone, now=now)


def wall_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def clarification_of(text: str, *, now: datetime = NOW) -> str:
    clarification = parse(text, now=now)
    assert isinstance(clarification, Clarification), clarification
    return clarification.question


def resolve(text: str, *, now: datetime = NOW, zone: ZoneInfo = BERLIN) -> ResolvedTime:
    resolved = parse(text, now=now, zone=zone)
    assert isinstance(resolved, ResolvedTime), resolved
    return resolved


@pytest.mark.parametrize("phrase", ALL_PHRASES, ids=lambda phrase: phrase.text)
def test_a_phrase_is_parsed_to_its_instant_in_every_zone(phrase: Phrase) -> None:
    for zone, expected in phrase.expected:
        result = phrase.parse(zone)
        assert format_result(result, zone, phrase.now) == expected, (zone.key, result)
        if isinstance(result, ResolvedTime):
            assert (result.remaining_text, result.repeat) == (phrase.rest, phrase.repeat)


def test_at_most_five_of_the_first_phrases_ask_for_clarification_needlessly() -> None:
    correct, silently_wrong = 0, []
    for phrase in FIRST_PHRASES:
        results = [
            (format_result(phrase.parse(zone), zone, phrase.now), expected)
            for zone, expected in phrase.expected
        ]
        correct += all(actual == expected for actual, expected in results)
        silently_wrong += [
            (phrase.text, actual, expected)
            for actual, expected in results
            if actual != expected and actual not in (ASK, NONE)
        ]
    assert not silently_wrong
    assert len(FIRST_PHRASES) >= 150
    assert correct >= len(FIRST_PHRASES) - 5
    assert len(LATER_PHRASES) >= 60


@pytest.mark.parametrize(
    "phrase", [phrase for phrase in ALL_PHRASES if phrase.repeat], ids=lambda phrase: phrase.text
)
def test_a_series_from_a_phrase_begins_at_its_first_time(phrase: Phrase) -> None:
    for zone, expected in phrase.expected:
        resolved = phrase.parse(zone)
        assert isinstance(resolved, ResolvedTime)
        assert resolved.wall_time is not None
        raw = {
            "due_at": resolved.wall_time.isoformat(),
            "timezone": zone.key,
            "repeat": resolved.repeat,
        }
        raw |= {"description": "x"}
        task = task_from_json(raw, now=phrase.now)
        assert f"{task.due_at:%Y-%m-%d %H:%M}" == expected


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
def test_a_series_from_a_phrase_has_the_expected_occurrences(
    text: str, second: str, third: str
) -> None:
    resolved = resolve(text)
    assert resolved.wall_time is not None
    assert resolved.repeat is not None
    series = Series(RecurrenceRule.parse(resolved.repeat), resolved.wall_time, BERLIN)
    instant = to_instant(resolved.wall_time, BERLIN)
    for expected in (second, third):
        following = series.next_after(instant)
        assert following == to_instant(wall_time(expected), BERLIN)
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
def test_a_duration_of_hours_or_less_is_an_exact_delay(text: str, delay: timedelta) -> None:
    assert parse(f"in {text} stretch") == ResolvedTime("stretch", delay=delay)


@pytest.mark.parametrize(
    ("text", "remaining_text"),
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
def test_the_text_after_the_time_is_kept_verbatim(text: str, remaining_text: str) -> None:
    assert resolve(text) == ResolvedTime(remaining_text, delay=timedelta(minutes=10))


@pytest.mark.parametrize(
    ("text", "question"),
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
def test_a_clarification_names_the_choices(text: str, question: str) -> None:
    assert clarification_of(text) == question


@pytest.mark.parametrize(
    "text", ["at 9", "at 12:15", "monday at 18:00", "monday at 9", "next friday", "03/04 9:00"]
)
def test_each_choice_of_a_clarification_can_be_parsed(text: str) -> None:
    choices = re.fullmatch(
        r"Did you mean (.+) or (.+)\? Send it again with one of them.", clarification_of(text)
    )
    assert choices is not None
    first, second = (resolve(f"{answer} stretch") for answer in choices.groups())
    assert first.remaining_text == second.remaining_text == "stretch"
    assert first.wall_time != second.wall_time


@pytest.mark.parametrize("text", ["at 9am", "at 09:00", "at noon", "at 13", "at 14:30"])
def test_an_unambiguous_time_that_has_passed_is_tomorrows(
    text: str,
) -> None:
    due = resolve(text).wall_time
    assert due is not None
    assert f"{due:%d %b}" == "17 Nov"


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
def test_a_time_more_than_a_hundred_years_away_is_rejected(text: str) -> None:
    assert "100 years" in clarification_of(text)


@pytest.mark.parametrize("hour", range(1, 13))
def test_an_hour_before_seven_with_a_day_asks_for_clarification(hour: int) -> None:
    result = parse(f"tomorrow at {hour}")
    assert isinstance(result, Clarification) == (hour < 7)
    assert resolve(f"tomorrow at {hour:02}:00").wall_time == wall_time(f"2026-11-17T{hour:02}:00")


@pytest.mark.parametrize(
    ("name", "day", "is_ambiguous"),
    [
        ("friday", "16", True),
        ("friday", "19", True),
        ("friday", "20", False),  # a Friday: the next one is in a week
        ("monday", "20", False),
        ("monday", "21", False),
        ("monday", "22", True),  # a Sunday: some calendars begin the week on it
    ],
)
def test_next_weekday_is_clear_only_if_both_readings_agree(
    name: str, day: str, is_ambiguous: bool
) -> None:
    now = datetime.fromisoformat(f"2026-11-{day}T08:00Z")
    assert isinstance(parse(f"next {name}", now=now), Clarification) == is_ambiguous


def test_every_month_without_a_day_needs_a_day_that_all_months_have() -> None:
    last_day = datetime(2026, 10, 31, 12, 0, tzinfo=UTC)
    assert clarification_of("every month", now=last_day).startswith("On which day?")
    assert resolve("every month").repeat == "monthly"


@pytest.mark.parametrize("text", ["13/13 x", "50/50 chance", "16:9 monitor", "10.000 steps"])
def test_numbers_that_are_not_a_time_are_ignored(text: str) -> None:
    assert parse(text) is None


@pytest.mark.parametrize("zone", ["[Europe/London]", "[UTC+1]", "(Asia/Kolkata)", "+1", "GMT"])
def test_a_time_in_another_timezone_asks_for_clarification(zone: str) -> None:
    question = (
        "Times are in your own time zone. Write the time there, without a zone. "
        "Change your zone: /timezone <place>"
    )
    assert clarification_of(f"tomorrow 15:00 {zone} call") == question
    assert clarification_of("2026-11-20T15:00:00.000Z call") == question


@pytest.mark.parametrize(
    "text", ["2026-11-20T15:00:30Z x", "2026-11-20T15:00:00.123Z x", "at 15:00:01 x"]
)
def test_seconds_of_a_time_of_day_ask_for_clarification(text: str) -> None:
    assert clarification_of(text) == (
        "Seconds are not supported. Write hours and minutes. Example: at 15:30"
    )


@pytest.mark.parametrize(
    "remaining_text",
    [".env", "!important", "... wait", ":tada:", "-v", "--force", "~/.bashrc", "#42", "/x"],
)
@pytest.mark.parametrize("time", ["tomorrow 9am", "tomorrow", "tomorrow,", "tomorrow at 9:"])
def test_punctuation_that_begins_the_description_is_kept(time: str, remaining_text: str) -> None:
    assert resolve(f"{time} {remaining_text}") == ResolvedTime(
        remaining_text, wall_time=wall_time("2026-11-17T09:00")
    )


@pytest.mark.parametrize(
    "punctuation", [",", ";", ".", "!", "!!", "...", " -", " --", " –", " ,", ":"]
)
def test_punctuation_that_ends_the_time_is_removed(punctuation: str) -> None:
    assert resolve(f"tomorrow 9am{punctuation} call") == ResolvedTime(
        "call", wall_time=wall_time("2026-11-17T09:00")
    )
    assert resolve(f"tomorrow 9am{punctuation}").remaining_text == ""


def test_a_number_after_an_interval_belongs_to_the_description() -> None:
    assert resolve("every 30 minutes 5 push-ups").remaining_text == "5 push-ups"


def test_a_delay_without_in_is_parsed_only_if_allowed() -> None:
    assert parse("10m tea") == ResolvedTime("tea", delay=timedelta(minutes=10))
    assert parse_when("10m tea", zone=BERLIN, now=NOW, is_bare_delay_allowed=False) is None


def test_a_day_bound_to_a_noun_belongs_to_the_description() -> None:
    assert (
        resolve("at 9pm prepare slides for tomorrow").remaining_text
        == "prepare slides for tomorrow"
    )
    assert isinstance(parse("at 9pm prepare slides tomorrow"), Clarification)


def test_the_current_day_is_that_of_the_senders_timezone() -> None:
    late_evening = datetime(2026, 11, 16, 23, 30, tzinfo=UTC)
    assert resolve("tomorrow", now=late_evening, zone=ZoneInfo("UTC")).wall_time == wall_time(
        "2026-11-17T09:00"
    )
    assert resolve("tomorrow", now=late_evening, zone=BERLIN).wall_time == wall_time(
        "2026-11-18T09:00"
    )


def test_days_keep_the_wall_clock_time_across_dst_and_hours_do_not() -> None:
    evening = datetime(
        2026, 10, 24, 18, 0, tzinfo=UTC
    )  # 20:00 in Berlin, the night has an extra hour
    assert resolve("in 1 day", now=evening).wall_time == wall_time("2026-10-25T20:00")
    assert resolve("in 24 hours", now=evening).delay == timedelta(hours=24)


def test_an_interval_does_not_go_back_into_a_repeated_hour() -> None:
    first_pass = datetime(2026, 10, 25, 0, 50, tzinfo=UTC)  # 02:50, ten minutes before 02:00
    due = resolve("every 30 minutes", now=first_pass).wall_time
    assert due is not None
    assert to_instant(due, BERLIN) > first_pass


@pytest.mark.parametrize(
    ("text", "duration"),
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
def test_a_duration_text_is_parsed_completely_or_not_at_all(
    text: str, duration: timedelta | None
) -> None:
    assert parse_duration_text(text) == duration


def format_as_on_the_page(result: ResolvedTime | Clarification | None) -> str:
    if result is None:
        return "no time"
    if isinstance(result, Clarification):
        return f"*{result.question}*"
    due_time = result.wall_time or (NOW + (result.delay or timedelta(0))).astimezone(BERLIN)
    text = f"{due_time:%A} {due_time.day} {due_time:%b} {due_time.year}, {due_time:%H:%M}"
    return f"{text}, `{result.repeat}`" if result.repeat else text


@pytest.mark.parametrize(("text", "meaning"), EXAMPLES, ids=[text for text, _ in EXAMPLES])
def test_the_examples_on_the_times_page_are_correct(text: str, meaning: str) -> None:
    assert format_as_on_the_page(parse(text)) == meaning


def test_the_times_page_contains_the_phrases_of_the_contract() -> None:
    assert len(EXAMPLES) >= 60
    for text in ("in 10 minutes", "at 15:00", "every weekday 8:30", "every month on the 1st"):
        assert text in dict(EXAMPLES)
