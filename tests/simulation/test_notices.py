"""People are told what became of their tasks, through the whole stack."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stack_client import StackClient

DOWN = {"message": "503 Service Unavailable", "status": 503}
BROKEN = {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432", "code": "ECONNREFUSED"}}
DONE = {"reply": "Mended.\nACTION_OUTCOME: success"}


def an_action(client: StackClient, *script: Any, **fields: Any) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": list(script)}
    defaults = {"type": "action", "description": "fix the build", "in": "10s", "payload": payload}
    return client.create(**{**defaults, **fields})


def told(client: StackClient) -> list[str]:
    return [sent["text"] for sent in client.sent("ada")]


def test_a_first_failure_and_then_success_are_told(client: StackClient) -> None:
    task = an_action(client, BROKEN, DONE)
    client.advance("20s")
    [failure] = told(client)
    assert failure.startswith(f"Task {task['short_id']} (fix the build) failed: ")
    assert "ECONNREFUSED" in failure
    assert "Next try: Tuesday 17 Feb 2026, 12:00:" in failure
    assert failure.endswith(f"(UTC). /cancel {task['short_id']} stops it.")
    client.advance("1h")
    assert told(client)[1:] == ["Done: fix the build\nMended."]


def test_retries_in_between_are_not_told_and_the_end_of_them_is(client: StackClient) -> None:
    task = an_action(client, BROKEN, policy="omega")
    client.advance("1h")
    first, last = told(client)
    assert "Next try:" in first
    assert last.startswith(
        f"Task {task['short_id']} (fix the build) failed for good after 3 attempts: "
    )
    assert last.endswith(f" /retry {task['short_id']} tries again.")


def test_a_task_that_waits_for_a_person_is_told(client: StackClient) -> None:
    task = an_action(client, BROKEN, policy="agent")
    client.advance("12h")
    assert client.task(task["id"])["status"] == "blocked"
    last = told(client)[-1]
    assert last.startswith(
        f"Task {task['short_id']} (fix the build) failed 4 times and needs you: "
    )
    assert len(told(client)) == 2


def test_whether_it_happened_is_asked_when_the_worker_died_over_it(client: StackClient) -> None:
    client.fault(function="worker", call="provider.call", when="after", kind="crash")
    task = an_action(client, DONE)
    client.advance("1h")
    assert client.task(task["id"])["status"] == "blocked"
    [text] = told(client)
    assert text.startswith("It may or may not have happened: fix the build. Look, then /resolve ")


def test_work_that_is_to_be_checked_is_told_and_then_that_it_is_done(client: StackClient) -> None:
    task = an_action(client, DONE, verify=True)
    client.advance("1m")
    short_id = task["short_id"]
    check = (
        f"Please check: fix the build\nMended.\n/approve {short_id} or /reject {short_id} <why>."
    )
    assert told(client) == [check]
    assert client.call("POST", f"/tasks/{task['id']}/approve").status == 200
    client.advance("1m")
    assert told(client)[1:] == ["Done: fix the build\nMended."]


def test_each_occurrence_of_a_repeating_action_is_told(client: StackClient) -> None:
    an_action(client, DONE, repeat="daily")
    client.advance("3d")
    assert told(client) == ["Done: fix the build\nMended."] * 3


def test_a_reminder_that_is_delivered_says_no_more_than_that(client: StackClient) -> None:
    client.fault(function="worker", call="channel.send", kind="error", error=DOWN)
    client.create(**{"in": "10s"})
    client.advance("1h")
    assert told(client) == ["Reminder: stretch"]
    assert client.stack.functions.metrics["NoticesTaken"] == []


def test_a_reminder_that_is_lost_is_told(client: StackClient) -> None:
    client.fault(function="worker", call="channel.send", kind="error", error=DOWN, times=3)
    task = client.create(**{"in": "10s"})
    client.advance("1h")
    [text] = told(client)
    assert text.startswith(f"Task {task['short_id']} (stretch) failed for good after 3 attempts: ")


def test_a_series_that_is_paused_is_told_how_to_resume_it(client: StackClient) -> None:
    client.fault(function="worker", call="channel.send", kind="error", error=DOWN, times=9)
    task = client.create(**{"in": "10s"}, repeat="daily")
    client.advance("4d")
    assert client.task(task["id"])["paused"] is True
    goes_on, goes_on_again, paused = told(client)
    assert "The series goes on: Wednesday 18 Feb 2026, 12:00:10 (UTC)." in goes_on
    assert "The series goes on: Thursday 19 Feb 2026, 12:00:10 (UTC)." in goes_on_again
    assert paused.endswith(f"/resume {task['short_id']} lets it go on.")


@pytest.mark.parametrize("kind", ["error", "crash", "timeout"])
def test_a_chat_that_is_down_holds_up_nothing_and_is_told_once_later(
    client: StackClient, kind: str
) -> None:
    client.fault(function="notifier", call="channel.send", kind=kind, times=3)
    task = an_action(client, DONE)
    client.advance("1m")
    assert told(client) == []
    history = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
    assert history[-1] == "task:completed"
    client.advance("1h")
    assert told(client) == ["Done: fix the build\nMended."]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["crash", "error"])
def test_a_notice_that_could_not_be_sent_comes_again_with_its_change(
    client: StackClient, when: str, kind: str
) -> None:
    client.fault(function="journal", call="sqs.SendMessage", when=when, kind=kind, times=4)
    task = an_action(client, DONE)
    client.advance("1h")
    texts = told(client)
    assert set(texts) == {"Done: fix the build\nMended."}
    assert len(texts) == 1 if when == "before" else len(texts) >= 1
    history = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
    assert history == ["task:created", "task:started", "task:completed"]
