"""Deleted tasks and forgotten senders leave nothing behind but that something was done."""

from __future__ import annotations

import json
from typing import Any

import pytest
from duecourse.domain.journal.audit import ERASED

from tests.support.stack_client import StackClient
from tests.support.stored_items import all_items

SECRET = "call doctor Meier about the results"
FAILING_SCRIPT = [
    {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432"}},
    {"reply": "Done.\nACTION_OUTCOME: success"},
]


def make_action(client: StackClient, sender: str = "ada") -> dict[str, Any]:
    """Return an action of the sender that failed once and then succeeded."""
    payload = {"provider": "scripted", "script": FAILING_SCRIPT}
    task = client.create(
        **{"in": "1m"}, type="action", description=SECRET, sender_id=sender, payload=payload
    )
    client.call("PATCH", f"/tasks/{task['id']}", {"description": SECRET})
    client.advance("5m")
    assert client.task(task["id"])["status"] == "completed"
    return task


def stored_text() -> str:
    return json.dumps(all_items(), default=str)


def test_a_deleted_task_leaves_no_history_and_no_text_in_the_audit_log(
    client: StackClient,
) -> None:
    task = make_action(client)
    assert len(client.items(f"/tasks/{task['id']}/errors")) == 1

    response = client.call("DELETE", f"/tasks/{task['id']}")
    client.advance("1s")

    assert (response.status, response.body) == (200, {"id": task["id"], "deleted": True})
    assert client.call("GET", f"/tasks/{task['id']}").status == 404
    assert SECRET not in stored_text()
    executed = [one for one in client.items("/audit") if one["text"].startswith("[ACTION]")]
    assert {(one["sender"], one["description"]) for one in executed} == {(ERASED, ERASED)}


def test_the_audit_log_keeps_who_deleted_a_task(client: StackClient) -> None:
    task = make_action(client)
    client.call("DELETE", f"/tasks/{task['id']}")
    client.advance("1s")

    changes = [one for one in client.items("/audit") if one.get("method") == "DELETE"]

    assert [(one["token"], one["task_id"]) for one in changes] == [("local", task["id"])]


@pytest.mark.parametrize("action", ["run", "pause"])
def test_an_open_task_is_not_deleted(client: StackClient, action: str) -> None:
    script = [{"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432"}}]
    payload = {"provider": "scripted", "script": script}
    task = client.create(**{"in": "1h"}, type="action", payload=payload)
    client.call("POST", f"/tasks/{task['id']}/{action}")

    response = client.call("DELETE", f"/tasks/{task['id']}")

    assert (response.status, "cancel it first" in response.body["detail"]) == (409, True)
    assert client.task(task["id"])["status"] == "pending"


def test_forgetting_asks_first(client: StackClient) -> None:
    client.say("/remind in 1h stretch")

    answer = client.say("/forget me")

    assert "/forget me yes" in answer
    assert len(client.items("/tasks?channel=console&sender_id=ada")) == 1
    assert "/forget me" in client.say("/forget everybody")


def test_a_forgotten_sender_leaves_nothing(client: StackClient) -> None:
    make_action(client)
    client.say("/timezone Asia/Tokyo")
    client.say("/quiet 22:00-7:00")
    client.say(f"/remind in 3h {SECRET}")
    kept = client.create(**{"in": "4h"}, sender_id="bob", reply_target="bob", description="tea")

    answer = client.say("/forget me yes")
    client.advance("5h")

    assert answer.startswith("Deleted 2 tasks and your settings.")
    assert client.items("/tasks?channel=console&sender_id=ada") == []
    assert [one["text"] for one in client.outbox("ada")][-1] == answer
    assert client.task(kept["id"])["status"] == "delivered"
    assert "not set" in client.say("/timezone")
    assert "no quiet hours" in client.say("/quiet")
    left = [item for item in all_items() if not str(item.get("key", "")).startswith("answer#")]
    assert SECRET not in json.dumps(left, default=str)


def post_message(client: StackClient, text: str, sender: str = "ada") -> None:
    body = {"sender_id": sender, "reply_target": sender, "text": text}
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200


def make_dead_letters(client: StackClient, *senders: str) -> None:
    """Let the chat function fail on a message of each, and the notifier on each notification."""
    client.add_fault(function="chat", call="dynamodb.GetItem", kind="error", times=1_000)
    client.add_fault(function="notifier", call="channel.send", kind="error", times=1_000)
    for sender in senders:
        post_message(client, f"/remind in 9h {SECRET}", sender)
    client.advance("3h")
    assert client.call("DELETE", "/_local/faults").status == 200


def personal_letters(client: StackClient) -> list[str]:
    """Return the queue of each dead letter that is not an alert for operators."""
    letters = client.items("/dead-letters")
    return [one["queue"] for one in letters if SECRET in one["body"]]


@pytest.mark.parametrize("in_chat", [True, False])
def test_dead_letters_of_a_forgotten_sender_are_deleted(client: StackClient, in_chat: bool) -> None:
    """A redrive would carry out the message, and so bring the person back."""
    make_dead_letters(client, "ada", "bob")
    assert personal_letters(client) == ["chat", "chat", "notices", "notices"]

    if in_chat:
        assert client.say("/forget me yes").startswith("Deleted 0 tasks and your settings")
    else:
        body = {"channel": "console", "sender_id": "ada"}
        result = client.call("POST", "/senders/forget", body).body
        assert (result["deleted_dead_letters"], result["complete"]) == (2, True)

    assert personal_letters(client) == ["chat", "notices"]
    assert '\\"ada\\"' not in json.dumps(client.items("/dead-letters"))
    client.call("POST", "/dead-letters/redrive")
    client.advance("1m")
    assert {task["sender_id"] for task in client.items("/tasks")} == {"bob"}


def test_forgetting_continues_after_a_crash(client: StackClient) -> None:
    for _ in range(3):
        client.say(f"/remind in 3h {SECRET}")
    client.add_fault(function="chat", when="after", call="dynamodb.DeleteItem", nth=2, kind="crash")

    client.call(
        "POST",
        "/webhooks/console",
        {"sender_id": "ada", "reply_target": "ada", "text": "/forget me yes"},
        token=None,
    )
    client.advance("10m")

    assert client.items("/tasks?channel=console&sender_id=ada") == []
    assert client.outbox("ada")[-1]["text"].startswith("Deleted")


def test_a_program_forgets_a_sender_and_the_audit_log_does_not_name_them(
    client: StackClient,
) -> None:
    client.create(**{"in": "1h"}, sender_id="carol", reply_target="carol", description=SECRET)

    response = client.call("POST", "/senders/forget", {"channel": "console", "sender_id": "carol"})
    client.advance("1s")

    result = {"deleted_tasks": 1, "deleted_settings": False, "complete": True}
    result |= {"deleted_dead_letters": 0}
    assert (response.status, response.body) == (200, result)
    assert "carol" not in json.dumps(client.items("/audit"))
    assert SECRET not in stored_text()


def test_a_program_learns_whether_settings_were_stored(client: StackClient) -> None:
    body = {"channel": "console", "sender_id": "ada"}
    client.say("/timezone Asia/Tokyo")

    results = [client.call("POST", "/senders/forget", body).body for _ in range(2)]

    assert [result["deleted_settings"] for result in results] == [True, False]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"channel": "console"}, "sender_id"),
        ({"sender_id": "ada"}, "channel"),
        ({"channel": "console", "sender_id": ""}, "sender_id"),
        ({"channel": "console", "sender_id": "ada", "all": True}, "all"),
    ],
)
def test_an_incomplete_request_to_forget_names_the_field(
    client: StackClient, body: dict[str, Any], field: str
) -> None:
    response = client.call("POST", "/senders/forget", body)

    assert (response.status, response.body["errors"][0]["field"]) == (422, field)


def test_erasing_is_retried_while_the_journal_is_throttled(client: StackClient) -> None:
    task = make_action(client)
    client.add_fault(
        function="journal", when="before", call="dynamodb.Query", times=3, kind="throttle"
    )

    client.call("DELETE", f"/tasks/{task['id']}")
    client.advance("1h")

    assert SECRET not in stored_text()


def test_the_text_of_a_subjects_last_error_is_erased(client: StackClient) -> None:
    script = [{"error": {"message": f"no such patient: {SECRET}"}}]
    payload = {"provider": "scripted", "script": script}
    client.create(**{"in": "1m"}, type="action", subject="file-7", payload=payload)
    client.advance("2m")
    assert SECRET in client.call("GET", "/subjects/file-7").body["last_error_message"]

    client.call("POST", "/senders/forget", {"channel": "console", "sender_id": "ada"})
    client.advance("1m")

    subject = client.call("GET", "/subjects/file-7").body
    assert (subject["last_error_message"], subject["failure_count"]) == (None, 1)
    assert SECRET not in stored_text()


def test_a_report_about_a_deleted_task_is_dropped(client: StackClient) -> None:
    """The failure function is down while its sender is forgotten."""
    script = [{"error": {"message": f"no such patient: {SECRET}"}}]
    payload = {"provider": "scripted", "script": script}
    client.create(**{"in": "1m"}, type="action", payload=payload)
    client.add_fault(function="failure", call="dynamodb.GetItem", kind="error", times=3)
    client.advance("61s")

    client.call("POST", "/senders/forget", {"channel": "console", "sender_id": "ada"})
    client.advance("1h")

    assert client.items("/dead-letters") == []
    assert SECRET not in stored_text()
