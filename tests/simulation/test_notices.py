"""People are told what became of their tasks, through the whole stack."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.app import registry
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message

from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

DOWN = {"message": "503 Service Unavailable", "status": 503}
BROKEN = {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432", "code": "ECONNREFUSED"}}
DONE = {"reply": "Mended.\nACTION_OUTCOME: success"}


def an_action(client: StackClient, *script: Any, **fields: Any) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": list(script)}
    defaults = {"type": "action", "description": "fix the build", "in": "10s", "payload": payload}
    return client.create(**{**defaults, **fields})


class Keys:
    """A channel that can drop no repeats, and remembers by what it could have."""

    def __init__(self, keys: list[str]) -> None:
        self._keys = keys

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:  # noqa: ARG002
        self._keys.append(idempotency_key)

    def reply(self, message: Message, content: ChatMessage) -> None:
        raise NotImplementedError


def told(client: StackClient) -> list[str]:
    return [sent["text"] for sent in client.outbox("ada")]


def test_a_first_failure_and_then_success_are_told(client: StackClient) -> None:
    task = an_action(client, BROKEN, DONE)
    client.advance("20s")
    [failure] = told(client)
    assert failure.startswith(f"Task {task['short_id']} (fix the build) failed: ")
    assert "ECONNREFUSED" in failure
    assert "Next try: Tuesday 17 Feb 2026, 12:00:" in failure
    assert failure.endswith(f"(UTC). /cancel {task['short_id']} stops it.")
    client.advance("1h")
    assert told(client)[1:] == ["Done at the 2nd attempt: fix the build\nMended."]


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
    client.add_fault(function="worker", call="provider.call", when="after", kind="crash")
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
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN)
    client.create(**{"in": "10s"})
    client.advance("1h")
    assert told(client) == ["Reminder: stretch"]
    assert client.stack.functions.metrics["NotificationsReceived"] == []


def test_a_reminder_that_is_lost_is_told(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN, times=3)
    task = client.create(**{"in": "10s"})
    client.advance("1h")
    [text] = told(client)
    assert text.startswith(f"Task {task['short_id']} (stretch) failed for good after 3 attempts: ")


def test_a_series_that_is_paused_is_told_how_to_resume_it(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN, times=9)
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
    client.add_fault(function="notifier", call="channel.send", kind=kind, times=3)
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
    client.add_fault(function="journal", call="sqs.SendMessage", when=when, kind=kind, times=4)
    task = an_action(client, DONE)
    client.advance("1h")
    texts = told(client)
    assert set(texts) == {"Done: fix the build\nMended."}
    assert len(texts) == 1 if when == "before" else len(texts) >= 1
    history = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
    assert history == ["task:created", "task:started", "task:completed"]


# What people want to hear


def test_whoever_wants_all_hears_of_each_retry(client: StackClient) -> None:
    assert client.say("/notify all").startswith("From now on you hear all there is to say")
    task = an_action(client, BROKEN, policy="omega")
    client.advance("1h")
    first, second, last = told(client)[1:]
    for text in (first, second):
        assert text.startswith(f"Task {task['short_id']} (fix the build) failed: ")
    assert "failed for good after 3 attempts" in last


def test_whoever_wants_nothing_hears_only_of_what_needs_them(client: StackClient) -> None:
    client.say("/notify none")
    for policy in ("omega", "agent"):
        an_action(client, BROKEN, policy=policy)
    an_action(client, BROKEN, DONE)
    an_action(client, DONE, verify=True)
    client.create(**{"in": "10s"})
    client.advance("20h")
    texts = sorted(told(client)[1:])
    assert [text.split()[0] for text in texts] == ["Please", "Reminder:", "Task"]
    assert "failed 4 times and needs you" in texts[-1]


def test_what_somebody_wants_to_hear_is_told_and_kept(client: StackClient) -> None:
    client.say("/timezone Europe/Berlin")
    assert client.say("/notify").startswith("You hear of a first failure, of what needs you")
    assert client.say("/notify").endswith("/notify all or none changes that.")
    client.say("/notify none")
    assert client.say("/notify").startswith("You hear only of what needs you (none).")
    assert client.say("/timezone").startswith("Your time zone is Europe/Berlin.")
    assert "(important)" in client.say("/notify", sender="bob")


def test_a_hook_that_works_again_is_told_once(client: StackClient) -> None:
    with Receiver() as receiver:
        receiver.answer(503, b"")
        receiver.answer(200, b"")
        task = client.create(
            type="webhook", payload={"url": receiver.url("/hook")}, policy="omega", **{"in": "10s"}
        )
        client.advance("1h")
    failure, recovery = told(client)
    assert "failed: " in failure
    assert recovery == f"Task {task['short_id']} (stretch) worked at the 2nd attempt."


# Programs that read the stream twice


def test_a_change_that_is_read_twice_is_told_under_the_same_keys(client: StackClient) -> None:
    keys: list[str] = []
    registry.register_channel("console", Keys(keys))
    lost = {"when": "after", "kind": "error", "nth": 4, "times": 4}  # of the escalation
    client.add_fault(function="journal", call="sqs.SendMessage", **lost)
    task = an_action(client, BROKEN, policy="agent")
    client.advance("12h")
    assert len(keys) > len(set(keys)), "it was told twice"
    told_of = {key for key in keys if key.startswith(task["id"])}
    assert len(told_of) == 3  # the first failure, and the escalation to both
