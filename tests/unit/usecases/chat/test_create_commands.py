"""Creating a reminder or an action in chat: the stored task and the reply."""

from __future__ import annotations

from datetime import datetime

import pytest
from duecourse.domain.tasks.task import Task

from tests.support.builders.moments import HOUR, MINUTE, NOW, parse_instant
from tests.support.chat_harness import ChatHarness

BERLIN = "Europe/Berlin"


def reply_lines(harness: ChatHarness, text: str, **fields: str) -> list[str]:
    return harness.say(text, **fields).splitlines()


# What was understood


def test_the_reply_shows_the_stored_task_in_the_senders_time_zone() -> None:
    harness = ChatHarness().set_timezone(BERLIN)
    reply = harness.say("/remind on friday 8:30 stand-up", at=parse_instant("2026-11-18T10:00:00Z"))
    task = harness.task
    assert reply == (
        f"Reminder {task.short_id} set for Friday 20 Nov 2026, 08:30 (Europe/Berlin): stand-up"
    )
    assert task.due_at == parse_instant("2026-11-20T07:30:00Z")
    assert (task.timezone, task.type, task.description) == (BERLIN, "reminder", "stand-up")
    assert (task.channel, task.sender_id, task.reply_target) == ("console", "ada", "ada")


def test_the_reply_for_a_series_describes_its_recurrence() -> None:
    harness = ChatHarness().set_timezone(BERLIN)
    first, second = reply_lines(harness, "/remind every weekday 8:30 stand-up")
    assert first.endswith("set for Wednesday 18 Feb 2026, 08:30 (Europe/Berlin): stand-up")
    assert second == "Repeats: every weekday"
    assert harness.task.repeat is not None


@pytest.mark.parametrize(
    ("text", "description", "clock"),
    [
        ("remind me in 10 minutes to stretch", "stretch", "12:10"),
        ("remind me to stretch in 10 minutes", "stretch", "12:10"),
        ("remind me to call Anna at 18:00", "call Anna", "18:00"),
        ("/remind me to call Anna, at 18:00", "call Anna", "18:00"),
        ("remind me about the 2 bins at 18:00", "the 2 bins", "18:00"),
        ("/remind in 10 minutes first\nsecond", "first\nsecond", "12:10"),
        ("/remind in 10 minutes a\x00b\ud800c", "abc", "12:10"),
    ],
)
def test_free_text_reminders_are_parsed(text: str, description: str, clock: str) -> None:
    harness = ChatHarness()
    assert f"2026, {clock} (UTC): {description}" in harness.say(text)
    assert harness.task.description == description


@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("/remind stretch", "When? Example: /remind in 10 minutes stretch"),
        ("remind me to buy a ticket for friday 20:00", "When? Example:"),
        (
            "/remind in 10 minutes",
            "What should I remind you of? Example: /remind in 10 minutes stretch",
        ),
        ("/remind 2020-01-01 10:00 x", "has passed"),
        ("/remind at 5 tea", "Did you mean"),
        ("remind me to have tea at 5", "Did you mean"),
        ("/do at 5 tea", "Did you mean"),
        ("/do at 18:00", "What should I do?"),
        ("/remind in 10 minutes " + "x" * 4_001, "description: must be at most 4,000 characters"),
    ],
)
def test_an_unclear_request_gets_a_question_and_creates_no_task(text: str, reply: str) -> None:
    harness = ChatHarness()
    assert reply in harness.say(text)
    assert harness.tasks == []


# The sender's time zone


@pytest.mark.parametrize("text", ["/remind at 15:00 tea", "/remind every day at 15:00 tea"])
def test_the_reply_mentions_a_guessed_time_zone_until_one_is_set(text: str) -> None:
    harness = ChatHarness()
    reply = harness.say(text, locale="de")
    assert "15:00 (Europe/Berlin): tea" in reply
    assert (
        "I guessed your time zone from your language: Europe/Berlin. Change it: /timezone <place>"
        in reply
    )
    harness.say("/timezone tokyo", locale="de")
    assert "guessed" not in harness.say(text, locale="de")
    assert harness.tasks[-1].timezone == "Asia/Tokyo"


def test_an_unknown_time_zone_defaults_to_utc_and_the_reply_says_so() -> None:
    reply = ChatHarness().say("/remind at 15:00 tea", locale="en-US")
    assert reply.endswith("This time is in UTC. Set your time zone: /timezone <place>")


def test_a_relative_delay_needs_no_time_zone_hint() -> None:
    assert len(reply_lines(ChatHarness(), "/remind in 10 minutes tea", locale="de")) == 1


def test_a_stored_zone_that_no_longer_exists_is_ignored() -> None:
    harness = ChatHarness().set_timezone("Europe/Atlantis")
    assert "(UTC)" in harness.say("/remind at 15:00 tea")


# Messages that arrive late


@pytest.mark.parametrize("text", ["/remind in 10 minutes tea", "/remind at 12:10 tea"])
@pytest.mark.parametrize(
    ("now", "due"),
    [
        (NOW, NOW + 10 * MINUTE),
        (NOW + 9 * MINUTE, NOW + 10 * MINUTE),
        (NOW + 15 * MINUTE, NOW + 10 * MINUTE),
    ],
)
def test_times_are_relative_to_when_the_message_was_sent(
    text: str, now: datetime, due: datetime
) -> None:
    harness = ChatHarness()
    assert "12:10 (UTC): tea" in harness.say(text, now=now)
    assert harness.task.due_at == due


def test_a_task_overdue_because_of_a_slow_queue_is_enqueued_at_once() -> None:
    harness = ChatHarness()
    harness.say("/remind in 10 minutes tea", now=NOW + 12 * MINUTE)
    assert [message.task_id for message in harness.queue] == [harness.task.id]


@pytest.mark.parametrize("text", ["/remind in 10 minutes tea", "/do in 10 minutes tea"])
def test_a_request_that_arrives_long_after_its_due_time_creates_no_task(text: str) -> None:
    harness = ChatHarness()
    reply = harness.say(text, now=NOW + 15 * MINUTE + MINUTE / 60)
    assert reply.startswith("Your message arrived too late")
    assert harness.tasks == []


def test_a_redelivered_message_gets_the_same_reply_however_late() -> None:
    harness = ChatHarness()
    replies = [
        harness.say("/remind in 10 minutes tea", key="same", now=NOW + delay)
        for delay in (MINUTE, 2 * MINUTE, HOUR)
    ]
    assert len(set(replies)) == len(harness.tasks) == 1
    assert replies[0].startswith("Reminder ")


def test_a_redelivered_message_that_parses_differently_reports_the_stored_task() -> None:
    harness = ChatHarness()
    first_reply = harness.say("/remind at 15:00 tea", key="same")
    harness.set_timezone("Asia/Tokyo")
    second_reply = harness.say("/remind at 23:00 tea", key="same")
    short_id = first_reply.split()[1]
    due_in_tokyo = "Wednesday 18 Feb 2026, 00:00 (Asia/Tokyo)"  # 15:00 in UTC
    assert second_reply == f"Reminder {short_id} set for {due_in_tokyo}: tea"
    assert len(harness.tasks) == 1


# Duplicates


def test_a_similar_task_is_created_and_the_reply_mentions_the_first() -> None:
    harness = ChatHarness().set_timezone(BERLIN)
    harness.say("/remind at 18:00 pay the rent")
    [first_task] = harness.tasks
    _, *hint = reply_lines(harness, "/remind at 18:03 Pay the rent!")
    assert len(harness.tasks) == 2
    assert "\n".join(hint) == (
        f"Similar task: {first_task.short_id}, Tuesday 17 Feb 2026, 18:00 (Europe/Berlin): "
        f"pay the rent\nCancel it: /cancel {first_task.short_id}"
    )


def test_a_task_of_another_owner_is_not_a_duplicate() -> None:
    harness = ChatHarness()
    harness.say("/remind at 18:00 pay the rent", sender_id="bob")
    assert "Similar task" not in harness.say("/remind at 18:00 pay the rent")


# Actions


def create_action(text: str, *providers: str) -> tuple[str, Task]:
    harness = ChatHarness(providers=providers)
    return harness.say(text), harness.task


def test_an_action_without_a_time_starts_now_with_the_first_provider() -> None:
    reply, task = create_action("/do sum up the day", "scripted", "openai")
    assert reply == f"Action {task.short_id} starts now: sum up the day"
    assert (task.type, task.policy, task.payload) == ("action", "agent", {"provider": "scripted"})
    assert (task.due_at, task.description) == (NOW, "sum up the day")


def test_an_action_can_have_a_due_time() -> None:
    reply, task = create_action("/do at 18:00 sum up the day", "openai")
    assert "set for Tuesday 17 Feb 2026, 18:00 (UTC): sum up the day" in reply
    assert task.due_at == NOW + 6 * HOUR


@pytest.mark.parametrize("text", ["/do call Bob tomorrow at 9", "/do sum up the day on friday"])
def test_a_time_at_the_end_of_an_action_needs_confirmation(text: str) -> None:
    harness = ChatHarness()
    assert harness.say(text).startswith("Should it run at the time at the end?")
    assert not harness.store.tasks


def test_a_date_within_the_description_does_not_delay_an_action() -> None:
    harness = ChatHarness()
    assert "starts now" in harness.say("/do buy a ticket for friday")
    assert "starts now" in harness.say("/do write the report of last week")


def test_an_immediate_action_starts_after_a_short_queue_delay() -> None:
    harness = ChatHarness()
    assert "starts now" in harness.say("/do sum up the day", now=NOW + 5 * MINUTE)
    assert [message.task_id for message in harness.queue] == [harness.task.id]


@pytest.mark.parametrize("text", ["/do sum up the day", "/do now sum up the day"])
def test_an_immediate_action_that_arrives_too_late_is_not_created(text: str) -> None:
    harness = ChatHarness()
    assert harness.say(text, now=NOW + 6 * MINUTE).startswith("Your message arrived too late")
    assert harness.store.tasks == {}


def test_without_a_provider_the_reply_says_actions_are_unavailable() -> None:
    harness = ChatHarness(providers=())
    assert (
        harness.say("/do sum up the day")
        == "Actions are not available here: no provider is configured."
    )
    assert harness.tasks == []
