"""Webhook requests that are accepted, on every platform."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
from duecourse.app import registry

from tests.support.platforms import (
    ENVIRONMENT,
    SIGNATURE_HEADER,
    a_command_request,
    every_platform,
    every_timed_platform,
    has_no_effect,
    post,
    sent_texts,
    stack_with_platforms,
)
from tests.support.stack_client import StackClient

# --- which platforms --------------------------------------------------------------------------


@every_platform
def test_a_disabled_platform_is_404_for_verified_requests(
    client: StackClient, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "channels", dict)

    assert post(client, a_command_request(client, platform)).status == 404
    assert (
        post(
            client, a_command_request(client, platform).without_header(SIGNATURE_HEADER[platform])
        ).status
        == 401
    )
    assert client.call("POST", "/webhooks/console", b"{", token=None).status == 404


# --- verification -----------------------------------------------------------------------------


@every_platform
def test_a_verified_request_creates_a_task(client: StackClient, platform: str) -> None:
    response = post(client, a_command_request(client, platform))

    assert response.status == 200
    [reply] = sent_texts(client, platform)
    assert reply.endswith(": tea")
    [task] = client.items("/tasks")
    assert (task["channel"], task["description"]) == (platform, "tea")


@every_timed_platform
@pytest.mark.parametrize("seconds", [300, -300])
def test_a_signature_of_five_minutes_is_accepted(
    client: StackClient, platform: str, seconds: int
) -> None:
    assert (
        post(client, a_command_request(client, platform, age=timedelta(seconds=seconds))).status
        == 200
    )
    assert len(sent_texts(client, platform)) == 1


@pytest.mark.parametrize("secret", ["", " "])
def test_without_a_secret_every_request_is_refused(
    monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    with stack_with_platforms(monkeypatch, **dict.fromkeys(ENVIRONMENT, secret)) as client:
        requests = [a_command_request(client, platform) for platform in SIGNATURE_HEADER]
        guesses = [
            request.with_header(SIGNATURE_HEADER[request.platform], guess)
            for request in requests
            for guess in ("", " ")
        ]

        assert {post(client, request).status for request in requests + guesses} == {401}
        assert has_no_effect(client)


@every_timed_platform
def test_a_replayed_request_is_handled_once(client: StackClient, platform: str) -> None:
    request = a_command_request(client, platform)
    for _ in range(3):
        assert post(client, request).status == 200
        client.advance("2m")

    assert len(sent_texts(client, platform)) == 1
    assert len(client.items("/tasks")) == 1
    assert post(client, request).status == 401  # after six minutes it is also stale


# --- logging and replies ----------------------------------------------------------------------


@every_platform
def test_neither_message_text_nor_signature_is_logged(
    client: StackClient, platform: str, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger("webhook")
    logger.setLevel(logging.INFO)
    request = a_command_request(client, platform)

    post(client, request)
    assert post(client, request.with_header(SIGNATURE_HEADER[platform], "a-guess")).status == 401

    outcomes = [record.getMessage() for record in caplog.records]
    logged = str([vars(record) for record in caplog.records])
    assert outcomes == ["message_received", "webhook_refused"]
    for secret in ("tea", "a-guess", request.headers[SIGNATURE_HEADER[platform]]):
        assert secret not in logged


def test_the_reply_goes_to_the_sender_by_default(client: StackClient) -> None:
    body = {"sender_id": "ada", "text": "/tasks"}

    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    assert [messages["target"] for messages in client.outbox()] == ["ada"]


def test_an_unknown_command_is_answered_with_help(client: StackClient) -> None:
    assert "/remind" in client.say("make me a sandwich")
