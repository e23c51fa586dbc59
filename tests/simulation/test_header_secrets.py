"""Headers of webhooks that name a secret instead of carrying it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from local.runtime import aws_clients
from tests.support.everything_visible import Visible
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient, running_stack

VALUE = "Bearer zq7-named-secret"
REFERENCE = {"Authorization": {"secret": "team/crm-token"}}
SECRETS = {
    "team/crm-token": f"{VALUE}\n",
    "here": json.dumps({"value": VALUE, "hosts": ["other.example", "127.0.0.1"]}),
    "elsewhere": json.dumps({"value": VALUE, "hosts": ["other.example"]}),
    "nowhere": json.dumps({"value": VALUE, "hosts": []}),
    "two-lines": f"{VALUE}\r\nX-Evil: 1",
    "not-ascii": "Bearer zq7-ü",
    "other-json": json.dumps({"token": VALUE}),
    "wrong-hosts": json.dumps({"value": VALUE, "hosts": "127.0.0.1"}),
}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[StackClient]:
    monkeypatch.setenv("WEBHOOK_SECRETS", json.dumps(SECRETS))
    with running_stack() as started:
        yield started


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def run_webhook(client: StackClient, receiver: Receiver, headers: Any) -> dict[str, Any]:
    payload = {"url": receiver.url("/hook"), "headers": headers}
    task = client.create(type="webhook", payload=payload, channel="console", **{"in": "10s"})
    client.advance("15s")
    return client.task(task["id"])


@pytest.mark.parametrize("name", ["team/crm-token", "here"])
def test_the_receiver_gets_the_secret_and_everybody_else_its_name(
    client: StackClient, receiver: Receiver, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    visible = Visible(client, caplog)
    receiver.answer(200, f"you sent {VALUE}, that is {VALUE.split()[1]}".encode())
    task = run_webhook(client, receiver, {"Authorization": {"secret": name}, "X-Team": "tides"})
    [sent] = receiver.requests
    assert (sent.headers["authorization"], sent.headers["x-team"]) == (VALUE, "tides")
    assert (task["status"], task["payload"]["headers"]) == (
        *("completed", {"Authorization": {"secret": name}, "X-Team": "[redacted]"}),
    )
    assert [place for place, text in visible.texts(task["id"]) if "zq7" in text] == []
    [run] = client.items(f"/tasks/{task['id']}/runs")
    assert run["mutation"]["result"]["body"] == "you sent [redacted], that is [redacted]"


def test_a_secret_that_is_not_listed_is_refused_at_the_door(client: StackClient) -> None:
    aws_clients.client("secretsmanager").create_secret(Name="prod/database", SecretString=VALUE)
    for name in ("prod/database", "WebhookSigningSecret", "", "team", "team/crm-token-aAbBcC"):
        payload = {"url": "https://example.com/", "headers": {"X-Key": {"secret": name}}}
        body = {"type": "webhook", "description": "x", "in": "1h", "payload": payload}
        answer = client.call("POST", "/tasks", body)
        assert answer.status == 422
        [error] = answer.body["errors"]
        assert error["field"] == "payload"
        assert error["message"].startswith(
            "headers: x-key names a secret that this stack may not read; it may read: elsewhere, "
        )
    assert client.items("/tasks") == []


@pytest.mark.parametrize(
    "value",
    [
        {"secret": 7},
        {"secret": None},
        {"secret": ["team/crm-token"]},
        {"secret": "team/crm-token", "prefix": "Bearer "},
        {"Secret": "team/crm-token"},
        {},
    ],
    ids=json.dumps,
)
def test_another_form_of_a_reference_is_refused(client: StackClient, value: Any) -> None:
    payload = {"url": "https://example.com/", "headers": {"X-Key": value}}
    body = {"type": "webhook", "description": "x", "in": "1h", "payload": payload}
    answer = client.call("POST", "/tasks", body)
    assert answer.status == 422
    assert '{"secret": "NAME"}' in answer.body["errors"][0]["message"]


@pytest.mark.parametrize("name", ["Host", "Webhook-Signature", "Idempotency-Key", "X A"])
def test_a_reserved_header_cannot_name_a_secret(client: StackClient, name: str) -> None:
    headers = {name: REFERENCE["Authorization"]}
    payload = {"url": "https://example.com/", "headers": headers}
    body = {"type": "webhook", "description": "x", "in": "1h", "payload": payload}
    assert client.call("POST", "/tasks", body).status == 422


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("elsewhere", "may not be sent to 127.0.0.1: it is not among its hosts"),
        ("nowhere", "may not be sent to 127.0.0.1: it is not among its hosts"),
        ("two-lines", "authorization must be one line of plain ASCII"),
        ("not-ascii", "authorization must be one line of plain ASCII"),
        ("other-json", 'must be a text, or JSON of the form {"value": "…", "hosts": ["…"]}'),
        ("wrong-hosts", 'must be a text, or JSON of the form {"value": "…", "hosts": ["…"]}'),
    ],
)
def test_a_secret_that_cannot_be_sent_is_a_failure_with_its_reason(
    client: StackClient, receiver: Receiver, name: str, problem: str
) -> None:
    task = run_webhook(client, receiver, {"Authorization": {"secret": name}})
    assert task["last_error"] == f"the secret {name} {problem}"
    assert client.items(f"/tasks/{task['id']}/runs")[0]["mutation"]["status"] == "failed"
    assert receiver.connections == 0


def test_a_missing_secret_is_a_failure_that_names_it(
    client: StackClient, receiver: Receiver
) -> None:
    secrets = aws_clients.client("secretsmanager")
    secrets.delete_secret(SecretId="team/crm-token", ForceDeleteWithoutRecovery=True)
    task = run_webhook(client, receiver, REFERENCE)
    assert task["last_error"] == ("the secret team/crm-token is not configured in this deployment")
    assert receiver.connections == 0


def test_a_shown_reference_can_be_sent_back(client: StackClient, receiver: Receiver) -> None:
    payload = {"url": receiver.url("/hook"), "headers": REFERENCE}
    task = client.create(type="webhook", payload=payload, **{"in": "1h"})
    change = {"payload": task["payload"], "in": "10s"}
    assert client.call("PATCH", f"/tasks/{task['id']}", change).status == 200
    client.advance("15s")
    assert receiver.requests[0].headers["authorization"] == VALUE


def test_a_changed_secret_is_sent_after_five_minutes(
    client: StackClient, receiver: Receiver
) -> None:
    run_webhook(client, receiver, REFERENCE)
    secrets = aws_clients.client("secretsmanager")
    secrets.put_secret_value(SecretId="team/crm-token", SecretString="Bearer new")
    run_webhook(client, receiver, REFERENCE)
    client.advance("5m")
    run_webhook(client, receiver, REFERENCE)
    values = [sent.headers["authorization"] for sent in receiver.requests]
    assert values == [VALUE, VALUE, "Bearer new"]


@pytest.mark.parametrize(
    "host", ["169.254.169.254", "[::ffff:a9fe:a9fe]", "2852039166", "10.0.0.1"]
)
def test_no_secret_is_sent_to_a_private_address(client: StackClient, host: str) -> None:
    payload = {"url": f"https://{host}/", "headers": REFERENCE}
    body = {"type": "webhook", "description": "x", "in": "10s", "payload": payload}
    assert client.call("POST", "/tasks", body).status == 422
