"""Parsing of chat commands."""

from __future__ import annotations

import re

import pytest
from duecourse.domain.chat.commands import (
    Approve,
    Cancel,
    Command,
    CreateAction,
    CreateReminder,
    Done,
    Help,
    InvalidCommand,
    ListTasks,
    Pause,
    Reject,
    Resolve,
    Resume,
    Retry,
    SetNotifyLevel,
    SetQuietHours,
    SetTimezone,
    ShowTask,
    Snooze,
    Start,
)
from duecourse.domain.chat.help_text import HELP_TEXT
from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.chat.occurrence_ref import OccurrenceRef
from duecourse.domain.chat.parse_command import parse_command
from duecourse.domain.lifecycle.resolve_indeterminate import Resolution

from tests.support.builders.moments import NOW

REMINDER_TEXT = "in 10 minutes stretch"


@pytest.mark.parametrize(
    "text",
    [
        f"/remind {REMINDER_TEXT}",
        f"/REMIND {REMINDER_TEXT}",
        f"  /remind   {REMINDER_TEXT}  ",
        f"/remind\n{REMINDER_TEXT}",
        f"/remind\u00a0{REMINDER_TEXT}",
        f"/remind@MyBot {REMINDER_TEXT}",
        f"/remind me {REMINDER_TEXT}",
        f"remind me {REMINDER_TEXT}",
        f"Remind  me, {REMINDER_TEXT}",
        f"REMIND ME: {REMINDER_TEXT}",
    ],
)
def test_a_reminder_command_has_several_forms(text: str) -> None:
    assert parse_command(text) == CreateReminder(REMINDER_TEXT)


def test_the_text_of_a_reminder_is_kept_verbatim() -> None:
    text = "/remind in 10m Buy  Milk\nand 📞 mum"
    assert parse_command(text) == CreateReminder("in 10m Buy  Milk\nand 📞 mum")


@pytest.mark.parametrize("text", ["/remind", "/remind ", "/remind me", "remind me", "remind me, "])
def test_a_reminder_without_text_returns_a_hint(text: str) -> None:
    assert parse_command(text) == InvalidCommand(
        "When, and what should I remind you of? Example: /remind in 10 minutes stretch"
    )


def test_the_text_of_an_action_is_kept_verbatim() -> None:
    assert parse_command("/do@MyBot  me a  favour ") == CreateAction("me a  favour")
    assert isinstance(parse_command("/do"), InvalidCommand)


@pytest.mark.parametrize(
    "text",
    [
        *("/tasks", " /TASKS ", "/tasks please", "/Tasks@MyBot", "/tasks 1"),
        *("/tasks 0", "/tasks -1", "/tasks 2 3", "/tasks \u0662", "/tasks " + "9" * 5_000),
    ],
)
def test_a_tasks_command_without_a_valid_page_lists_the_first_page(text: str) -> None:
    assert parse_command(text) == ListTasks()


def test_a_tasks_command_takes_a_page_number() -> None:
    assert parse_command("/tasks  12 ") == ListTasks(12)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("task", ShowTask),
        ("cancel", Cancel),
        ("done", Done),
        ("retry", Retry),
        ("pause", Pause),
        ("resume", Resume),
        ("approve", Approve),
    ],
)
def test_a_task_command_takes_an_id(name: str, command: type[Cancel | Pause]) -> None:
    assert parse_command(f"/{name}\t0a1b2c3d\n") == command("0a1b2c3d")
    assert parse_command(f"/{name.upper()}@MyBot 0a1b2c3d") == command("0a1b2c3d")
    assert parse_command(f"/{name}") == InvalidCommand(
        f"Which task? /tasks lists yours. Example: /{name} a1b2c3d4"
    )


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/reject 0a1b\nthe link\nis broken", Reject("0a1b", "the link\nis broken")),
        ("/reject\t0a1b\tno", Reject("0a1b", "no")),
        ("/reject  0a1b   no  way ", Reject("0a1b", "no  way")),
        ("/resolve\t0a1b\tAPPLIED", Resolve("0a1b", Resolution.APPLIED)),
        ("/resolve 0a1b\nnot_applied", Resolve("0a1b", Resolution.NOT_APPLIED)),
        ("/snooze 0a1b for  2 hours", Snooze("0a1b", "for  2 hours")),
        ("/snooze 0a1b 20m rang", Snooze("0a1b", "20m", OccurrenceRef())),
        ("/snooze 0a1b 20m  @69945840", Snooze("0a1b", "20m", OccurrenceRef(NOW))),
        ("/snooze 0a1b 20m @69945840 ab", Snooze("0a1b", "20m @69945840 ab")),
        ("/snooze 0a1b 20m @0123456789", Snooze("0a1b", "20m @0123456789")),
        ("/snooze 0a1b 20m@69945840", Snooze("0a1b", "20m@69945840")),
        ("/done 0a1b @69945840", Done("0a1b", OccurrenceRef(NOW))),
        ("/done 0a1b", Done("0a1b")),
        ("/timezone new york ", SetTimezone("new york")),
        ("/timezone", SetTimezone("")),
        ("/quiet", SetQuietHours("")),
        ("/quiet@MyBot  22:00-7:00 ", SetQuietHours("22:00-7:00")),
        ("/QUIET off", SetQuietHours("off")),
        ("/notify", SetNotifyLevel(None)),
        ("/notify ALL", SetNotifyLevel(NotifyLevel.ALL)),
        ("/notify none", SetNotifyLevel(NotifyLevel.NONE)),
        ("/start from=somewhere", Start()),
        ("/help", Help()),
        ("/HELP me", Help()),
    ],
)
def test_arguments_are_parsed_for_each_command(text: str, command: Command) -> None:
    assert parse_command(text) == command


@pytest.mark.parametrize("text", ["/notify some", "/notify all of it", "/notify \u0661"])
def test_an_invalid_notify_level_returns_a_hint(text: str) -> None:
    assert parse_command(text) == InvalidCommand(
        "Which notifications do you want: all, important or none? Example: /notify important"
    )


@pytest.mark.parametrize("name", ["reject", "resolve", "snooze"])
@pytest.mark.parametrize("arguments", ["", " ", " 0a1b", " 0a1b\n", "\t0a1b\t"])
def test_a_missing_argument_after_the_id_returns_a_hint(name: str, arguments: str) -> None:
    result = parse_command(f"/{name}{arguments}")
    assert isinstance(result, InvalidCommand)
    assert f"/{name} " in result.hint


@pytest.mark.parametrize(
    "text", ["", "  ", "hello", "remind in 5m x", "remind mercy", "/", "/@", "/reminder", "\ud800"]
)
def test_unknown_text_returns_the_help(text: str) -> None:
    assert parse_command(text) == Help("I did not understand that. These are the commands:")


def test_the_help_names_every_command_and_nothing_else() -> None:
    names = set(re.findall(r"/[a-z]+", HELP_TEXT.replace("Europe/Berlin", "")))
    for name in names:
        assert parse_command(f"{name} 0a1b2c3d applied") != Help(
            "I did not understand that. These are the commands:"
        ), name
    assert names == {
        *("/remind", "/do", "/tasks", "/task", "/cancel", "/retry", "/snooze", "/pause"),
        *("/resume", "/approve", "/reject", "/resolve", "/timezone", "/help", "/done"),
        *("/quiet", "/notify", "/forget"),
    }
