"""What people type in chat."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.domain.change import Resolution
from duecourse.domain.command import (
    HELP,
    Approve,
    Cancel,
    Command,
    Help,
    ListTasks,
    Pause,
    Reject,
    Remind,
    Resolve,
    Resume,
    Retry,
    parse_command,
)

MINUTES_10 = timedelta(minutes=10)


@pytest.mark.parametrize(
    ("when", "delay"),
    [
        ("10 minutes", MINUTES_10),
        ("10 min", MINUTES_10),
        ("10m", MINUTES_10),
        ("10M", MINUTES_10),
        ("1 hour", timedelta(hours=1)),
        ("2h30m", timedelta(hours=2, minutes=30)),
        ("1 hour and 30 minutes", timedelta(minutes=90)),
        ("1 hour, 30 mins", timedelta(minutes=90)),
        ("1.5 hours", timedelta(minutes=90)),
        ("90 secs", timedelta(seconds=90)),
        ("2 days", timedelta(days=2)),
        ("1 week", timedelta(weeks=1)),
    ],
)
def test_a_reminder_says_when_and_what(when: str, delay: timedelta) -> None:
    assert parse_command(f"/remind in {when} stretch") == Remind(delay, "stretch")


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("/remind in 10 minutes  buy  milk ", "buy  milk"),
        ("/REMIND IN 10 MINUTES Buy Milk", "Buy Milk"),
        ("  /remind   in   10 minutes stretch", "stretch"),
        ("/remind in 10 minutes, stretch", "stretch"),
        ("/remind in 10 minutes android update", "android update"),
        ("/remind in 10 minutes first line\nsecond line", "first line\nsecond line"),
        ("/remind in 10m 📞 mum", "📞 mum"),
    ],
)
def test_the_persons_own_words_are_kept(text: str, description: str) -> None:
    assert parse_command(text) == Remind(MINUTES_10, description)


@pytest.mark.parametrize(
    "rest", ["", "stretch", "in", "in soon stretch", "in 10 stretch", "in 1 month pay", "in -5m x"]
)
def test_a_reminder_without_a_time_is_asked_when(rest: str) -> None:
    assert parse_command(f"/remind {rest}") == Help(
        "When? For example: /remind in 10 minutes stretch"
    )


@pytest.mark.parametrize("rest", ["in 10 minutes", "in 10 minutes ", "in 5m, "])
def test_a_reminder_without_words_is_asked_what_about(rest: str) -> None:
    assert parse_command(f"/remind {rest}") == Help(
        "What about? For example: /remind in 10 minutes stretch"
    )


def test_a_reminder_too_far_off_is_told_the_limit() -> None:
    answer = parse_command("/remind in 999999 days stretch")
    assert answer == Help("That time must be at most 100 years.")


@pytest.mark.parametrize("text", ["/tasks", " /TASKS ", "/tasks please"])
def test_tasks_are_listed(text: str) -> None:
    assert parse_command(text) == ListTasks()


def test_a_task_is_cancelled_by_its_id() -> None:
    assert parse_command("/cancel  0a1b2c3d ") == Cancel("0a1b2c3d")


def test_cancelling_nothing_is_asked_which() -> None:
    assert parse_command("/cancel") == Help("Which one? /cancel <id>; /tasks lists them.")


@pytest.mark.parametrize("text", ["/help", "/start", "/HELP me"])
def test_help_is_given_without_reproach(text: str) -> None:
    assert parse_command(text) == Help()


@pytest.mark.parametrize("text", ["", "  ", "hello", "remind in 5m x", "/", "/reminder", "\ud800"])
def test_what_is_not_understood_is_said_to_be(text: str) -> None:
    assert parse_command(text) == Help("I did not understand that.")


@pytest.mark.parametrize("gap", ["\n", "\t", "\u00a0"])
def test_any_white_space_may_follow_the_command(gap: str) -> None:
    assert parse_command(f"/remind{gap}in 10 minutes stretch") == Remind(MINUTES_10, "stretch")


def test_a_word_that_begins_like_a_unit_is_no_unit() -> None:
    assert isinstance(parse_command("/remind in 5 m&ms"), Help)


def test_words_after_the_time_are_kept_whole() -> None:
    command = parse_command("/remind in 10 minutes and 3 friends")
    assert command == Remind(MINUTES_10, "and 3 friends")


@pytest.mark.parametrize(
    ("word", "command"),
    [
        ("cancel", Cancel),
        ("retry", Retry),
        ("pause", Pause),
        ("resume", Resume),
        ("approve", Approve),
    ],
)
def test_what_concerns_one_task_takes_its_id(word: str, command: type[Cancel | Pause]) -> None:
    assert parse_command(f"/{word}\t0a1b2c3d\n") == command("0a1b2c3d")
    assert parse_command(f"/{word}") == Help(f"Which one? /{word} <id>; /tasks lists them.")
    assert f"/{word} <id>" in HELP


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/reject 0a1b\nthe link\nis broken", Reject("0a1b", "the link\nis broken")),
        ("/reject\t0a1b\tno", Reject("0a1b", "no")),
        ("/reject  0a1b   no  way ", Reject("0a1b", "no  way")),
        ("/resolve\t0a1b\tAPPLIED", Resolve("0a1b", Resolution.APPLIED)),
        ("/resolve 0a1b\nnot_applied", Resolve("0a1b", Resolution.NOT_APPLIED)),
    ],
)
def test_any_white_space_may_follow_the_id(text: str, command: Command) -> None:
    assert parse_command(text) == command


@pytest.mark.parametrize("rest", ["", " ", " 0a1b", " 0a1b\n", "\t0a1b\t"])
def test_a_rejection_without_a_reason_is_asked_why(rest: str) -> None:
    assert isinstance(parse_command(f"/reject{rest}"), Help)
