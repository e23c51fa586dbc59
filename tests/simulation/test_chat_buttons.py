"""The buttons under what is told, pressed: pressing one is saying what it says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.stack_client import StackClient

DONE = {"reply": "Mended.\nACTION_OUTCOME: success"}
DOWN = {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432", "code": "ECONNREFUSED"}}


def pressed(client: StackClient, label: str) -> str:
    """Of what ada was told last with buttons; the answer."""
    told = [sent for sent in client.outbox("ada") if sent["buttons"]][-1]
    [says] = [button["says"] for button in told["buttons"] if button["label"] == label]
    return client.say(says)


def labels(client: StackClient) -> list[str]:
    return [button["label"] for button in client.outbox("ada")[-1]["buttons"]]


def rang(client: StackClient) -> list[str]:
    """When, to the minute."""
    return [
        sent["at"][:16] for sent in client.outbox("ada") if sent["text"].startswith("Reminder: ")
    ]


def an_action(client: StackClient, *script: Any, **fields: Any) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": list(script)}
    defaults = {"type": "action", "description": "fix the build", "in": "10s", "payload": payload}
    return client.create(**{**defaults, **fields})


def test_a_delivered_reminder_reads_as_ever_with_buttons_beside_it(client: StackClient) -> None:
    client.say("/remind in 1m tea")
    client.advance("1m")
    assert client.outbox("ada")[-1]["text"] == "Reminder: tea"
    assert labels(client) == ["Done", "Snooze 20 min", "1 h", "Tomorrow"]


@pytest.mark.parametrize(
    ("label", "when"),
    [
        ("Snooze 20 min", "2026-02-17T12:20"),
        ("1 h", "2026-02-17T13:00"),
        ("Tomorrow", "2026-02-18T12:00"),
    ],
)
def test_a_snoozed_reminder_rings_again(client: StackClient, label: str, when: str) -> None:
    client.say("/remind in 0 minutes tea")
    assert pressed(client, label).startswith("Snoozed ")
    client.advance("2d")
    assert rang(client) == ["2026-02-17T12:00", when]


def test_snoozing_one_occurrence_leaves_the_series_alone(client: StackClient) -> None:
    client.say("/remind every day at 12:01 tea")
    [task] = client.items("/tasks")
    client.advance("1m")
    pressed(client, "1 h")
    client.advance("1h")
    pressed(client, "Snooze 20 min")
    client.advance("2d")
    assert rang(client) == [
        *("2026-02-17T12:01", "2026-02-17T13:01", "2026-02-17T13:21"),
        *("2026-02-18T12:01", "2026-02-19T12:01"),
    ]
    history = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
    assert set(history) == {"task:created", "task:started", "task:delivered"}


def test_an_occurrence_to_come_is_put_off_and_the_next_comes_at_its_own_time(
    client: StackClient,
) -> None:
    task_id = client.say("/remind every day at 13:00 tea").split()[1]
    assert "until Tuesday 17 Feb 2026, 13:20 (UTC): tea" in client.say(f"/snooze {task_id} 20m")
    client.advance("2d")
    assert rang(client) == ["2026-02-17T13:20", "2026-02-18T13:00"]
    history = [event["type"] for event in client.items(f"/tasks/{task_id}/history")]
    assert history[:2] == ["task:created", "task:changed"]
    assert "task:skipped" not in history


def test_pressing_twice_makes_one_reminder(client: StackClient) -> None:
    client.say("/remind in 0 minutes tea")
    for _ in range(3):
        pressed(client, "Snooze 20 min")
    client.advance("1d")
    assert rang(client) == ["2026-02-17T12:00", "2026-02-17T12:20"]


def test_done_stops_what_was_snoozed(client: StackClient) -> None:
    client.say("/remind in 0 minutes tea")
    pressed(client, "Snooze 20 min")
    assert pressed(client, "Done") == "Done: tea"
    client.advance("1d")
    assert rang(client) == ["2026-02-17T12:00"]


def test_each_button_is_about_the_occurrence_above_it(client: StackClient) -> None:
    client.say("/remind every 30 minutes drink")
    client.advance("30m")
    first = {one["label"]: one["says"] for one in client.outbox("ada")[-1]["buttons"]}
    client.advance("10m")
    client.say(first["1 h"])  # 13:40
    client.advance("20m")
    second = {one["label"]: one["says"] for one in client.outbox("ada")[-1]["buttons"]}
    client.advance("10m")
    client.say(second["1 h"])  # 14:10
    client.say(first["Done"])
    client.advance("1h40m")
    assert rang(client)[2:] == [
        *("2026-02-17T13:30", "2026-02-17T14:00", "2026-02-17T14:10", "2026-02-17T14:30")
    ]


def test_what_comes_by_itself_rings_once(client: StackClient) -> None:
    client.say("/remind every day at 12:01 tea")
    client.advance("1m")
    assert pressed(client, "Tomorrow") == (
        "It comes again by itself on Wednesday 18 Feb 2026, 12:01 (UTC): tea"
    )
    client.advance("1d")
    assert rang(client) == ["2026-02-17T12:01", "2026-02-18T12:01"]


def test_a_series_that_is_cancelled_takes_along_what_was_snoozed(client: StackClient) -> None:
    task_id = client.say("/remind every day at 12:01 tea").split()[1]
    client.advance("1m")
    pressed(client, "1 h")
    assert "snoozed of it is cancelled, too" in client.say(f"/cancel {task_id}")
    client.advance("2d")
    assert rang(client) == ["2026-02-17T12:01"]


def test_a_button_does_nothing_for_somebody_else(client: StackClient) -> None:
    client.say("/remind in 0 minutes tea")
    says = client.outbox("ada")[-1]["buttons"][1]["says"]
    assert client.say(says, sender="bob").startswith("There is no task ")
    client.advance("1d")
    assert len(rang(client)) == 1


def test_a_failure_is_tried_again_at_once(client: StackClient) -> None:
    task = an_action(client, DOWN, DONE)
    client.advance("10s")
    assert labels(client) == ["Retry now", "Cancel"]
    pressed(client, "Retry now")
    assert client.task(task["id"])["status"] == "completed"


def test_a_failure_is_called_off(client: StackClient) -> None:
    task = an_action(client, DOWN)
    client.advance("10s")
    assert pressed(client, "Cancel") == f"Cancelled {task['short_id']}: fix the build"
    assert client.task(task["id"])["status"] == "cancelled"


@pytest.mark.parametrize(
    ("label", "status"),
    [("It happened", "completed"), ("It didn't", "completed"), ("Skip", "cancelled")],
)
def test_whether_it_happened_is_answered_by_a_button(
    client: StackClient, label: str, status: str
) -> None:
    client.add_fault(function="worker", call="provider.call", when="after", kind="crash")
    task = an_action(client, DONE)
    client.advance("1h")
    assert labels(client) == ["It happened", "It didn't", "Skip"]
    pressed(client, label)
    assert client.task(task["id"])["status"] == status
    attempts = len(client.items(f"/tasks/{task['id']}/runs"))
    assert attempts == (2 if label == "It didn't" else 1)


@pytest.mark.parametrize(("label", "status"), [("Approve", "completed"), ("Reject", "pending")])
def test_a_verdict_is_given_by_a_button(client: StackClient, label: str, status: str) -> None:
    task = an_action(client, DONE, verify=True)
    client.advance("1m")
    assert labels(client) == ["Approve", "Reject"]
    pressed(client, label)
    assert client.task(task["id"])["status"] == status
