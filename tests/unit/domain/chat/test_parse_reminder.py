"""Parsing of reminders whose time is at the beginning or at the end of the text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from duecourse.domain.chat.parse_reminder import parse_reminder, parse_time_at_end
from duecourse.domain.naturaltime import Clarification, ResolvedTime

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 16, 13, 30, tzinfo=UTC)  # a Monday, 14:30 in Berlin


def parse(text: str) -> ResolvedTime | Clarification | None:
    return parse_reminder(text, zone=BERLIN, now=NOW)


@pytest.mark.parametrize(
    ("text", "description", "wall_time", "repeat"),
    [
        ("to call Jo at 18:00", "call Jo", "2026-11-16T18:00", None),
        ("to do it at 8 tomorrow evening", "do it", "2026-11-17T20:00", None),
        ("to leave at half past 8 tomorrow evening", "leave", "2026-11-17T20:30", None),
        ("to call Jo at 9 friday night", "call Jo", "2026-11-20T21:00", None),
        (
            "to go to school every mon wed fri at 8:00",
            "go to school",
            "2026-11-18T08:00",
            "FREQ=WEEKLY;BYDAY=MO,WE,FR",
        ),
        ("to go every tue thu", "go", "2026-11-17T09:00", "FREQ=WEEKLY;BYDAY=TU,TH"),
        ("to pay rent on the 1st of every month at 9", "pay rent", "2026-12-01T09:00", "monthly"),
        (
            "to plan every first monday of the month at half past eight in the evening",
            "plan",
            "2026-12-07T20:30",
            "FREQ=MONTHLY;BYDAY=1MO",
        ),
    ],
)
def test_the_longest_time_at_the_end_is_parsed(
    text: str, description: str, wall_time: str, repeat: str | None
) -> None:
    assert parse(text) == ResolvedTime(
        description, wall_time=datetime.fromisoformat(wall_time), repeat=repeat
    )


@pytest.mark.parametrize(
    "text",
    [
        "to be home at 6 every day",
        "to take pills at 9 and 17 every day",
        "to take pills every day at 8am 8pm",
        "to water the plants every monday please at 8:00",
        "to start in 10 minutes the job at 18:00",
        "to do it 9 tomorrow",
        "to discuss friday numbers at 18:00",
        "to ring 03/04 at 9:00",
        "to ring at 15:00 Europe/London",
        "to ring tomorrow after 5pm",
        "to ring tomorrow first thing",
        "to ring first thing tomorrow",
        "to ring tomorrow pm",
        "to ring in a day or two",
        "to finish by friday",
    ],
)
def test_an_ambiguous_second_time_asks_for_clarification(text: str) -> None:
    assert isinstance(parse(text), Clarification)


@pytest.mark.parametrize(
    ("text", "description", "wall_time"),
    [
        ("to call every customer at 21:00", "call every customer", "2026-11-16T21:00"),
        ("to move my 15:00 call at 16:00", "move my 15:00 call", "2026-11-16T16:00"),
        ("to swim 100m tomorrow at 9", "swim 100m", "2026-11-17T09:00"),
        ("to make slides for monday tomorrow at 9", "make slides for monday", "2026-11-17T09:00"),
        ("to check the daily report at 18:00", "check the daily report", "2026-11-16T18:00"),
        ("about 3 apples and 2 pears at 18:00", "3 apples and 2 pears", "2026-11-16T18:00"),
    ],
)
def test_numbers_and_days_that_belong_to_the_description_are_kept(
    text: str, description: str, wall_time: str
) -> None:
    assert parse(text) == ResolvedTime(description, wall_time=datetime.fromisoformat(wall_time))


def test_a_time_bound_to_a_noun_is_not_the_time_of_the_reminder() -> None:
    assert parse("to buy a ticket for friday 20:00") is None
    assert parse("to run 10m") is None


def test_a_delay_at_the_end_needs_the_word_in() -> None:
    assert parse("to call in 1,5 hours") == ResolvedTime("call", delay=timedelta(minutes=90))
    assert parse_time_at_end("meditate 10 minutes", zone=BERLIN, now=NOW) is None
