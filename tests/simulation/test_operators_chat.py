"""The operators' chat hears of what needs a person, and whoever speaks there may act on it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.stack_client import StackClient

BROKEN = {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432", "code": "ECONNREFUSED"}}
DONE = {"reply": "Mended.\nACTION_OUTCOME: success"}
FIVE_TIMES = [BROKEN] * 4


def an_escalation(client: StackClient, *script: Any) -> dict[str, Any]:
    """Ada's task, which failed four times and waits for a person."""
    payload = {"provider": "scripted", "script": [*FIVE_TIMES, *script]}
    task = client.create(
        type="action", description="fix the build", policy="agent", payload=payload, **{"in": "10s"}
    )
    client.advance("2h")
    assert client.task(task["id"])["status"] == "blocked"
    return task


def says(client: StackClient, text: str, *, target: str = "operators", sender: str = "eve") -> str:
    """What was answered where it was said."""
    body = {"sender_id": sender, "reply_target": target, "text": text}
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    answers = [one["text"] for one in client.outbox(target) if not one["text"].startswith("Alert")]
    return str(answers[-1])


def escalated(client: StackClient) -> dict[str, Any]:
    """What the operators were told besides alerts."""
    sent = client.outbox("operators")
    [found] = [one for one in sent if not one["text"].startswith("Alert")]
    return found


def noted(client: StackClient) -> list[str]:
    entries = client.items("/audit?limit=200")
    return [entry["text"] for entry in entries if entry["text"].startswith("[CHAT]")]


def test_an_escalation_is_told_to_its_owner_and_to_the_operators(client: StackClient) -> None:
    task = an_escalation(client)
    theirs, mine = escalated(client), client.outbox("ada")[-1]
    assert theirs["text"] == (
        f"Task {task['short_id']} of console:ada needs a person.\n{mine['text']}"
    )
    assert theirs["buttons"] == mine["buttons"]
    for words in ("(fix the build)", "failed 4 times", "ECONNREFUSED", "(transient)"):
        assert words in mine["text"]


def test_an_operator_who_presses_a_button_acts_on_the_task(client: StackClient) -> None:
    task = an_escalation(client, DONE)
    [retry] = [
        button["says"] for button in escalated(client)["buttons"] if button["label"] == "Retry now"
    ]
    says(client, retry)
    client.advance("1m")
    assert client.task(task["id"])["status"] == "completed"
    assert client.outbox("ada")[-1]["text"].startswith("Done at the 5th attempt: fix the build")
    assert noted(client) == [f"[CHAT] by=console:eve in=console:operators /retry task={task['id']}"]


@pytest.mark.parametrize("target", ["eve", "ada", "operators2", "operator"])
def test_elsewhere_the_same_words_are_about_an_unknown_task(
    client: StackClient, target: str
) -> None:
    task = an_escalation(client, DONE)
    answer = says(client, f"/retry {task['id']}", target=target)
    assert answer == f"There is no task {task['id']}. /tasks lists yours."
    assert client.task(task["id"])["status"] == "blocked"
    assert noted(client) == []


def test_an_operator_may_look_at_a_task_and_that_is_not_noted(client: StackClient) -> None:
    task = an_escalation(client)
    card = says(client, f"/task {task['short_id']}")
    assert card.startswith(f"Action {task['short_id']}: fix the build")
    assert noted(client) == []


def test_an_operator_lists_only_their_own_tasks(client: StackClient) -> None:
    an_escalation(client)
    assert says(client, "/tasks").startswith("You have no open tasks.")


def test_what_operators_do_to_their_own_tasks_is_their_own_affair(client: StackClient) -> None:
    task_id = says(client, "/remind in 2 hours tea").split()[1]
    assert says(client, f"/cancel {task_id}") == f"Cancelled {task_id}: tea"
    assert noted(client) == []


@pytest.mark.parametrize(
    ("command", "status"),
    [("/cancel {}", "cancelled"), ("/retry {}", "pending")],
)
def test_every_command_about_a_task_is_theirs(
    client: StackClient, command: str, status: str
) -> None:
    task = an_escalation(client)
    says(client, command.format(task["short_id"]))
    assert client.task(task["id"])["status"] == status
    assert len(noted(client)) == 1


def test_an_unknown_id_is_unknown_to_operators_too(client: StackClient) -> None:
    assert says(client, "/retry 00000000").startswith("There is no task 00000000.")
    assert noted(client) == []


def test_whether_it_happened_is_asked_of_both(client: StackClient) -> None:
    client.add_fault(function="worker", call="provider.call", when="after", kind="crash")
    payload = {"provider": "scripted", "script": [DONE]}
    task = client.create(type="action", payload=payload, **{"in": "10s"})
    client.advance("1h")
    theirs = escalated(client)
    assert [button["label"] for button in theirs["buttons"]] == ["It happened", "It didn't", "Skip"]
    says(client, theirs["buttons"][0]["says"])
    assert client.task(task["id"])["status"] == "completed"
    assert noted(client)[0].endswith(f"/resolve applied task={task['id']}")
