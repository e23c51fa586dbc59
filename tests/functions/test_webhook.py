"""Chat in: which platforms are served, and which bodies."""

from __future__ import annotations

from typing import Any

import pytest

from tests.stack_client import StackClient


@pytest.mark.parametrize("platform", ["fax", "Console", "telegram"])
def test_a_platform_that_is_not_set_up_is_a_404(client: StackClient, platform: str) -> None:
    body = {"sender_id": "ada", "text": "/tasks"}
    answer = client.call("POST", f"/webhooks/{platform}", body, token=None)

    assert answer.status == 404
    assert client.sent() == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        {},
        {"text": "/tasks"},
        {"sender_id": "ada"},
        {"sender_id": 7, "text": "/tasks"},
        {"sender_id": "ada", "text": "/tasks", "colour": "red"},
        {"sender_id": "ada", "text": "x" * 8001},
        b"\xff\xfe",
    ],
)
def test_a_body_that_is_no_message_is_refused(client: StackClient, body: Any) -> None:
    answer = client.call("POST", "/webhooks/console", body, token=None)

    assert answer.status == 422
    assert answer.body["detail"]
    assert client.sent() == []


def test_the_answer_goes_to_the_sender_where_no_other_place_is_named(client: StackClient) -> None:
    body = {"sender_id": "ada", "text": "/tasks"}

    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    assert [sent["target"] for sent in client.sent()] == ["ada"]


def test_what_is_not_understood_is_answered_with_help(client: StackClient) -> None:
    assert "/remind" in client.say("make me a sandwich")
