"""Quiet hours: messages wait for their end, and no series moves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.stack_client import StackClient, running_stack

SUCCESS = {"reply": "Mended.\nACTION_OUTCOME: success"}
BROKEN = {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432", "code": "ECONNREFUSED"}}
DOWN = {"message": "503 Service Unavailable", "status": 503}


@pytest.fixture
def client() -> Iterator[StackClient]:
    """Ada is in Berlin with quiet hours from 21:00 to 06:00 UTC. It is 12:00."""
    with running_stack() as started:
        started.say("/timezone Europe/Berlin")
        started.say("/quiet 22:00-7:00")
        yield started


def reminder_times(client: StackClient, target: str = "ada") -> list[str]:
    """Return when reminders were sent, to the minute."""
    sent = client.outbox(target)
    return [message["at"][:16] for message in sent if message["text"].startswith("Reminder: ")]


def list_notifications(client: StackClient, target: str = "ada") -> list[tuple[str, str]]:
    """Return the notifications about tasks, with the minute."""
    words = ("Done", "Task ", "It may", "Please")
    sent = client.outbox(target)
    return [
        (message["at"][:16], message["text"])
        for message in sent
        if message["text"].startswith(words)
    ]


def create_action(client: StackClient, *script: Any, **fields: Any) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": list(script)}
    defaults = {"type": "action", "description": "fix the build", "in": "10h", "payload": payload}
    return client.create(**{**defaults, **fields})


def send_as_operator(client: StackClient, text: str) -> str:
    """Send a message in the operators' chat and return the reply."""
    body = {"sender_id": "eve", "reply_target": "operators", "text": text}
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    return str(client.outbox("operators")[-1]["text"])


def advance_to_night(client: StackClient) -> None:
    """Advance to 22:30 in Berlin."""
    client.advance("9h30m")


def test_a_reminder_in_quiet_hours_is_sent_at_their_end(client: StackClient) -> None:
    reply = client.say("/remind at 23:00 lock the door")
    assert reply.endswith(
        "This is in your quiet hours. It will come on Wednesday 18 Feb 2026, 07:00 (Europe/Berlin)."
    )
    client.advance("1d")
    assert reminder_times(client) == ["2026-02-18T06:00"]


def test_a_deferred_reminder_has_a_wait_reason(client: StackClient) -> None:
    task_id = client.say("/remind at 23:00 lock the door").split()[1]
    client.advance("11h")
    task = client.task(task_id)
    assert (task["status"], task["due_at"]) == ("pending", "2026-02-18T06:00:00.000Z")
    assert task["nominal_at"] == "2026-02-17T22:00:00.000Z"
    assert "Waiting for: quiet hours until 07:00 (Europe/Berlin)" in client.say(f"/task {task_id}")
    deferral = client.items(f"/tasks/{task_id}/history")[-1]
    assert deferral["type"] == "task:parked"
    assert deferral["detail"] == {
        "wait": "quiet_hours",
        "reason": "quiet hours until 07:00 (Europe/Berlin)",
        "until": "2026-02-18T06:00:00.000Z",
    }


def test_quiet_hours_do_not_move_a_series(client: StackClient) -> None:
    task_id = client.say("/remind every day at 23:00 lock the door").split()[1]
    client.advance("2d")
    assert reminder_times(client) == ["2026-02-18T06:00", "2026-02-19T06:00"]
    task = client.task(task_id)
    assert task["nominal_at"] == task["due_at"] == "2026-02-19T22:00:00.000Z"
    client.say("/quiet off")
    client.advance("1d")
    assert reminder_times(client)[2:] == ["2026-02-19T22:00"]


def test_occurrences_in_quiet_hours_are_sent_as_one(client: StackClient) -> None:
    task_id = client.say("/remind every hour drink").split()[1]
    client.advance("20h30m")
    before = [f"2026-02-17T{hour}:00" for hour in range(13, 21)]
    assert reminder_times(client) == [
        *before,
        "2026-02-18T06:00",
        "2026-02-18T07:00",
        "2026-02-18T08:00",
    ]
    history = client.items(f"/tasks/{task_id}/history")
    [skipped] = [event["detail"] for event in history if event["type"] == "task:skipped"]
    assert skipped["count"] == 9  # from 22:00 to 06:00 UTC; that of 21:00 was sent
    assert skipped["reason"] == "missed while it waited: quiet hours until 07:00 (Europe/Berlin)"


@pytest.mark.parametrize(
    ("starts_at", "zone", "hours", "expected"),
    [
        # Clocks go forward: the night is an hour shorter.
        ("2026-03-28T12:00:00Z", "Europe/Berlin", "22:00-7:00", "2026-03-29T05:00"),
        ("2026-03-07T12:00:00Z", "America/New_York", "23:00-6:00", "2026-03-08T10:00"),
        # Clocks go back: the night is an hour longer.
        ("2026-10-24T12:00:00Z", "Europe/Berlin", "22:00-7:00", "2026-10-25T06:00"),
        ("2026-10-31T12:00:00Z", "America/New_York", "23:00-6:00", "2026-11-01T11:00"),
    ],
)
def test_quiet_hours_follow_local_time_across_clock_changes(
    starts_at: str, zone: str, hours: str, expected: str
) -> None:
    with running_stack(starts_at) as client:
        client.say(f"/timezone {zone}")
        client.say(f"/quiet {hours}")
        client.say("/remind every day at 23:30 lock the door")
        client.advance("1d")
        assert reminder_times(client) == [expected]


def test_a_reminder_requested_in_quiet_hours_is_sent_in_them(client: StackClient) -> None:
    advance_to_night(client)
    reply = client.say("/remind in 10 minutes take the pills")
    assert "quiet hours" not in reply
    client.advance("10m")
    assert reminder_times(client) == ["2026-02-17T21:40"]
    client.say(client.outbox("ada")[-1]["buttons"][1]["says"])  # Snooze 20 min
    client.advance("20m")
    assert reminder_times(client)[1:] == ["2026-02-17T22:00"]


def test_a_snooze_in_quiet_hours_is_sent_in_them(client: StackClient) -> None:
    task_id = client.say("/remind at 22:15 lock the door").split()[1]
    advance_to_night(client)
    assert "quiet hours" not in client.say(f"/snooze {task_id} 10m")
    client.advance("1h")
    assert reminder_times(client) == ["2026-02-17T21:40"]


def test_a_snooze_into_quiet_hours_waits_for_their_end(client: StackClient) -> None:
    task_id = client.say("/remind at 21:00 lock the door").split()[1]
    reply = client.say(f"/snooze {task_id} until 23:00")
    assert "This is in your quiet hours. It will come on Wednesday" in reply
    client.advance("1d")
    assert reminder_times(client) == ["2026-02-18T06:00"]


def test_a_series_created_in_quiet_hours_starts_at_their_end(client: StackClient) -> None:
    advance_to_night(client)
    assert "07:00 (Europe/Berlin)" in client.say("/remind every hour drink")
    client.advance("9h")
    assert reminder_times(client) == ["2026-02-18T06:00", "2026-02-18T06:30"]


def test_a_reminder_created_over_http_in_quiet_hours_waits(client: StackClient) -> None:
    advance_to_night(client)
    client.create(**{"in": "10m"})
    client.advance("12h")
    assert reminder_times(client) == ["2026-02-18T06:00"]


def test_a_run_over_http_in_quiet_hours_waits(client: StackClient) -> None:
    task = client.create(**{"in": "1d"})
    advance_to_night(client)
    assert client.call("POST", f"/tasks/{task['id']}/run").status == 200
    client.advance("12h")
    assert reminder_times(client) == ["2026-02-18T06:00"]


def test_an_owners_night_reminder_waits_once_another_reschedules_it(
    client: StackClient,
) -> None:
    advance_to_night(client)
    short_ids = [
        client.say(f"/remind in {minutes} minutes tea").split()[1] for minutes in (20, 40, 60)
    ]
    at_once = client.say("/remind in 8 hours tea").split()[1]
    patched, snoozed, renamed = (client.task(short_id)["id"] for short_id in short_ids)
    assert client.call("PATCH", f"/tasks/{patched}", {"in": "5h"}).status == 200
    assert "This is in its owner's quiet hours" in send_as_operator(
        client, f"/snooze {snoozed} 5 hours"
    )
    assert client.call("PATCH", f"/tasks/{renamed}", {"description": "coffee"}).status == 200
    client.advance("4h")
    assert reminder_times(client) == ["2026-02-17T22:30"]
    assert client.call("POST", f"/tasks/{client.task(at_once)['id']}/run").status == 200
    client.advance("4h")
    assert reminder_times(client)[1:] == []
    client.advance("1h")
    assert reminder_times(client)[1:] == ["2026-02-18T06:00"] * 3


def test_changes_by_an_operator_in_quiet_hours_wait(client: StackClient) -> None:
    action = create_action(client, *[BROKEN] * 4, SUCCESS, policy="agent", **{"in": "10s"})
    delivered, pending = (
        client.say(f"/remind {when} tea").split()[1] for when in ("in 1h", "at 23:00")
    )
    advance_to_night(client)
    counts = (len(list_notifications(client)), len(reminder_times(client)))
    send_as_operator(client, f"/retry {action['short_id']}")
    for task_id in (delivered, pending):
        answer = send_as_operator(client, f"/snooze {task_id} 20m")
        assert "This is in its owner's quiet hours" in answer
    client.advance("2h")
    assert client.task(action["id"])["status"] == "completed"
    assert (len(list_notifications(client)), len(reminder_times(client))) == counts
    client.advance("8h")
    assert [minute for minute, _ in list_notifications(client)[counts[0] :]] == ["2026-02-18T06:00"]
    assert reminder_times(client)[counts[1] :] == ["2026-02-18T06:00"] * 2


def test_an_operators_retry_in_quiet_hours_reports_the_wait(client: StackClient) -> None:
    fault = {"function": "worker", "call": "channel.send", "times": 9}
    assert client.call("POST", "/_local/faults", fault).status == 200
    failed, paused = (client.say(f"/remind {when} tea").split()[1] for when in ("in 1h", "in 1d"))
    advance_to_night(client)
    client.advance("4h")
    assert client.task(failed)["status"] == "failed"
    send_as_operator(client, f"/pause {paused}")

    expected = "This is in its owner's quiet hours. It will come on"
    assert f"{expected} Wednesday" in send_as_operator(client, f"/retry {failed}")
    assert expected not in send_as_operator(client, f"/resume {paused}")


def test_an_owners_retry_in_quiet_hours_notifies_at_once(client: StackClient) -> None:
    action = create_action(client, *[BROKEN] * 4, SUCCESS, policy="agent", **{"in": "10s"})
    advance_to_night(client)
    client.say(f"/retry {action['short_id']}")
    client.advance("1m")
    assert list_notifications(client)[-1][0] == "2026-02-17T21:30"


def test_quiet_off_releases_deferred_reminders(client: StackClient) -> None:
    for clock in ("22:10", "22:20", "23:00"):
        client.say(f"/remind at {clock} lock the door")
    client.say("/remind at 22:05 water", sender="bob")
    advance_to_night(client)
    client.say("/quiet off")
    client.advance("1m")
    expected = "Your quiet hours are off.\n2 waiting reminders come now."
    assert expected in [message["text"] for message in client.outbox("ada")]
    assert reminder_times(client) == ["2026-02-17T21:30"] * 2
    client.advance("1h")
    assert reminder_times(client)[2:] == ["2026-02-17T22:00"]


def test_quiet_hours_move_with_the_time_zone(client: StackClient) -> None:
    reply = client.say("/timezone Asia/Tokyo")
    assert reply.endswith("Your quiet hours are from 22:00 to 07:00 (Asia/Tokyo).")
    client.create(due_at="2026-02-17T14:00:00Z", timezone="UTC")
    client.advance("1d")
    assert reminder_times(client) == ["2026-02-17T22:00"]  # 07:00 in Tokyo


def test_moving_to_a_zone_outside_quiet_hours_releases_deferred_reminders(
    client: StackClient,
) -> None:
    client.say("/remind at 22:15 lock the door")
    advance_to_night(client)
    client.say("/timezone America/New_York")
    client.advance("1m")
    [answer] = [
        message["text"] for message in client.outbox("ada") if "New_York" in message["text"]
    ]
    assert answer.endswith("1 waiting reminder comes now.")
    assert reminder_times(client) == ["2026-02-17T21:30"]


def test_a_deferred_reminder_that_was_paused_and_resumed_is_released(client: StackClient) -> None:
    task_id = client.say("/remind at 22:15 lock the door").split()[1]
    advance_to_night(client)
    client.say(f"/pause {task_id}")
    client.say(f"/resume {task_id}")
    client.advance("1m")
    assert client.task(task_id)["due_at"] == "2026-02-18T06:00:00.000Z"
    client.say("/quiet off")
    client.advance("1m")
    assert reminder_times(client) == ["2026-02-17T21:31"]


def test_quiet_hours_apply_to_one_person(client: StackClient) -> None:
    client.create(**{"in": "10h"}, sender_id="bob", reply_target="bob")
    client.create(**{"in": "10h"})
    client.advance("11h")
    assert (reminder_times(client, "bob"), reminder_times(client)) == (["2026-02-17T22:00"], [])


def test_a_retry_in_quiet_hours_waits(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN)
    task = client.create(due_at="2026-02-17T20:59:00Z")
    client.advance("1d")
    assert reminder_times(client) == ["2026-02-18T06:00"]
    assert client.task(task["id"])["retry_count"] == 1


# Notifications


def test_a_reminder_deferred_after_a_crash_is_not_late(client: StackClient) -> None:
    client.say("/remind at 21:58 lock the door")
    client.advance("8h")
    client.add_fault(function="worker", call="channel.send", when="before", kind="crash")
    client.advance("11h")
    assert reminder_times(client) == ["2026-02-18T06:00"]
    assert client.call("GET", "/stats").body["lateness"]["max"] < 1000


def test_an_action_runs_in_quiet_hours_and_notifies_at_their_end(client: StackClient) -> None:
    task = create_action(client, SUCCESS)
    client.advance("11h")
    assert client.task(task["id"])["status"] == "completed"
    assert list_notifications(client) == []
    client.advance("12h")
    assert list_notifications(client) == [("2026-02-18T06:00", "Done: fix the build\nMended.")]
    assert client.items("/dead-letters") == []


def test_a_recovered_failure_is_notified_as_a_success_at_the_end(
    client: StackClient,
) -> None:
    for _ in range(3):
        create_action(client, BROKEN, SUCCESS)
    client.advance("23h")
    success = ("2026-02-18T06:00", "Done on attempt 2: fix the build\nMended.")
    assert list_notifications(client) == [success] * 3


def test_a_failure_that_lasts_is_notified_at_the_end(client: StackClient) -> None:
    limited = {"error": {"message": "429 Too Many Requests", "status": 429, "retry_after": 43_200}}
    task = create_action(client, limited, SUCCESS, policy="agent")
    client.advance("19h")
    [(minute, text)] = list_notifications(client)
    assert (minute, "\nNext retry" in text) == ("2026-02-18T06:00", True)
    assert client.task(task["id"])["next_retry_at"] > "2026-02-18T07"


def test_a_task_an_operator_cancelled_is_not_notified_at_the_end(
    client: StackClient,
) -> None:
    cancelled, blocked = (create_action(client, BROKEN, policy="agent") for _ in range(2))
    client.advance("17h")
    send_as_operator(client, f"/cancel {cancelled['short_id']}")
    client.advance("5h")
    assert [text.split()[1] for _, text in list_notifications(client)] == [blocked["short_id"]]


def test_an_action_requested_in_quiet_hours_notifies_in_them(client: StackClient) -> None:
    advance_to_night(client)
    client.say("/do now sum up the day")
    client.advance("1m")
    assert [minute for minute, _ in list_notifications(client)] == ["2026-02-17T21:30"]


def test_a_notification_waits_longer_than_the_visibility_timeout_limit(client: StackClient) -> None:
    client.say("/quiet 13:30-12:30")  # from 12:30 to 11:30 UTC
    create_action(client, SUCCESS, **{"in": "1h"})
    client.advance("2d")
    assert [minute for minute, _ in list_notifications(client)] == ["2026-02-18T11:30"]
    assert client.items("/dead-letters") == []


def test_operators_are_notified_in_quiet_hours(client: StackClient) -> None:
    create_action(client, BROKEN, policy="agent")
    client.advance("19h")
    [(notified_at, _)] = list_notifications(client, "operators")
    assert "2026-02-17T22:00" <= notified_at < "2026-02-18T06:00"
    assert [minute for minute, text in list_notifications(client) if "needs you" in text] == [
        "2026-02-18T06:00"
    ]


# The /quiet command


def test_the_quiet_command_shows_sets_and_removes_them(client: StackClient) -> None:
    assert client.say("/quiet").startswith("Your quiet hours are from 22:00 to 07:00 (Europe/Be")
    assert client.say("/quiet 10pm to 6am").startswith("Your quiet hours are from 22:00 to 06:00")
    assert client.say("/quiet off") == "Your quiet hours are off."
    assert client.say("/quiet off").startswith(
        "You have no quiet hours. Example: /quiet 22:00-7:00"
    )
    assert client.say("/quiet").startswith("You have no quiet hours. Example: /quiet 22:00-7:00")


def test_quiet_hours_need_a_time_zone(client: StackClient) -> None:
    assert "/timezone Europe/Berlin" in client.say("/quiet 22:00-7:00", sender="bob")
    assert client.say("/quiet", sender="bob").startswith("You have no quiet hours.")


@pytest.mark.parametrize("words", ["22:00-22:00", "10 to 7", "sometimes"])
def test_an_ambiguous_range_gets_a_hint_and_changes_nothing(
    client: StackClient, words: str
) -> None:
    assert client.say(f"/quiet {words}").endswith("Example: /quiet 22:00-7:00")
    assert "from 22:00 to 07:00" in client.say("/quiet")
