"""What is answered to the rest of what people say."""

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
ABOUT_ONE = [
    *("/task {}", "/cancel {}", "/retry {}", "/snooze {} 20m", "/pause {}", "/resume {}"),
    *("/approve {}", "/reject {} no", "/resolve {} skip", "/done {}"),
]


def test_a_first_word_is_welcome() -> None:
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
def test_half_a_command_is_answered_with_what_is_missing_and_no_more(text: str) -> None:
    reply = ChatHarness().say(text)
    assert "?" in reply
    assert f"{text.split()[0]} " in reply
    assert "\n" not in reply


def test_what_is_no_command_is_answered_with_all_there_are() -> None:
    assert (
        ChatHarness().say("/frobnicate")
        == f"I did not understand that. These are the commands:\n{HELP_TEXT}"
    )


def test_a_zone_is_remembered_and_told() -> None:
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


def test_a_zone_that_is_not_understood_leaves_the_one_before() -> None:
    harness = ChatHarness().set_timezone("Asia/Tokyo")
    assert "CET does not say when your clocks change" in harness.say("/timezone CET")
    assert "Asia/Tokyo" in harness.say("/timezone")


@pytest.mark.parametrize("command", ABOUT_ONE)
@pytest.mark.parametrize("stranger", [{"sender_id": "bob"}, {"channel": "slack"}])
def test_anothers_id_is_answered_as_an_unknown_one(command: str, stranger: dict[str, str]) -> None:
    task = a_task(due_at=NOW + HOUR)
    harness = ChatHarness(task)
    unknown = harness.say(command.format("00000000"), **stranger)
    assert unknown == "There is no task 00000000. /tasks lists yours."
    assert harness.say(command.format(SHORT), **stranger).replace(SHORT, "00000000") == unknown
    assert harness.say(command.format(ID), **stranger).replace(ID, "00000000") == unknown
    assert harness.task == task


def test_what_a_task_refuses_is_said_in_a_sentence() -> None:
    harness = ChatHarness(a_task(status=Status.DELIVERED))
    assert harness.say(f"/pause {SHORT}") == f"Task {SHORT} is delivered: it cannot be paused."


def test_a_long_description_is_cut_where_it_is_quoted() -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR, description="a\nb " + "x" * 3_000))
    assert harness.say(f"/cancel {SHORT}") == f"Cancelled {SHORT}: a b {'x' * 196} …"


def test_an_id_of_nonsense_is_quoted_shortly() -> None:
    reply = ChatHarness().say("/cancel " + "\x1b[31m" + "é" * 5_000)
    assert reply == f"There is no task [31m{'é' * 36}. /tasks lists yours."


# What people want to hear, and when


def test_quiet_hours_are_kept_in_the_zone_of_whoever_sets_them() -> None:
    harness = ChatHarness().set_timezone("Asia/Tokyo")
    said = harness.say("/quiet 10pm to 7am")
    assert said.startswith("Your quiet hours are from 22:00 to 07:00 (Asia/Tokyo).")
    assert harness.quiet_hours.by_owner == {ADA: QuietHours.from_text("22:00 07:00 Asia/Tokyo")}
    harness.say("/timezone Berlin")
    assert harness.quiet_hours.by_owner == {ADA: QuietHours.from_text("22:00 07:00 Europe/Berlin")}


def test_a_zone_that_is_guessed_is_said_to_be() -> None:
    said = ChatHarness().say("/quiet 22:00-7:00", locale="ja")
    assert "(Asia/Tokyo)" in said
    assert said.endswith(
        "I guessed your time zone from your language: Asia/Tokyo. Change it: /timezone <place>"
    )


def test_without_a_zone_there_are_no_quiet_hours() -> None:
    harness = ChatHarness()
    assert "I need your time zone first." in harness.say("/quiet 22:00-7:00")
    assert harness.quiet_hours.by_owner == {}


def test_a_zone_named_later_makes_no_quiet_hours() -> None:
    harness = ChatHarness()
    harness.say("/timezone Berlin")
    assert harness.quiet_hours.by_owner == {}


def test_other_quiet_hours_let_through_what_the_old_ones_held() -> None:
    held = a_task(due_at=NOW + HOUR, nominal_at=NOW, wait=quiet_hours_wait("13:00"))
    for hours, due_at in (("11:30-14:00", NOW + HOUR), ("18:00-19:00", NOW), ("off", NOW)):
        harness = ChatHarness(held).set_timezone("UTC")
        harness.quiet_hours.set(ADA, QuietHours.from_text("11:00 13:00 UTC"))
        harness.say(f"/quiet {hours}")
        assert harness.task.due_at == due_at, hours


@pytest.mark.parametrize(
    ("zone", "due_in", "said"),
    [
        ("America/New_York", 0 * HOUR, "\n1 waiting reminder comes now."),  # 07:00 there
        ("Asia/Kolkata", HOUR / 2, ""),  # 17:30
        ("Europe/Berlin", 2 * HOUR, ""),  # 13:00: it was to come before they end there
    ],
)
def test_what_waited_waits_no_longer_than_in_another_time_zone(
    zone: str, due_in: timedelta, said: str
) -> None:
    held = a_task(due_at=NOW + 2 * HOUR, wait=quiet_hours_wait("14:00"))
    harness = ChatHarness(held).set_timezone("UTC")
    hours = "13:00 18:00 UTC" if zone == "Asia/Kolkata" else "11:30 16:00 UTC"
    harness.quiet_hours.set(ADA, QuietHours.from_text(hours))
    assert harness.say(f"/timezone {zone}").endswith(f"({zone}).{said}")
    assert harness.task.due_at == NOW + due_in


def test_shorter_quiet_hours_end_sooner_for_what_waits() -> None:
    held = a_task(due_at=NOW + 2 * HOUR, wait=quiet_hours_wait("14:00"))
    harness = ChatHarness(held).set_timezone("UTC")
    harness.say("/quiet 11:00-13:00")
    assert harness.task.due_at == NOW + HOUR
    assert harness.task.wait == replace(quiet_hours_wait("13:00"), until=NOW + HOUR)


def test_whoever_died_before_letting_through_what_was_held_does_so_when_asked_again() -> None:
    held = a_task(due_at=NOW + HOUR, nominal_at=NOW, wait=quiet_hours_wait("13:00"))
    harness = ChatHarness(held).set_timezone("UTC")
    assert harness.say("/quiet off") == ("Your quiet hours are off.\n1 waiting reminder comes now.")
    assert harness.task.due_at == NOW
    assert harness.say("/quiet off").startswith("You have no quiet hours.")


def test_what_others_change_at_the_same_moment_does_not_keep_quiet_hours_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = a_task(due_at=NOW + HOUR, nominal_at=NOW, wait=quiet_hours_wait("13:00"))
    harness = ChatHarness(held).set_timezone("UTC")
    harness.quiet_hours.set(ADA, QuietHours.from_text("11:00 13:00 UTC"))

    def lost(before: Task, *_: Any, **__: Any) -> None:
        raise StaleTaskError(before.id)

    monkeypatch.setattr(harness.store, "save", lost)
    assert harness.say("/quiet off") == "Your quiet hours are off."


def test_what_is_called_off_at_the_same_moment_is_not_said_to_come() -> None:
    held = a_task(due_at=NOW + HOUR, nominal_at=NOW, wait=quiet_hours_wait("13:00"))
    harness = ChatHarness(held).set_timezone("UTC")
    harness.quiet_hours.set(ADA, QuietHours.from_text("11:00 13:00 UTC"))
    called_off = cancel(held, at=NOW)
    harness.store.concurrent_writes.append(lambda: harness.store.tasks.update({ID: called_off}))
    assert harness.say("/quiet off") == "Your quiet hours are off."
    assert (harness.task, harness.queue) == (called_off, [])


def test_what_waits_for_something_else_goes_on_waiting() -> None:
    parked = an_action(due_at=NOW + HOUR, wait=PROVIDER_DOWN)
    harness = ChatHarness(parked).set_timezone("UTC")
    harness.quiet_hours.set(ADA, QuietHours.from_text("11:00 13:00 UTC"))
    assert harness.say("/quiet off") == "Your quiet hours are off."
    assert harness.task == parked


def test_to_choose_what_one_hears_leaves_the_zone() -> None:
    harness = ChatHarness().set_timezone("Asia/Tokyo")
    harness.say("/notify none")
    assert harness.profiles.get(ADA) == Profile(ADA, timezone="Asia/Tokyo", notify=NotifyLevel.NONE)
    harness.say("/timezone Berlin")
    assert harness.profiles.get(ADA).notify is NotifyLevel.NONE


# The operators' chat

OPERATOR_CHATS = (ChatAddress("console", "ops"),)


@pytest.mark.parametrize("command", [one for one in ABOUT_ONE if "/reject" not in one])
def test_operators_may_speak_of_every_task_in_their_chat(command: str) -> None:
    task = a_task(due_at=NOW + HOUR)
    harness = ChatHarness(task, operators=OPERATOR_CHATS)
    there = {"sender_id": "eve", "reply_target": "ops", "is_private": False}
    assert not harness.say(command.format(SHORT), **there).startswith("There is no task")
    word = command.split()[0]
    noted = [text for text in harness.audit_log.texts if f" {word}" in text]
    assert len(noted) == len(harness.audit_log.texts) == (0 if word == "/task" else 1)


@pytest.mark.parametrize("command", ABOUT_ONE)
def test_to_operators_who_speak_elsewhere_anothers_task_is_unknown(command: str) -> None:
    task = a_task(due_at=NOW + HOUR)
    harness = ChatHarness(task, operators=OPERATOR_CHATS)
    for where in ({"reply_target": "eve"}, {"reply_target": "ops", "source_chat": "eve"}):
        answer = harness.say(command.format(SHORT), sender_id="eve", **where)
        assert answer == f"There is no task {SHORT}. /tasks lists yours."
    assert harness.task == task
    assert harness.audit_log.texts == []


def test_operators_are_told_what_it_is_about_in_their_chat() -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR), operators=OPERATOR_CHATS)
    there = {"sender_id": "eve", "reply_target": "ops", "is_private": False}
    assert harness.say(f"/pause {SHORT}", **there) == f"Paused {SHORT}: stretch"


def test_what_could_not_be_noted_is_not_done() -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR), operators=OPERATOR_CHATS)
    harness.audit_log.error = OSError("the table is gone")
    with pytest.raises(OSError, match="gone"):
        harness.say(f"/cancel {SHORT}", sender_id="eve", reply_target="ops")
    assert harness.task.status is Status.PENDING


def test_a_name_cannot_forge_a_line_of_the_audit_log() -> None:
    harness = ChatHarness(a_task(due_at=NOW + HOUR), operators=OPERATOR_CHATS)
    harness.say(f"/cancel {SHORT}", sender_id="eve\n[CHAT] by=bob", reply_target="ops")
    assert harness.audit_log.texts == [
        f"[CHAT] by=console:eve%0A%5BCHAT%5D%20by%3Dbob in=console:ops /cancel task={ID}"
    ]
