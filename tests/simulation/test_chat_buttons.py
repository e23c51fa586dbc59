"""Buttons under chat messages: pressing one sends its command."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.stack_client import StackClient

SUCCESS = {"reply": "Mended.\nACTION_OUTCOME: success"}
DOWN = {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432", "code": "ECONNREFUSED"}}


def press_button(client: StackClient, label: str) -> str:
    """Press a button of the last message with buttons and return the reply."""
    message = [sent for sent in client.outbox("ada") if sent["buttons"]][-1]
    [command] = [button["says"] for button in message["buttons"] if button["label"] == label]
    return client.say(command)


def button_labels(client: StackClient) -> list[str]:
    return [button["label"] for button in client.outbox("ada")[-1]["buttons"]]


def reminder_times(client: StackClient) -> list[str]:
    """Return when reminders were sent, to the minute."""
    return [
        sent["at"][:16] for sent in client.outbox("ada") if sent["text"].startswith("Reminder: ")
    ]


def create_action(client: StackClient, *script: Any, **fields: Any) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": list(script)}
    defaults = {"type": "action", "description": "fix the build", "in": "10s", "payload": payload}
    return client.create(**{**defaults, **fields})


def test_a_delivered_reminder_has_buttons(client: StackClient) -> None:
    client.say("/remind in 1m tea")
    client.advance("1m")
    assert client.outbox("ada")[-1]["text"] == "Reminder: tea"
    assert button_labels(client) == ["Done", "Snooze 20 min", "1 h", "Tomorrow"]


@pytest.mark.parametrize(
    ("label", "when"),
    [
        ("Snooze 20 min", "2026-02-17T12:20"),
        ("1 h", "2026-02-17T13:00"),
        ("Tomorrow", "2026-02-18T12:00"),
    ],
)
def test_a_snoozed_reminder_is_sent_again(client: StackClient, label: str, when: str) -> None:
    client.say("/remind in 0 minutes tea")
    assert press_button(client, label).startswith("Snoozed ")
    client.advance("2d")
    assert reminder_times(client) == ["2026-02-17T12:00", when]


def test_snoozing_one_occurrence_does_not_move_the_series(client: StackClient) -> None:
    client.say("/remind every day at 12:01 tea")
    [task] = client.items("/tasks")
    client.advance("1m")
    press_button(client, "1 h")
    client.advance("1h")
    press_button(client, "Snooze 20 min")
    client.advance("2d")
    assert reminder_times(client) == [
        *("2026-02-17T12:01", "2026-02-17T13:01", "2026-02-17T13:21"),
        *("2026-02-18T12:01", "2026-02-19T12:01"),
    ]
    history = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
    assert set(history) == {"task:created", "task:started", "task:delivered"}


def test_snoozing_the_next_occurrence_does_not_move_the_one_after(
    client: StackClient,
) -> None:
    task_id = client.say("/remind every day at 13:00 tea").split()[1]
    assert "until Tuesday 17 Feb 2026, 13:20 (UTC): tea" in client.say(f"/snooze {task_id} 20m")
    client.advance("2d")
    assert reminder_times(client) == ["2026-02-17T13:20", "2026-02-18T13:00"]
    history = [event["type"] for event in client.items(f"/tasks/{task_id}/history")]
    assert history[:2] == ["task:created", "task:changed"]
    assert "task:skipped" not in history


def test_pressing_snooze_repeatedly_creates_one_reminder(client: StackClient) -> None:
    client.say("/remind in 0 minutes tea")
    for _ in range(3):
        press_button(client, "Snooze 20 min")
    client.advance("1d")
    assert reminder_times(client) == ["2026-02-17T12:00", "2026-02-17T12:20"]


def test_done_cancels_the_snoozed_reminder(client: StackClient) -> None:
    client.say("/remind in 0 minutes tea")
    press_button(client, "Snooze 20 min")
    assert press_button(client, "Done") == "Done: tea"
    client.advance("1d")
    assert reminder_times(client) == ["2026-02-17T12:00"]


def test_each_button_applies_to_its_own_occurrence(client: StackClient) -> None:
    client.say("/remind every 30 minutes drink")
    client.advance("30m")
    first = {button["label"]: button["says"] for button in client.outbox("ada")[-1]["buttons"]}
    client.advance("10m")
    client.say(first["1 h"])  # 13:40
    client.advance("20m")
    second = {button["label"]: button["says"] for button in client.outbox("ada")[-1]["buttons"]}
    client.advance("10m")
    client.say(second["1 h"])  # 14:10
    client.say(first["Done"])
    client.advance("1h40m")
    assert reminder_times(client)[2:] == [
        *("2026-02-17T13:30", "2026-02-17T14:00", "2026-02-17T14:10", "2026-02-17T14:30")
    ]


def test_snoozing_to_the_next_occurrence_creates_no_reminder(client: StackClient) -> None:
    client.say("/remind every day at 12:01 tea")
    client.advance("1m")
    assert press_button(client, "Tomorrow") == (
        "Not snoozed, the series comes again on Wednesday 18 Feb 2026, 12:01 (UTC): tea"
    )
    client.advance("1d")
    assert reminder_times(client) == ["2026-02-17T12:01", "2026-02-18T12:01"]


def test_cancelling_a_series_cancels_its_snoozed_reminders(client: StackClient) -> None:
    task_id = client.say("/remind every day at 12:01 tea").split()[1]
    client.advance("1m")
    press_button(client, "1 h")
    assert "snoozed reminders are cancelled too" in client.say(f"/cancel {task_id}")
    client.advance("2d")
    assert reminder_times(client) == ["2026-02-17T12:01"]


def test_a_button_does_nothing_for_another_sender(client: StackClient) -> None:
    client.say("/remind in 0 minutes tea")
    command = client.outbox("ada")[-1]["buttons"][1]["says"]
    assert client.say(command, sender="bob").startswith("There is no task ")
    client.advance("1d")
    assert len(reminder_times(client)) == 1


def test_the_retry_button_runs_a_failed_task_at_once(client: StackClient) -> None:
    task = create_action(client, DOWN, SUCCESS)
    client.advance("10s")
    assert button_labels(client) == ["Retry now", "Cancel"]
    press_button(client, "Retry now")
    assert client.task(task["id"])["status"] == "completed"


def test_the_cancel_button_cancels_a_failed_task(client: StackClient) -> None:
    task = create_action(client, DOWN)
    client.advance("10s")
    assert press_button(client, "Cancel") == f"Cancelled {task['short_id']}: fix the build"
    assert client.task(task["id"])["status"] == "cancelled"


@pytest.mark.parametrize(
    ("label", "status"),
    [("It happened", "completed"), ("It did not happen", "completed"), ("Skip", "cancelled")],
)
def test_buttons_resolve_an_indeterminate_effect(
    client: StackClient, label: str, status: str
) -> None:
    client.add_fault(function="worker", call="provider.call", when="after", kind="crash")
    task = create_action(client, SUCCESS)
    client.advance("1h")
    assert button_labels(client) == ["It happened", "It did not happen", "Skip"]
    press_button(client, label)
    assert client.task(task["id"])["status"] == status
    attempts = len(client.items(f"/tasks/{task['id']}/runs"))
    assert attempts == (2 if label == "It did not happen" else 1)


@pytest.mark.parametrize(("label", "status"), [("Approve", "completed"), ("Reject", "pending")])
def test_buttons_approve_or_reject(client: StackClient, label: str, status: str) -> None:
    task = create_action(client, SUCCESS, verify=True)
    client.advance("1m")
    assert button_labels(client) == ["Approve", "Reject"]
    press_button(client, label)
    assert client.task(task["id"])["status"] == status
