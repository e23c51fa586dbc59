"""Reminders by e-mail and in the log: what a stack without a chat platform can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.api_response import ApiResponse
from tests.support.stack_client import StackClient, running_stack


@pytest.fixture(scope="module")
def stack() -> Iterator[StackClient]:
    with running_stack() as client:
        yield client


@pytest.fixture
def client(stack: StackClient) -> StackClient:
    assert stack.call("POST", "/_local/reset").status == 200
    return stack


def post_task(client: StackClient, **fields: Any) -> ApiResponse:
    return client.call("POST", "/tasks", {"description": "stretch", "in": "1m", **fields})


def error_fields(response: ApiResponse) -> list[str]:
    assert response.status == 422, response.body
    return [error["field"] for error in response.body["errors"]]


@pytest.mark.parametrize(
    ("channel", "target"), [("email", "subscribers"), ("log", "api")], ids=["email", "log"]
)
def test_a_reminder_arrives_without_a_chat_platform(
    client: StackClient, channel: str, target: str
) -> None:
    created = post_task(client, channel=channel)
    client.advance("1m")

    assert (created.status, created.body["reply_target"]) == (201, target)
    assert client.task(created.body["id"])["status"] == "delivered"
    [sent] = client.outbox()
    assert (sent["channel"], sent["target"], sent["text"], sent["buttons"]) == (
        *(channel, target, "Reminder: stretch", []),
    )


@pytest.mark.parametrize("target", ["ada@example.com", "Subscribers", "api"])
def test_an_email_to_one_person_is_refused(client: StackClient, target: str) -> None:
    response = post_task(client, channel="email", reply_target=target)

    assert error_fields(response) == ["reply_target"]
    assert "must be subscribers or left out" in response.body["errors"][0]["message"]
    assert client.items("/tasks") == []


def test_the_only_target_may_be_named(client: StackClient) -> None:
    assert post_task(client, channel="email", reply_target="subscribers").status == 201


def test_a_failed_action_is_reported_by_email(client: StackClient) -> None:
    payload = {"provider": "scripted", "script": [{"error": {"message": "connect ECONNREFUSED"}}]}
    assert post_task(client, channel="email", type="action", payload=payload).status == 201
    client.advance("2m")

    assert [message["target"] for message in client.outbox()] == ["subscribers"]


@pytest.mark.parametrize("name", ["email", "log"])
def test_a_channel_that_only_sends_has_no_webhook(client: StackClient, name: str) -> None:
    body = {"sender_id": "ada", "text": "/tasks"}

    assert client.call("POST", f"/webhooks/{name}", body, token=None).status == 404
    assert client.outbox() == []


def test_the_openapi_document_lists_the_channels(client: StackClient) -> None:
    operation = client.call("GET", "/openapi.json").body["paths"]["/tasks"]["post"]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]

    assert {"email", "log"} <= set(schema["properties"]["channel"]["anyOf"][0]["enum"])
