"""The secrets of a task reach the receiver, and nobody else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_client import CommandClient
from tests.support.custom_handler import handler_project
from tests.support.everything_visible import Visible
from tests.support.live_client import live_server
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

HEADERS = {"Authorization": "Bearer zq7-header-1", "X-Key": "zq7-header-2"}
QUERY = "token=zq7-query-1&b=zq7%2Dquery-2&zq7-query-3"
BODY = {
    "user": "zq7-body-1",
    "list": ["zq7-body-2", {"text": 'quoted "zq7-body-3"'}],
    "pin": 7_748_151_623,
    "flag": True,
    "none": None,
}
SECRETS = ("zq7", "7748151623")
MASKED_BODY = {
    "user": "[redacted]",
    "list": ["[redacted]", {"text": "[redacted]"}],
    "pin": "[redacted]",
    "flag": "[redacted]",
    "none": None,
}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def secret_payload(receiver: Receiver) -> dict[str, Any]:
    url = f"{receiver.url('/hook')}?{QUERY}#zq7-fragment"
    return {"url": url, "headers": HEADERS, "body": BODY, "timeout": 5}


def masked_payload(receiver: Receiver) -> dict[str, Any]:
    url = f"{receiver.url('/hook')}?token=[redacted]&b=[redacted]&[redacted]#[redacted]"
    headers = dict.fromkeys(HEADERS, "[redacted]")
    return {"url": url, "headers": headers, "body": MASKED_BODY, "timeout": 5}


def create_webhook(client: StackClient, receiver: Receiver, **fields: Any) -> dict[str, Any]:
    payload = secret_payload(receiver)
    fields = {"in": "10s", "channel": "console", "subject": "crm", **fields}
    return client.create(type="webhook", payload=payload, **fields)


def echo() -> bytes:
    """Return the answer of a receiver that quotes all it got, in several forms."""
    values = [HEADERS, HEADERS["Authorization"].split()[1], QUERY, "zq7-query-2", BODY]
    return "\n".join([json.dumps(values), *map(str, values), json.dumps(json.dumps(BODY))]).encode()


def leaks(visible: Visible, *task_ids: str) -> list[tuple[str, str]]:
    return [
        (place, text)
        for place, text in visible.texts(*task_ids)
        if any(secret in text for secret in SECRETS)
    ]


def test_secrets_of_a_webhook_are_masked_everywhere(
    client: StackClient, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    visible = Visible(client, caplog)
    for status in (500, 200, 422):
        receiver.answer(status, b"no. " + echo())
    failing = create_webhook(client, receiver, policy="agent")
    client.advance("15s")
    assert client.task(failing["id"])["status"] == "pending"
    assert leaks(visible, failing["id"]) == [], "while a retry is pending"
    client.advance("1h")
    assert client.task(failing["id"])["status"] == "completed"
    refused = create_webhook(client, receiver, policy="enrichment", verify=True)
    client.advance("1h")
    assert leaks(visible, failing["id"], refused["id"]) == []
    assert len(receiver.requests) >= 3
    for sent in receiver.requests:
        assert (sent.path, sent.json) == (f"/hook?{QUERY}", BODY)
        assert sent.headers["authorization"] == HEADERS["Authorization"]
        assert sent.headers["x-key"] == HEADERS["X-Key"]


def test_the_shape_of_a_payload_is_kept(client: StackClient, receiver: Receiver) -> None:
    created = create_webhook(client, receiver)
    path = f"/tasks/{created['id']}"
    changed = client.call("PATCH", path, {"in": "1h"}).body
    answers = [created, client.task(created["id"]), changed, *client.items("/tasks")]
    answers += [client.call("POST", f"{path}/{action}").body for action in ("pause", "cancel")]
    assert [answer["payload"] for answer in answers] == [masked_payload(receiver)] * 6


def test_an_edit_without_a_payload_keeps_the_secrets(
    client: StackClient, receiver: Receiver
) -> None:
    task = create_webhook(client, receiver)
    assert client.call("PATCH", f"/tasks/{task['id']}", {"description": "again"}).status == 200
    client.advance("15s")
    [sent] = receiver.requests
    assert (sent.json, sent.headers["x-key"]) == (BODY, HEADERS["X-Key"])


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({}, "url"),
        ({"url": "https://example.com/"}, "headers.Authorization"),
        ({"url": "https://example.com/", "headers": {}}, "body.user"),
        ({"url": "https://example.com/", "headers": {}, "body": ["x", "[redacted]"]}, "body[1]"),
        ({"headers": {"X-Key": "Bearer [redacted]"}, "url": "https://a.example/"}, "headers.X-Key"),
    ],
)
def test_a_masked_value_is_refused_and_named(
    client: StackClient, receiver: Receiver, change: dict[str, Any], key: str
) -> None:
    task = create_webhook(client, receiver)
    payload = {**task["payload"], **change}
    requests = [
        client.call("PATCH", f"/tasks/{task['id']}", {"payload": payload}),
        client.call("POST", "/tasks", {"type": "webhook", "description": "x", "payload": payload}),
    ]
    for answer in requests:
        assert answer.status == 422
        [error] = [one for one in answer.body["errors"] if one["field"] == "payload"]
        assert error["message"].startswith(f"{key}: is masked; ")
    client.advance("15s")
    [sent] = receiver.requests
    assert (sent.path, sent.json) == (f"/hook?{QUERY}", BODY)
    assert sent.headers["x-key"] == HEADERS["X-Key"]


def test_a_recognized_secret_in_another_payload_is_masked(client: StackClient) -> None:
    text = "use sk-proj-zq7abcdefghijklmnop to sign in, then [redacted] the report"
    payload = {"provider": "scripted", "spec": {"text": text, "password": "zq7-pass", "n": 3}}
    task = client.create(type="action", payload=payload, **{"in": "1h"})
    shown = "use [redacted] to sign in, then [redacted] the report"
    assert task["payload"]["spec"] == {"text": shown, "password": "[redacted]", "n": 3}
    for spec, status in [({"text": shown}, 422), ({"text": "the [redacted] report"}, 200)]:
        changed = {"payload": {"provider": "scripted", "spec": spec}}
        assert client.call("PATCH", f"/tasks/{task['id']}", changed).status == status


def test_a_reply_of_a_provider_is_stored_and_shown_without_secrets(
    client: StackClient, caplog: pytest.LogCaptureFixture
) -> None:
    visible = Visible(client, caplog)
    reply = "Done. password: zq7hunter2, key sk-proj-zq7abcdefghijklmnop\nACTION_OUTCOME: success"
    # The payload of a scripted action holds the reply itself, so it is masked there, too.
    payload = {"provider": "scripted", "script": [{"reply": reply}]}
    task = client.create(type="action", payload=payload, channel="console", **{"in": "1s"})
    client.advance("10s")
    [run] = client.items(f"/tasks/{task['id']}/runs")
    assert run["mutation"]["result"] == {
        "reply": "Done. password: [redacted], key [redacted]\nACTION_OUTCOME: success"
    }
    assert leaks(visible, task["id"]) == []
    assert any("Done. password: [redacted]" in sent["text"] for sent in client.outbox("ada"))


def test_the_command_line_shows_masked_values(
    client: StackClient,
    receiver: Receiver,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = CommandClient(capsys)
    receiver.answer(422, echo())
    with live_server(client) as server:
        monkeypatch.setenv("DUECOURSE_URL", f"http://127.0.0.1:{server.port}")
        payload = json.dumps(secret_payload(receiver))
        added = run("add", "x", "--type", "webhook", "--in", "5s", "--payload", payload, "--json")
        client.advance("15s")
        task_id = added.json["id"]
        flags = ("--runs", "--history", "--errors")
        outputs = [
            added,
            run("task", task_id, *flags),
            run("task", task_id, "--json", *flags),
            run("tasks", "--json"),
            run("tasks"),
        ]
    assert len(receiver.requests) == 1
    assert [one for one in outputs if one.code or "zq7" in one.out + one.err] == []


def test_a_dead_letter_is_shown_without_secrets_and_redriven_with_them(
    client: StackClient,
) -> None:
    client.add_fault(function="chat", call="dynamodb.GetItem", kind="error", times=20)
    text = f"/remind in 2h use token=zq7-{'x' * 30} and {'word ' * 300} password=zq7{'y' * 1500}"
    body = {"sender_id": "ada", "reply_target": "ada", "text": text}
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    client.advance("30m")
    [letter] = client.items("/dead-letters")
    assert "use token=[redacted] and word" in letter["body"]
    assert "zq7" not in letter["body"]
    client.call("DELETE", "/_local/faults")
    assert client.call("POST", "/dead-letters/redrive").status == 200
    [task] = client.items("/tasks")
    assert task["description"] == text.partition("2h ")[2]


def test_a_handler_of_your_own_keeps_its_result_for_emit(tmp_path: Path) -> None:
    """Its result is stored as it is, because `emit` may need it, and shown without secrets."""
    with handler_project(tmp_path) as project:
        emit = "assert context.result['lit'] == {'token': 'zq7-session'}, context.result"
        project.deploy(prepare="return {'token': 'zq7-session'}", emit=emit)
        task_id = project.create()
        project.client.advance("2m")
        [run] = project.runs(task_id)
        assert project.status(task_id) == "completed"
        assert run["prepare_result"] == {"token": "[redacted]"}
        assert run["mutation"]["result"] == {"lit": {"token": "[redacted]"}}
