"""Webhook requests that are refused. One stack serves all tests, as none may change it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tests.support.platforms import (
    SIGNATURE_HEADER,
    TIMESTAMP_HEADER,
    PlatformRequest,
    a_command_request,
    every_platform,
    every_timed_platform,
    has_no_effect,
    post,
    sign_request,
    stack_with_platforms,
)
from tests.support.stack_client import StackClient


@pytest.fixture(scope="module")
def client() -> Iterator[StackClient]:
    with pytest.MonkeyPatch.context() as monkeypatch, stack_with_platforms(monkeypatch) as running:
        yield running


def assert_refused(client: StackClient, request: PlatformRequest, status: int = 401) -> None:
    response = post(client, request)

    assert response.status == status, response.body
    assert response.headers["content-type"] == "application/problem+json"
    assert response.body["status"] == status
    assert has_no_effect(client)


@pytest.mark.parametrize("platform", ["fax", "Console", "Telegram", "%ff"])
def test_an_unconfigured_platform_is_404(client: StackClient, platform: str) -> None:
    body = {"sender_id": "ada", "text": "/tasks"}
    response = client.call("POST", f"/webhooks/{platform}", body, token=None)

    assert response.status == 404
    assert has_no_effect(client)


@every_platform
def test_a_request_without_a_signature_is_refused(client: StackClient, platform: str) -> None:
    assert_refused(
        client, a_command_request(client, platform).without_header(SIGNATURE_HEADER[platform])
    )


@every_platform
@pytest.mark.parametrize(
    "wrong",
    ["", "v0=", "wrong", "0" * 128, "v0=" + "0" * 64, "pässwörd☃", "\ud800", "é" * 128, "x" * 9000],
    ids=ascii,
)
def test_a_wrong_signature_is_refused(client: StackClient, platform: str, wrong: str) -> None:
    assert_refused(
        client, a_command_request(client, platform).with_header(SIGNATURE_HEADER[platform], wrong)
    )


@every_timed_platform
def test_a_signature_of_another_body_is_refused(client: StackClient, platform: str) -> None:
    request = a_command_request(client, platform)

    assert_refused(client, replace(request, body=request.body.replace(b"tea", b"gin")))


@every_timed_platform
@pytest.mark.parametrize("seconds", [301, -301, 86_400])
def test_a_stale_signature_is_refused(client: StackClient, platform: str, seconds: int) -> None:
    assert_refused(client, a_command_request(client, platform, age=timedelta(seconds=seconds)))


@every_timed_platform
def test_a_stale_signature_with_a_new_timestamp_is_refused(
    client: StackClient, platform: str
) -> None:
    stale = a_command_request(client, platform, age=timedelta(hours=1))
    now = a_command_request(client, platform).headers[TIMESTAMP_HEADER[platform]]

    assert_refused(client, stale.with_header(TIMESTAMP_HEADER[platform], now))


@every_timed_platform
@pytest.mark.parametrize("timestamp", ["", "soon", "-1", "1e9", "٣", "9" * 5000], ids=ascii)
def test_an_invalid_timestamp_is_refused(
    client: StackClient, platform: str, timestamp: str
) -> None:
    assert_refused(
        client,
        a_command_request(client, platform).with_header(TIMESTAMP_HEADER[platform], timestamp),
    )


@every_platform
@pytest.mark.parametrize("size", [256 * 1024 + 1, 1024 * 1024])
def test_a_huge_body_is_refused_despite_a_valid_signature(
    client: StackClient, platform: str, size: int
) -> None:
    at = client.stack.clock.now()

    assert_refused(
        client, sign_request(platform, b'"' + b"x" * (size - 2) + b'"', at=at), status=413
    )


@every_platform
def test_a_huge_body_is_refused_before_verification(client: StackClient, platform: str) -> None:
    assert_refused(client, PlatformRequest(platform, b"x" * 1024 * 1024), status=413)


def test_a_huge_body_in_base64_is_refused(client: StackClient) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}

    assert_refused(client, PlatformRequest("slack", b"x" * (256 * 1024 + 1), form), status=413)


@every_platform
@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"a": NaN}', b"1" * 5000, b"{}"]
)
def test_an_unreadable_body_is_refused(client: StackClient, platform: str, body: bytes) -> None:
    request = sign_request(platform, body, at=client.stack.clock.now())

    assert_refused(client, request, status=422)


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
def test_an_invalid_message_body_is_refused(client: StackClient, body: Any) -> None:
    response = client.call("POST", "/webhooks/console", body, token=None)

    assert response.status == 422
    assert response.body["detail"]
    assert client.outbox() == []
