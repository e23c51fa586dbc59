"""Replies to the commands about tasks, preferences and help."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.help_text import HELP_TEXT
from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.chat.profile import Profile
from duecourse.domain.errors import StaleTaskError
from duecourse.domain.lifecycle.quiet_hours import QuietHours
from duecourse.domain.lifecycle.user_actions import cancel
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.moments import HOUR, NOW
from tests.support.builders.tasks import ID, PROVIDER_DOWN, a_task, an_action, quiet_hours_wait
from tests.support.chat_harness import ChatHarness

SHORT = ID[:8]
ADA = Owner("console", "ada")
TASK_COMMANDS = [
    *("/task {}", "/cancel {}", "/retry {}", "/snooze {} 20m", "/pause {}", "/resume {}"),
    *("/approve {}", "/reject {} no", "/resolve {} skip", "/done {}"),
]


def test_the_start_command_gets_a_welcome() -> None:
    reply = ChatHarness().say("/start")
    assert reply.startswith("Hello.")
    assert HELP_TEXT in reply


@pytest.mark.parametrize(
    "text",
    [
        *("/retry", "/task", "/remind", "/do", "/snooze", "/snooze 0a1b2c3d", "/reject 0a1b2c3d"),
        *("/resolve 0a1b2c3d perhaps", "/notify sometimes"),
    ],
)
def test_an_incomplete_command_gets_its_usage_only(text: str) -> None:
    reply = ChatHarness().say(text)
    assert "?" in reply
    assert f"{text.split()[0]} " in reply
    assert "\n" not in reply


def test_an_unknown_command_gets_the_list_of_commands() -> None:
    assert (
        ChatHarness().say("/frobnicate")
        == f"I did not understand that. These are the commands:\n{HELP_TEXT}"
    )


def test_a_time_zone_is_stored_and_confirmed() -> None:
    harness = ChatHarness()
    assert harness.say("/timezone").startswith("Your time zone is not set, so times are in UTC.")
    assert harness.say("/timezone", locale="ja").startswith(
        "I guessed your time zone from your language: Asia/Tokyo."
    )
    assert harness.say("/timezone BERLIN") == (
        "Your time zone is now Europe/Berlin. "
        "Local time: Tuesday 17 Feb 2026, 13:00 (Europe/Berlin)"
    )
    assert harness.say("/timezone", locale="ja") == (
        "Your time zone is Europe/Berlin.\nLocal time: Tuesday 17 Feb 2026, 13:00 (Europe/Berlin)"
    )
    assert "UTC" in harness.say("/timezone", sender_id="bob")


def test_an_invalid_time_zone_keeps_the_previous_one() -> None:
    harness = ChatHarness().set_timezone("Asia/Tokyo")
    assert "CET does not say when your clocks change" in harness.say("/timezone CET")
    assert "Asia/Tokyo" in harness.say("/timezone")


@pytest.mark.parametrize("command", TASK_COMMANDS)
@pytest.mark.parametrize("stranger", [{"sender_id": "bob"}, {"channel": "slack"}])
def test_the_id_of_another_owners_task_gets_the_reply_for_an_unknown_id(
    command: str, stranger: dict[str, str]
) -> None:
    task = a_task(due_at=NOW + HOUR)
    harness = ChatHarness(task)
    unknown = harness.say(command.format("00000000"), **stranger)
    assert unknown == "There is no task 00000000. /tasks lists yours."
    assert harness.say(command.format(SHORT), **stranger).replace(SHORT, "00000000") == unknown
    assert harness.say(command.format(ID), **stranger).replace(ID, "00000000") == unknown
    assert harness.task == task


def test_a_rejected_action_gets_its_reason_as_the_reply() -> None:
    harness = ChatHarness(a_task(status=Status.DELIVERED))
    assert harness.say(f"/pause {SHORT}") == f"Task {SHORT} is delivered: it cannot be paused."


def test_a_reply_truncates_a_long_description() -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR, description="a\nb " + "x" * 3_000))
    assert harness.say(f"/cancel {SHORT}") == f"Cancelled {SHORT}: a b {'x' * 196} …"


def test_a_reply_truncates_and_cleans_an_invalid_id() -> None:
    reply = ChatHarness().say("/cancel " + "\x1b[31m" + "é" * 5_000)
    assert reply == f"There is no task [31m{'é' * 36}. /tasks lists yours."


# Quiet hours and notify level


def test_quiet_hours_follow_the_owners_time_zone() -> None:
    harness = ChatHarness().set_timezone("Asia/Tokyo")
    reply = harness.say("/quiet 10pm to 7am")
    assert reply.startswith("Your quiet hours are from 22:00 to 07:00 (Asia/Tokyo).")
    assert harness.quiet_hours.by_owner == {ADA: QuietHours.from_text("22:00 07:00 Asia/Tokyo")}
    harness.say("/timezone Berlin")
    assert harness.quiet_hours.by_owner == {ADA: QuietHours.from_text("22:00 07:00 Europe/Berlin")}


def test_the_reply_says_that_the_time_zone_was_guessed() -> None:
    reply = ChatHarness().say("/quiet 22:00-7:00", locale="ja")
    assert "(Asia/Tokyo)" in reply
    assert reply.endswith(
        "I guessed your time zone from your language: Asia/Tokyo. Change it: /timezone <place>"
    )


def test_quiet_hours_require_a_time_zone() -> None:
    harness = ChatHarness()
    assert "I need your time zone first." in harness.say("/quiet 22:00-7:00")
    assert harness.quiet_hours.by_owner == {}


def test_setting_a_time_zone_does_not_create_quiet_hours() -> None:
    harness = ChatHarness()
    harness.say("/timezone Berlin")
    assert harness.quiet_hours.by_owner == {}


def test_changed_quiet_hours_release_deferred_reminders() -> None:
    deferred = a_task(due_at=NOW + HOUR, nominal_at=NOW, wait=quiet_hours_wait("13:00"))
    for hours, due_at in (("11:30-14:00", NOW + HOUR), ("18:00-19:00", NOW), ("off", NOW)):
        harness = ChatHarness(deferred).set_timezone("UTC")
        harness.quiet_hours.set(ADA, QuietHours.from_text("11:00 13:00 UTC"))
        harness.say(f"/quiet {hours}")
        assert harness.task.due_at == due_at, hours


@pytest.mark.parametrize(
    ("zone", "due_in", "hint"),
    [
        ("America/New_York", 0 * HOUR, "\n1 waiting reminder comes now."),  # 07:00 there
        ("Asia/Kolkata", HOUR / 2, ""),  # 17:30
        ("Europe/Berlin", 2 * HOUR, ""),  # 13:00: due before quiet hours end there
    ],
)
def test_a_new_time_zone_releases_reminders_outside_its_quiet_hours(
    zone: str, due_in: timedelta, hint: str
) -> None:
    deferred = a_task(due_at=NOW + 2 * HOUR, wait=quiet_hours_wait("14:00"))
    harness = ChatHarness(deferred).set_timezone("UTC")
    hours = "13:00 18:00 UTC" if zone == "Asia/Kolkata" else "11:30 16:00 UTC"
    harness.quiet_hours.set(ADA, QuietHours.from_text(hours))
    assert harness.say(f"/timezone {zone}").endswith(f"({zone}).{hint}")
    assert harness.task.due_at == NOW + due_in


def test_shorter_quiet_hours_shorten_the_wait_of_deferred_reminders() -> None:
    deferred = a_task(due_at=NOW + 2 * HOUR, wait=quiet_hours_wait("14:00"))
    harness = ChatHarness(deferred).set_timezone("UTC")
    harness.say("/quiet 11:00-13:00")
    assert harness.task.due_at == NOW + HOUR
    assert harness.task.wait == replace(quiet_hours_wait("13:00"), until=NOW + HOUR)


def test_a_repeated_quiet_off_releases_reminders_left_by_a_crash() -> None:
    deferred = a_task(due_at=NOW + HOUR, nominal_at=NOW, wait=quiet_hours_wait("13:00"))
    harness = ChatHarness(deferred).set_timezone("UTC")
    assert harness.say("/quiet off") == ("Your quiet hours are off.\n1 waiting reminder comes now.")
    assert harness.task.due_at == NOW
    assert harness.say("/quiet off").startswith("You have no quiet hours.")


def test_a_write_conflict_does_not_keep_quiet_hours_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    deferred = a_task(due_at=NOW + HOUR, nominal_at=NOW, wait=quiet_hours_wait("13:00"))
    harness = ChatHarness(deferred).set_timezone("UTC")
    harness.quiet_hours.set(ADA, QuietHours.from_text("11:00 13:00 UTC"))

    def raise_conflict(before: Task, *_: Any, **__: Any) -> None:
        raise StaleTaskError(before.id)

    monkeypatch.setattr(harness.store, "save", raise_conflict)
    assert harness.say("/quiet off") == "Your quiet hours are off."


def test_a_reminder_cancelled_concurrently_is_not_reported_as_released() -> None:
    deferred = a_task(due_at=NOW + HOUR, nominal_at=NOW, wait=quiet_hours_wait("13:00"))
    harness = ChatHarness(deferred).set_timezone("UTC")
    harness.quiet_hours.set(ADA, QuietHours.from_text("11:00 13:00 UTC"))
    cancelled = cancel(deferred, at=NOW)
    harness.store.concurrent_writes.append(lambda: harness.store.tasks.update({ID: cancelled}))
    assert harness.say("/quiet off") == "Your quiet hours are off."
    assert (harness.task, harness.queue) == (cancelled, [])


def test_quiet_off_does_not_release_tasks_deferred_for_other_reasons() -> None:
    deferred_task = an_action(due_at=NOW + HOUR, wait=PROVIDER_DOWN)
    harness = ChatHarness(deferred_task).set_timezone("UTC")
    harness.quiet_hours.set(ADA, QuietHours.from_text("11:00 13:00 UTC"))
    assert harness.say("/quiet off") == "Your quiet hours are off."
    assert harness.task == deferred_task


def test_setting_the_notify_level_keeps_the_time_zone() -> None:
    harness = ChatHarness().set_timezone("Asia/Tokyo")
    harness.say("/notify none")
    assert harness.profiles.get(ADA) == Profile(ADA, timezone="Asia/Tokyo", notify=NotifyLevel.NONE)
    harness.say("/timezone Berlin")
    assert harness.profiles.get(ADA).notify is NotifyLevel.NONE


# The operators' chat

OPERATOR_CHATS = (ChatAddress("console", "ops"),)


@pytest.mark.parametrize("command", [name for name in TASK_COMMANDS if "/reject" not in name])
def test_operators_can_use_every_task_in_their_chat_and_changes_are_audited(command: str) -> None:
    task = a_task(due_at=NOW + HOUR)
    harness = ChatHarness(task, operators=OPERATOR_CHATS)
    operator_chat = {"sender_id": "eve", "reply_target": "ops", "is_private": False}
    assert not harness.say(command.format(SHORT), **operator_chat).startswith("There is no task")
    command_name = command.split()[0]
    audit_lines = [text for text in harness.audit_log.texts if f" {command_name}" in text]
    assert len(audit_lines) == len(harness.audit_log.texts) == (0 if command_name == "/task" else 1)


@pytest.mark.parametrize("command", TASK_COMMANDS)
def test_outside_the_operator_chat_other_owners_tasks_are_unknown(command: str) -> None:
    task = a_task(due_at=NOW + HOUR)
    harness = ChatHarness(task, operators=OPERATOR_CHATS)
    for origin in ({"reply_target": "eve"}, {"reply_target": "ops", "source_chat": "eve"}):
        reply = harness.say(command.format(SHORT), sender_id="eve", **origin)
        assert reply == f"There is no task {SHORT}. /tasks lists yours."
    assert harness.task == task
    assert harness.audit_log.texts == []


def test_replies_in_the_operator_chat_show_the_description() -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR), operators=OPERATOR_CHATS)
    operator_chat = {"sender_id": "eve", "reply_target": "ops", "is_private": False}
    assert harness.say(f"/pause {SHORT}", **operator_chat) == f"Paused {SHORT}: stretch"


def test_a_command_that_cannot_be_audited_is_not_applied() -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR), operators=OPERATOR_CHATS)
    harness.audit_log.error = OSError("the table is gone")
    with pytest.raises(OSError, match="gone"):
        harness.say(f"/cancel {SHORT}", sender_id="eve", reply_target="ops")
    assert harness.task.status is Status.PENDING


def test_a_sender_name_cannot_forge_an_audit_line() -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR), operators=OPERATOR_CHATS)
    harness.say(f"/cancel {SHORT}", sender_id="eve\n[CHAT] by=bob", reply_target="ops")
    assert harness.audit_log.texts == [
        f"[CHAT] by=console:eve%0A%5BCHAT%5D%20by%3Dbob in=console:ops /cancel task={ID}"
    ]
