"""Notifications about tasks, through the whole stack."""

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
SUCCESS = {"reply": "Mended.\nACTION_OUTCOME: success"}


def create_action(client: StackClient, *script: Any, **fields: Any) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": list(script)}
    defaults = {"type": "action", "description": "fix the build", "in": "10s", "payload": payload}
    return client.create(**{**defaults, **fields})


class KeyRecordingChannel:
    """A channel that records the idempotency key of each message."""

    def __init__(self, keys: list[str]) -> None:
        self._keys = keys

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:  # noqa: ARG002
        self._keys.append(idempotency_key)

    def reply(self, message: Message, content: ChatMessage) -> None:
        raise NotImplementedError


def sent_texts(client: StackClient) -> list[str]:
    return [sent["text"] for sent in client.outbox("ada")]


def test_the_first_failure_and_the_success_are_notified(client: StackClient) -> None:
    task = create_action(client, BROKEN, SUCCESS)
    client.advance("20s")
    [failure] = sent_texts(client)
    assert failure.startswith(f"Task {task['short_id']} (fix the build) failed: ")
    assert "ECONNREFUSED" in failure
    assert "Next retry, with a hint: Tuesday 17 Feb 2026, 12:00:" in failure
    assert failure.endswith(f"(UTC)\nCancel: /cancel {task['short_id']}")
    client.advance("1h")
    assert sent_texts(client)[1:] == ["Done on attempt 2: fix the build\nMended."]


def test_the_first_and_the_final_failure_are_notified(client: StackClient) -> None:
    task = create_action(client, BROKEN, policy="omega")
    client.advance("1h")
    first, last = sent_texts(client)
    assert "\nNext retry" in first
    assert last.startswith(f"Gave up on task {task['short_id']} (fix the build) after 3 attempts: ")
    assert last.endswith(f"\nRetry now: /retry {task['short_id']}")


def test_a_task_that_needs_a_person_is_notified(client: StackClient) -> None:
    task = create_action(client, BROKEN, policy="agent")
    client.advance("12h")
    assert client.task(task["id"])["status"] == "blocked"
    last = sent_texts(client)[-1]
    assert last.startswith(
        f"Task {task['short_id']} (fix the build) failed 4 times and needs your decision: "
    )
    assert len(sent_texts(client)) == 2


def test_an_indeterminate_effect_asks_its_owner(client: StackClient) -> None:
    client.add_fault(function="worker", call="provider.call", when="after", kind="crash")
    task = create_action(client, SUCCESS)
    client.advance("1h")
    assert client.task(task["id"])["status"] == "blocked"
    [text] = sent_texts(client)
    named = f"Task {task['short_id']} (fix the build)"
    assert text.startswith(f"{named} may or may not have happened. Check, then answer:\n")


def test_a_verification_request_and_the_completion_are_notified(client: StackClient) -> None:
    task = create_action(client, SUCCESS, verify=True)
    client.advance("1m")
    short_id = task["short_id"]
    check = (
        "Please check: fix the build\nMended.\n"
        f"Approve: /approve {short_id}\nReject: /reject {short_id} <why>"
    )
    assert sent_texts(client) == [check]
    assert client.call("POST", f"/tasks/{task['id']}/approve").status == 200
    client.advance("1m")
    assert sent_texts(client)[1:] == ["Done: fix the build\nMended."]


def test_each_occurrence_of_an_action_is_notified(client: StackClient) -> None:
    create_action(client, SUCCESS, repeat="daily")
    client.advance("3d")
    assert sent_texts(client) == ["Done: fix the build\nMended."] * 3


def test_a_delivered_reminder_is_not_notified(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN)
    client.create(**{"in": "10s"})
    client.advance("1h")
    assert sent_texts(client) == ["Reminder: stretch"]
    assert client.stack.functions.metrics["NotificationsReceived"] == []
    create_action(client, SUCCESS)
    client.advance("1m")
    assert client.stack.functions.metrics["NotificationsReceived"] == [1]


def test_a_failed_reminder_is_notified(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN, times=3)
    task = client.create(**{"in": "10s"})
    client.advance("1h")
    [text] = sent_texts(client)
    assert text.startswith(f"Gave up on task {task['short_id']} (stretch) after 3 attempts: ")


def test_a_paused_series_is_notified_with_the_resume_command(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN, times=9)
    task = client.create(**{"in": "10s"}, repeat="daily")
    client.advance("4d")
    assert client.task(task["id"])["paused"] is True
    first_failure, second_failure, paused = sent_texts(client)
    assert "Next occurrence: Wednesday 18 Feb 2026, 12:00:10 (UTC)" in first_failure
    assert "Next occurrence: Thursday 19 Feb 2026, 12:00:10 (UTC)" in second_failure
    assert paused.endswith(f"\nResume: /resume {task['short_id']}")


@pytest.mark.parametrize("kind", ["error", "crash", "timeout"])
def test_an_unavailable_channel_blocks_nothing_and_gets_one_message_later(
    client: StackClient, kind: str
) -> None:
    client.add_fault(function="notifier", call="channel.send", kind=kind, times=3)
    task = create_action(client, SUCCESS)
    client.advance("1m")
    assert sent_texts(client) == []
    history = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
    assert history[-1] == "task:completed"
    client.advance("1h")
    assert sent_texts(client) == ["Done: fix the build\nMended."]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["crash", "error"])
def test_a_notification_that_could_not_be_queued_is_retried_with_its_change(
    client: StackClient, when: str, kind: str
) -> None:
    client.add_fault(function="journal", call="sqs.SendMessageBatch", when=when, kind=kind, times=4)
    task = create_action(client, SUCCESS)
    client.advance("1h")
    texts = sent_texts(client)
    assert set(texts) == {"Done: fix the build\nMended."}
    assert len(texts) == 1 if when == "before" else len(texts) >= 1
    history = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
    assert history == ["task:created", "task:started", "task:completed"]


# Notification levels


def test_level_all_notifies_of_each_retry(client: StackClient) -> None:
    assert client.say("/notify all").startswith("Notifications: all (everything about your tasks")
    task = create_action(client, BROKEN, policy="omega")
    client.advance("1h")
    first, second, last = sent_texts(client)[1:]
    for text in (first, second):
        assert text.startswith(f"Task {task['short_id']} (fix the build) failed: ")
    assert last.startswith(f"Gave up on task {task['short_id']}")


def test_level_none_notifies_only_of_tasks_that_need_the_owner(client: StackClient) -> None:
    client.say("/notify none")
    for policy in ("omega", "agent"):
        create_action(client, BROKEN, policy=policy)
    create_action(client, BROKEN, SUCCESS)
    create_action(client, SUCCESS, verify=True)
    client.create(**{"in": "10s"})
    client.advance("20h")
    texts = sorted(sent_texts(client)[1:])
    assert [text.split()[0] for text in texts] == ["Please", "Reminder:", "Task"]
    assert "failed 4 times and needs your decision" in texts[-1]


def test_the_notification_level_is_shown_and_stored(client: StackClient) -> None:
    client.say("/timezone Europe/Berlin")
    assert client.say("/notify").startswith(
        "Notifications: important (first failures, questions for you"
    )
    assert client.say("/notify").endswith("Change it: /notify all or /notify none")
    client.say("/notify none")
    assert client.say("/notify").startswith("Notifications: none (only questions for you).")
    assert client.say("/timezone").startswith("Your time zone is Europe/Berlin.")
    assert "Notifications: important" in client.say("/notify", sender="bob")


def test_a_recovered_webhook_is_notified_once(client: StackClient) -> None:
    with Receiver() as receiver:
        receiver.answer(503, b"")
        receiver.answer(200, b"")
        task = client.create(
            type="webhook", payload={"url": receiver.url("/hook")}, policy="omega", **{"in": "10s"}
        )
        client.advance("1h")
    failure, recovery = sent_texts(client)
    assert "failed: " in failure
    assert recovery == f"Task {task['short_id']} (stretch) succeeded on attempt 2."


# Stream records that are read twice


def test_a_repeated_change_is_notified_with_the_same_keys(client: StackClient) -> None:
    keys: list[str] = []
    registry.register_channel("console", KeyRecordingChannel(keys))
    fault = {"when": "after", "kind": "error", "nth": 4, "times": 4}  # of the escalation
    client.add_fault(function="journal", call="sqs.SendMessageBatch", **fault)
    task = create_action(client, BROKEN, policy="agent")
    client.advance("12h")
    assert len(keys) > len(set(keys)), "it was sent twice"
    task_keys = {key for key in keys if key.startswith(task["id"])}
    assert len(task_keys) == 3  # the first failure, and the escalation to both
