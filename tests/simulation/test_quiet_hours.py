"""Quiet hours: what would come in them waits for their end, and no series is moved by it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.stack_client import StackClient, running_stack

DONE = {"reply": "Mended.\nACTION_OUTCOME: success"}
BROKEN = {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432", "code": "ECONNREFUSED"}}
DOWN = {"message": "503 Service Unavailable", "status": 503}


@pytest.fixture
def client() -> Iterator[StackClient]:
    """Ada lives in Berlin and sleeps from 21:00 to 06:00 UTC. It is 12:00."""
    with running_stack() as running:
        running.say("/timezone Europe/Berlin")
        running.say("/quiet 22:00-7:00")
        yield running


def rang(client: StackClient, target: str = "ada") -> list[str]:
    """When reminders came, to the minute."""
    sent = client.outbox(target)
    return [one["at"][:16] for one in sent if one["text"].startswith("Reminder: ")]


def news(client: StackClient, target: str = "ada") -> list[tuple[str, str]]:
    """What came of tasks, with the minute."""
    words = ("Done", "Task ", "It may", "Please")
    sent = client.outbox(target)
    return [(one["at"][:16], one["text"]) for one in sent if one["text"].startswith(words)]


def an_action(client: StackClient, *script: Any, **fields: Any) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": list(script)}
    defaults = {"type": "action", "description": "fix the build", "in": "10h", "payload": payload}
    return client.create(**{**defaults, **fields})


def hears(client: StackClient, text: str) -> str:
    """What is answered to an operator."""
    body = {"sender_id": "eve", "reply_target": "operators", "text": text}
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    return str(client.outbox("operators")[-1]["text"])


def to_night(client: StackClient) -> None:
    """It is 22:30 in Berlin."""
    client.advance("9h30m")


def test_a_reminder_in_quiet_hours_comes_when_they_end_over_midnight(client: StackClient) -> None:
    said = client.say("/remind at 23:00 lock the door")
    assert said.endswith(
        "That is in your quiet hours: it comes on Wednesday 18 Feb 2026, 07:00 (Europe/Berlin)."
    )
    client.advance("1d")
    assert rang(client) == ["2026-02-18T06:00"]


def test_a_reminder_that_waits_says_what_for(client: StackClient) -> None:
    task_id = client.say("/remind at 23:00 lock the door").split()[1]
    client.advance("11h")
    task = client.task(task_id)
    assert (task["status"], task["due_at"]) == ("pending", "2026-02-18T06:00:00.000Z")
    assert task["nominal_at"] == "2026-02-17T22:00:00.000Z"
    assert "Waits for: quiet hours until 07:00 (Europe/Berlin)" in client.say(f"/task {task_id}")
    parked = client.items(f"/tasks/{task_id}/history")[-1]
    assert parked["type"] == "task:parked"
    assert parked["detail"] == {
        "wait": "quiet_hours",
        "reason": "quiet hours until 07:00 (Europe/Berlin)",
        "until": "2026-02-18T06:00:00.000Z",
    }


def test_a_series_is_not_moved(client: StackClient) -> None:
    task_id = client.say("/remind every day at 23:00 lock the door").split()[1]
    client.advance("2d")
    assert rang(client) == ["2026-02-18T06:00", "2026-02-19T06:00"]
    task = client.task(task_id)
    assert task["nominal_at"] == task["due_at"] == "2026-02-19T22:00:00.000Z"
    client.say("/quiet off")
    client.advance("1d")
    assert rang(client)[2:] == ["2026-02-19T22:00"]


def test_the_occurrences_of_a_night_come_as_one(client: StackClient) -> None:
    task_id = client.say("/remind every hour drink").split()[1]
    client.advance("20h30m")
    before = [f"2026-02-17T{hour}:00" for hour in range(13, 21)]
    assert rang(client) == [*before, "2026-02-18T06:00", "2026-02-18T07:00", "2026-02-18T08:00"]
    history = client.items(f"/tasks/{task_id}/history")
    [skipped] = [event["detail"] for event in history if event["type"] == "task:skipped"]
    assert skipped["count"] == 9  # from 22:00 to 06:00 UTC; that of 21:00 came
    assert skipped["reason"] == "missed while it waited: quiet hours until 07:00 (Europe/Berlin)"


@pytest.mark.parametrize(
    ("starts_at", "zone", "hours", "comes"),
    [
        # Clocks go forward at 02:00: the night is an hour short.
        ("2026-03-28T12:00:00Z", "Europe/Berlin", "22:00-7:00", "2026-03-29T05:00"),
        ("2026-03-07T12:00:00Z", "America/New_York", "23:00-6:00", "2026-03-08T10:00"),
        # They go back: it is an hour long.
        ("2026-10-24T12:00:00Z", "Europe/Berlin", "22:00-7:00", "2026-10-25T06:00"),
        ("2026-10-31T12:00:00Z", "America/New_York", "23:00-6:00", "2026-11-01T11:00"),
    ],
)
def test_a_night_ends_by_the_clock_on_the_wall_also_when_that_changes(
    starts_at: str, zone: str, hours: str, comes: str
) -> None:
    with running_stack(starts_at) as client:
        client.say(f"/timezone {zone}")
        client.say(f"/quiet {hours}")
        client.say("/remind every day at 23:30 lock the door")
        client.advance("1d")
        assert rang(client) == [comes]


def test_what_is_asked_for_at_night_comes_at_night(client: StackClient) -> None:
    to_night(client)
    said = client.say("/remind in 10 minutes take the pills")
    assert "quiet hours" not in said
    client.advance("10m")
    assert rang(client) == ["2026-02-17T21:40"]
    client.say(client.outbox("ada")[-1]["buttons"][1]["says"])  # Snooze 20 min
    client.advance("20m")
    assert rang(client)[1:] == ["2026-02-17T22:00"]


def test_what_waits_comes_when_somebody_who_is_awake_names_a_time(client: StackClient) -> None:
    task_id = client.say("/remind at 22:15 lock the door").split()[1]
    to_night(client)
    assert "quiet hours" not in client.say(f"/snooze {task_id} 10m")
    client.advance("1h")
    assert rang(client) == ["2026-02-17T21:40"]


def test_what_was_put_off_into_the_night_waits(client: StackClient) -> None:
    task_id = client.say("/remind at 21:00 lock the door").split()[1]
    said = client.say(f"/snooze {task_id} until 23:00")
    assert "That is in your quiet hours: it comes on Wednesday" in said
    client.advance("1d")
    assert rang(client) == ["2026-02-18T06:00"]


def test_a_series_made_at_night_begins_in_the_morning(client: StackClient) -> None:
    to_night(client)
    assert "07:00 (Europe/Berlin)" in client.say("/remind every hour drink")
    client.advance("9h")
    assert rang(client) == ["2026-02-18T06:00", "2026-02-18T06:30"]


def test_what_a_program_makes_at_night_waits(client: StackClient) -> None:
    to_night(client)
    client.create(**{"in": "10m"})
    client.advance("12h")
    assert rang(client) == ["2026-02-18T06:00"]


def test_a_program_that_runs_a_task_does_not_speak_for_its_owner(client: StackClient) -> None:
    task = client.create(**{"in": "1d"})
    to_night(client)
    assert client.call("POST", f"/tasks/{task['id']}/run").status == 200
    client.advance("12h")
    assert rang(client) == ["2026-02-18T06:00"]


def test_what_its_owner_asked_for_at_night_waits_once_another_names_its_time(
    client: StackClient,
) -> None:
    to_night(client)
    made = [client.say(f"/remind in {minutes} minutes tea").split()[1] for minutes in (20, 40, 60)]
    at_once = client.say("/remind in 8 hours tea").split()[1]
    patched, put_off, renamed = (client.task(short_id)["id"] for short_id in made)
    assert client.call("PATCH", f"/tasks/{patched}", {"in": "5h"}).status == 200
    assert "That is in its owner's quiet hours" in hears(client, f"/snooze {put_off} 5 hours")
    assert client.call("PATCH", f"/tasks/{renamed}", {"description": "coffee"}).status == 200
    client.advance("4h")
    assert rang(client) == ["2026-02-17T22:30"]
    assert client.call("POST", f"/tasks/{client.task(at_once)['id']}/run").status == 200
    client.advance("4h")
    assert rang(client)[1:] == []
    client.advance("1h")
    assert rang(client)[1:] == ["2026-02-18T06:00"] * 3


def test_an_operator_does_not_speak_for_an_owner_who_sleeps(client: StackClient) -> None:
    action = an_action(client, *[BROKEN] * 4, DONE, policy="agent", **{"in": "10s"})
    rung, to_come = (client.say(f"/remind {when} tea").split()[1] for when in ("in 1h", "at 23:00"))
    to_night(client)
    told = (len(news(client)), len(rang(client)))
    hears(client, f"/retry {action['short_id']}")
    for task_id in (rung, to_come):
        answer = hears(client, f"/snooze {task_id} 20m")
        assert "That is in its owner's quiet hours" in answer
    client.advance("2h")
    assert client.task(action["id"])["status"] == "completed"
    assert (len(news(client)), len(rang(client))) == told
    client.advance("8h")
    assert [minute for minute, _ in news(client)[told[0] :]] == ["2026-02-18T06:00"]
    assert rang(client)[told[1] :] == ["2026-02-18T06:00"] * 2


def test_what_an_operator_has_tried_again_at_night_is_told_to_wait(client: StackClient) -> None:
    fault = {"function": "worker", "call": "channel.send", "times": 9}
    assert client.call("POST", "/_local/faults", fault).status == 200
    rung, later = (client.say(f"/remind {when} tea").split()[1] for when in ("in 1h", "in 1d"))
    to_night(client)
    client.advance("4h")
    assert client.task(rung)["status"] == "failed"
    hears(client, f"/pause {later}")

    waits = "That is in its owner's quiet hours: it comes on"
    assert f"{waits} Wednesday" in hears(client, f"/retry {rung}")
    assert waits not in hears(client, f"/resume {later}")


def test_an_owner_who_has_it_tried_again_at_night_hears_of_it_at_night(client: StackClient) -> None:
    action = an_action(client, *[BROKEN] * 4, DONE, policy="agent", **{"in": "10s"})
    to_night(client)
    client.say(f"/retry {action['short_id']}")
    client.advance("1m")
    assert news(client)[-1][0] == "2026-02-17T21:30"


def test_quiet_hours_that_are_called_off_let_through_what_waited(client: StackClient) -> None:
    for clock in ("22:10", "22:20", "23:00"):
        client.say(f"/remind at {clock} lock the door")
    client.say("/remind at 22:05 water", sender="bob")
    to_night(client)
    client.say("/quiet off")
    client.advance("1m")
    said = "You have no quiet hours any more.\n2 that waited come now."
    assert said in [one["text"] for one in client.outbox("ada")]
    assert rang(client) == ["2026-02-17T21:30"] * 2
    client.advance("1h")
    assert rang(client)[2:] == ["2026-02-17T22:00"]


def test_quiet_hours_move_along_with_the_time_zone(client: StackClient) -> None:
    said = client.say("/timezone Asia/Tokyo")
    assert said.endswith("Your quiet hours are from 22:00 to 07:00 (Asia/Tokyo).")
    client.create(due_at="2026-02-17T14:00:00Z", timezone="UTC")
    client.advance("1d")
    assert rang(client) == ["2026-02-17T22:00"]  # 07:00 in Tokyo


def test_whoever_is_where_it_is_day_gets_what_waited(client: StackClient) -> None:
    client.say("/remind at 22:15 lock the door")
    to_night(client)
    client.say("/timezone America/New_York")
    client.advance("1m")
    [answer] = [one["text"] for one in client.outbox("ada") if "New_York" in one["text"]]
    assert answer.endswith("1 reminder that waited comes now.")
    assert rang(client) == ["2026-02-17T21:30"]


def test_what_waited_and_was_paused_meanwhile_comes_with_the_rest(client: StackClient) -> None:
    task_id = client.say("/remind at 22:15 lock the door").split()[1]
    to_night(client)
    client.say(f"/pause {task_id}")
    client.say(f"/resume {task_id}")
    client.advance("1m")
    assert client.task(task_id)["due_at"] == "2026-02-18T06:00:00.000Z"
    client.say("/quiet off")
    client.advance("1m")
    assert rang(client) == ["2026-02-17T21:31"]


def test_they_are_one_persons_own(client: StackClient) -> None:
    client.create(**{"in": "10h"}, sender_id="bob", reply_target="bob")
    client.create(**{"in": "10h"})
    client.advance("11h")
    assert (rang(client, "bob"), rang(client)) == (["2026-02-17T22:00"], [])


def test_a_retry_that_falls_into_the_night_waits(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN)
    task = client.create(due_at="2026-02-17T20:59:00Z")
    client.advance("1d")
    assert rang(client) == ["2026-02-18T06:00"]
    assert client.task(task["id"])["retry_count"] == 1


# What is told of tasks


def test_what_waited_for_the_morning_after_a_crash_is_not_late(client: StackClient) -> None:
    client.say("/remind at 21:58 lock the door")
    client.advance("8h")
    client.add_fault(function="worker", call="channel.send", when="before", kind="crash")
    client.advance("11h")
    assert rang(client) == ["2026-02-18T06:00"]
    assert client.call("GET", "/stats").body["lateness"]["max"] < 1000


def test_an_action_runs_at_night_and_is_told_in_the_morning(client: StackClient) -> None:
    task = an_action(client, DONE)
    client.advance("11h")
    assert client.task(task["id"])["status"] == "completed"
    assert news(client) == []
    client.advance("12h")
    assert news(client) == [("2026-02-18T06:00", "Done: fix the build\nMended.")]
    assert client.items("/dead-letters") == []


def test_what_failed_at_night_and_worked_soon_is_told_as_it_is_in_the_morning(
    client: StackClient,
) -> None:
    for _ in range(3):
        an_action(client, BROKEN, DONE)
    client.advance("23h")
    worked = ("2026-02-18T06:00", "Done at the 2nd attempt: fix the build\nMended.")
    assert news(client) == [worked] * 3


def test_what_still_fails_in_the_morning_is_told(client: StackClient) -> None:
    limited = {"error": {"message": "429 Too Many Requests", "status": 429, "retry_after": 43_200}}
    task = an_action(client, limited, DONE, policy="agent")
    client.advance("19h")
    [(minute, text)] = news(client)
    assert (minute, "Next try: " in text) == ("2026-02-18T06:00", True)
    assert client.task(task["id"])["next_retry_at"] > "2026-02-18T07"


def test_what_an_operator_answered_at_night_is_not_asked_in_the_morning(
    client: StackClient,
) -> None:
    answered, open_still = (an_action(client, BROKEN, policy="agent") for _ in range(2))
    client.advance("17h")
    hears(client, f"/cancel {answered['short_id']}")
    client.advance("5h")
    assert [text.split()[1] for _, text in news(client)] == [open_still["short_id"]]


def test_what_somebody_waits_for_at_night_is_told_at_night(client: StackClient) -> None:
    to_night(client)
    client.say("/do now sum up the day")
    client.advance("1m")
    assert [minute for minute, _ in news(client)] == ["2026-02-17T21:30"]


def test_a_notice_waits_for_longer_than_a_queue_can_hide_it(client: StackClient) -> None:
    client.say("/quiet 13:30-12:30")  # from 12:30 to 11:30 UTC
    an_action(client, DONE, **{"in": "1h"})
    client.advance("2d")
    assert [minute for minute, _ in news(client)] == ["2026-02-18T11:30"]
    assert client.items("/dead-letters") == []


def test_the_operators_are_told_at_night(client: StackClient) -> None:
    an_action(client, BROKEN, policy="agent")
    client.advance("19h")
    [(told_at, _)] = news(client, "operators")
    assert "2026-02-17T22:00" <= told_at < "2026-02-18T06:00"
    assert [minute for minute, text in news(client) if "needs you" in text] == ["2026-02-18T06:00"]


# What is said about them


def test_they_are_told_and_called_off(client: StackClient) -> None:
    assert client.say("/quiet").startswith("Your quiet hours are from 22:00 to 07:00 (Europe/Be")
    assert client.say("/quiet 10pm to 6am").startswith("Your quiet hours are from 22:00 to 06:00")
    assert client.say("/quiet off") == "You have no quiet hours any more."
    assert client.say("/quiet off").startswith("You have no quiet hours. /quiet 22:00-7:00")
    assert client.say("/quiet").startswith("You have no quiet hours. /quiet 22:00-7:00")


def test_they_need_a_time_zone(client: StackClient) -> None:
    assert "/timezone Europe/Berlin" in client.say("/quiet 22:00-7:00", sender="bob")
    assert client.say("/quiet", sender="bob").startswith("You have no quiet hours.")


@pytest.mark.parametrize("words", ["22:00-22:00", "10 to 7", "sometimes"])
def test_what_is_not_clear_is_asked_back_and_changes_nothing(
    client: StackClient, words: str
) -> None:
    assert client.say(f"/quiet {words}").endswith("For example: /quiet 22:00-7:00")
    assert "from 22:00 to 07:00" in client.say("/quiet")
