"""Reminders from create to delivered, through the whole stack."""

from __future__ import annotations

from datetime import timedelta

from duecourse.domain.time.instant import from_text

from tests.support.stack_client import StackClient


def test_a_reminder_due_in_ten_seconds_is_sent_in_ten_seconds(client: StackClient) -> None:
    client.create(**{"in": "10s", "description": "stretch"})

    client.advance("9s")
    assert client.outbox() == []
    client.advance("2s")

    assert [(sent["text"], sent["at"]) for sent in client.outbox("ada")] == [
        ("Reminder: stretch", "2026-02-17T12:00:10.000Z")
    ]


def test_a_delivered_reminder_has_its_status_and_time(client: StackClient) -> None:
    task = client.create(**{"in": "10s"})
    client.advance("1m")

    after = client.task(task["id"])

    assert (after["status"], after["version"]) == ("delivered", 3)
    assert after["delivered_at"] == "2026-02-17T12:00:10.000Z"


def test_a_reminder_due_in_hours_is_sent_on_time(client: StackClient) -> None:
    task = client.create(due_at="2026-02-17T15:07:31.250Z")
    client.advance("1d")

    [sent] = client.outbox()
    late = from_text(sent["at"]) - from_text(task["due_at"])
    assert timedelta(0) <= late <= timedelta(milliseconds=2)


def test_history_is_oldest_first(client: StackClient) -> None:
    task = client.create(**{"in": "10s"})
    client.advance("1m")

    events = client.items(f"/tasks/{task['id']}/history")

    assert [event["type"] for event in events] == ["task:created", "task:started", "task:delivered"]


def test_a_daily_reminder_repeats_every_day(client: StackClient) -> None:
    client.create(due_at="2026-02-17T15:00:00Z", repeat="daily")
    client.advance("3d")

    assert [sent["at"][:19] for sent in client.outbox()] == [
        "2026-02-17T15:00:00",
        "2026-02-18T15:00:00",
        "2026-02-19T15:00:00",
    ]
