"""The operators' chat: it is notified of tasks that need a person, and may act on them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.stack_client import StackClient

BROKEN = {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432", "code": "ECONNREFUSED"}}
SUCCESS = {"reply": "Mended.\nACTION_OUTCOME: success"}
FOUR_FAILURES = [BROKEN] * 4


def create_escalated_task(client: StackClient, *script: Any) -> dict[str, Any]:
    """Create a task of ada that failed four times and needs a person."""
    payload = {"provider": "scripted", "script": [*FOUR_FAILURES, *script]}
    task = client.create(
        type="action", description="fix the build", policy="agent", payload=payload, **{"in": "10s"}
    )
    client.advance("2h")
    assert client.task(task["id"])["status"] == "blocked"
    return task


def send_chat(
    client: StackClient, text: str, *, target: str = "operators", sender: str = "eve"
) -> str:
    """Send a chat message and return the reply."""
    body = {"sender_id": sender, "reply_target": target, "text": text}
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    answers = [
        message["text"]
        for message in client.outbox(target)
        if not message["text"].startswith("Alert")
    ]
    return str(answers[-1])


def operator_message(client: StackClient) -> dict[str, Any]:
    """Return the one message to the operators that is not an alert."""
    sent = client.outbox("operators")
    [notification] = [message for message in sent if not message["text"].startswith("Alert")]
    return notification


def audit_texts(client: StackClient) -> list[str]:
    entries = client.items("/audit?limit=200")
    return [entry["text"] for entry in entries if entry["text"].startswith("[CHAT]")]


def test_an_escalation_notifies_the_owner_and_the_operators(client: StackClient) -> None:
    task = create_escalated_task(client)
    for_operators, for_owner = operator_message(client), client.outbox("ada")[-1]
    assert for_operators["text"] == (
        f"Task {task['short_id']} of console:ada needs a person.\n{for_owner['text']}"
    )
    assert for_operators["buttons"] == for_owner["buttons"]
    for words in ("(fix the build)", "failed 4 times", "ECONNREFUSED", "(network error)"):
        assert words in for_owner["text"]


def test_a_button_pressed_by_an_operator_acts_on_the_task(client: StackClient) -> None:
    task = create_escalated_task(client, SUCCESS)
    [retry] = [
        button["says"]
        for button in operator_message(client)["buttons"]
        if button["label"] == "Retry now"
    ]
    send_chat(client, retry)
    client.advance("1m")
    assert client.task(task["id"])["status"] == "completed"
    assert client.outbox("ada")[-1]["text"].startswith("Done on attempt 5: fix the build")
    assert audit_texts(client) == [
        f"[CHAT] by=console:eve in=console:operators /retry task={task['id']}"
    ]


@pytest.mark.parametrize("target", ["eve", "ada", "operators2", "operator"])
def test_in_another_chat_the_same_command_finds_no_task(client: StackClient, target: str) -> None:
    task = create_escalated_task(client, SUCCESS)
    answer = send_chat(client, f"/retry {task['id']}", target=target)
    assert answer == f"There is no task {task['id']}. /tasks lists yours."
    assert client.task(task["id"])["status"] == "blocked"
    assert audit_texts(client) == []


def test_an_operator_may_view_a_task_without_an_audit_entry(client: StackClient) -> None:
    task = create_escalated_task(client)
    card = send_chat(client, f"/task {task['short_id']}")
    assert card.startswith(f"Action {task['short_id']}: fix the build")
    assert audit_texts(client) == []


def test_an_operator_lists_only_their_own_tasks(client: StackClient) -> None:
    create_escalated_task(client)
    assert send_chat(client, "/tasks").startswith("You have no open tasks.")


def test_commands_on_an_operators_own_tasks_are_not_audited(client: StackClient) -> None:
    task_id = send_chat(client, "/remind in 2 hours tea").split()[1]
    assert send_chat(client, f"/cancel {task_id}") == f"Cancelled {task_id}: tea"
    assert audit_texts(client) == []


@pytest.mark.parametrize(
    ("command", "status"),
    [("/cancel {}", "cancelled"), ("/retry {}", "pending")],
)
def test_operators_may_cancel_and_retry_any_task(
    client: StackClient, command: str, status: str
) -> None:
    task = create_escalated_task(client)
    send_chat(client, command.format(task["short_id"]))
    assert client.task(task["id"])["status"] == status
    assert len(audit_texts(client)) == 1


def test_an_unknown_id_is_unknown_to_operators_too(client: StackClient) -> None:
    assert send_chat(client, "/retry 00000000").startswith("There is no task 00000000.")
    assert audit_texts(client) == []


def test_an_indeterminate_effect_asks_the_operators_too(client: StackClient) -> None:
    client.add_fault(function="worker", call="provider.call", when="after", kind="crash")
    payload = {"provider": "scripted", "script": [SUCCESS]}
    task = client.create(type="action", payload=payload, **{"in": "10s"})
    client.advance("1h")
    question = operator_message(client)
    assert [button["label"] for button in question["buttons"]] == [
        "It happened",
        "It did not happen",
        "Skip",
    ]
    send_chat(client, question["buttons"][0]["says"])
    assert client.task(task["id"])["status"] == "completed"
    assert audit_texts(client)[0].endswith(f"/resolve applied task={task['id']}")
