"""The console chat: commands, and that each sender sees only their own tasks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.stack_client import StackClient


def test_a_reminder_created_in_chat_is_sent(client: StackClient) -> None:
    answer = client.say("/remind in 10s stretch")
    client.advance("11s")

    task_id = answer.split()[1]
    assert answer == (f"Reminder {task_id} set for Tuesday 17 Feb 2026, 12:00:10 (UTC): stretch")
    assert client.outbox("ada")[-1]["text"] == "Reminder: stretch"


@pytest.mark.parametrize(
    ("typed", "time"),
    [
        ("/remind in 10 minutes tea", "12:10"),
        ("/remind in 2h30m tea", "14:30"),
        ("/remind in 1 hour and 30 minutes tea", "13:30"),
        ("/REMIND in 90 sec tea", "12:01:30"),
        ("/remind in 1.5 hours tea", "13:30"),
        ("/remind at 15:00 tea", "15:00"),
        ("remind me to have tea at 15:00", "15:00"),
    ],
)
def test_reminder_times_are_parsed(client: StackClient, typed: str, time: str) -> None:
    assert f", {time} (UTC): " in client.say(typed)


def test_a_series_follows_the_time_zone_of_the_sender(client: StackClient) -> None:
    assert "now Europe/Berlin" in client.say("/timezone berlin")
    first, second = client.say("/remind every weekday 8:30 stand-up").splitlines()
    assert first.endswith("set for Wednesday 18 Feb 2026, 08:30 (Europe/Berlin): stand-up")
    assert second == "Repeats: every weekday"
    client.advance("6d")
    sent_at = [sent["at"] for sent in client.outbox("ada") if sent["text"] == "Reminder: stand-up"]
    assert sent_at == [f"2026-02-{day}T07:30:00.000Z" for day in (18, 19, 20, 23)]


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("/remind", "When, and what should I remind you of?"),
        ("/remind stretch", "When?"),
        ("/remind in 10 minutes", "What should I remind you of?"),
        ("/remind in 99999999 weeks x", "100 years"),
        ("/remind 2020-01-01 10:00 x", "has passed"),
        ("hello", "/remind <when> <what>"),
        ("/", "/remind <when> <what>"),
        ("\x1b\u202e/", "/remind <when> <what>"),
    ],
)
def test_an_incomplete_command_gets_a_hint(client: StackClient, typed: str, answer: str) -> None:
    assert answer in client.say(typed)
    assert client.items("/tasks") == []


def test_an_action_runs_and_notifies(client: StackClient) -> None:
    client.say("/do sum up the day")
    started, completed = [sent["text"] for sent in client.outbox("ada")]
    assert started.startswith("Action ")
    assert started.endswith(" starts now: sum up the day")
    assert completed.startswith("Done: sum up the day")
    [task] = client.items("/tasks")
    assert (task["type"], task["policy"], task["status"]) == ("action", "agent", "completed")


def test_a_sender_sees_their_own_open_tasks(client: StackClient) -> None:
    client.say("/remind in 2h cake", sender="ada")
    client.say("/remind in 1h tea", sender="ada")
    client.say("/remind in 1h secret", sender="bob")

    lines = client.say("/tasks", sender="ada").splitlines()

    assert [line.rpartition(": ")[2] for line in lines] == ["tea", "cake"]


def test_task_command_shows_the_task(client: StackClient) -> None:
    task_id = client.say("/remind in 1h tea").split()[1]
    assert client.say(f"/task {task_id}").splitlines() == [
        f"Reminder {task_id}: tea",
        "Status: pending",
        "Due: Tuesday 17 Feb 2026, 13:00 (UTC)",
    ]


def test_a_similar_reminder_is_reported_as_a_duplicate(client: StackClient) -> None:
    task_id = client.say("/remind in 1h tea").split()[1]
    assert f"\nCancel it: /cancel {task_id}" in client.say("/remind in 61 minutes Tea!")
    assert len(client.items("/tasks")) == 2


def test_cancel_accepts_a_short_id(client: StackClient) -> None:
    task_id = client.say("/remind in 20s stretch").split()[1]

    assert client.say(f"/cancel {task_id}") == f"Cancelled {task_id}: stretch"
    client.advance("1m")
    assert client.task(task_id)["status"] == "cancelled"


def test_the_id_of_another_sender_gets_the_reply_of_an_unknown_id(client: StackClient) -> None:
    task_id = client.say("/remind in 1h secret", sender="ada").split()[1]

    anothers = client.say(f"/cancel {task_id}", sender="bob")
    unknown = client.say("/cancel 00000000", sender="bob")

    assert anothers.replace(task_id, "00000000") == unknown
    assert client.task(task_id)["status"] == "pending"


def test_a_description_that_is_too_long_is_refused(client: StackClient) -> None:
    assert "description" in client.say("/remind in 1h " + "x" * 5_000)


def test_a_task_is_paused_and_resumed(client: StackClient) -> None:
    task_id = client.say("/remind in 20s stretch").split()[1]
    assert client.say(f"/pause {task_id}") == f"Paused {task_id}: stretch"
    client.advance("1m")
    assert client.task(task_id)["status"] == "pending"

    client.say(f"/resume {task_id}")
    client.advance("1m")
    assert f"Resumed {task_id}: stretch" in sent_texts(client)
    assert client.task(task_id)["status"] == "delivered"


def test_a_rejection_reason_may_be_on_its_own_line(client: StackClient) -> None:
    payload = {"provider": "scripted", "script": [{"reply": "ACTION_OUTCOME: success"}]}
    task = client.create(type="action", payload=payload, verify=True, **{"in": 1})
    client.advance("5s")
    client.say(f"/reject {task['id'][:8]}\nthe link is broken")
    assert f"Rejected {task['id'][:8]}: stretch\nStatus: pending" in sent_texts(client)
    assert client.task(task["id"])["last_error"] == "rejected: the link is broken"


@pytest.mark.parametrize("text", ["x" * 8_000, "/remind in 1h \x00\x1b\u202e\u200f\ny", "\ufffe/"])
def test_hostile_text_gets_a_reply_and_leaves_no_dead_letter(
    client: StackClient, text: str
) -> None:
    assert client.say(text)
    assert client.items("/dead-letters") == []


def sent_texts(client: StackClient) -> list[Any]:
    return [sent["text"] for sent in client.outbox("ada")]
