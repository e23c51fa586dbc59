"""Chat in, open: to whoever proves to be a platform, and to the console on a laptop."""

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
def test_a_platform_that_is_known_but_not_offered_is_a_404_to_whoever_proves_it(
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


# --- who is believed --------------------------------------------------------------------------


@every_platform
def test_whoever_proves_to_be_the_platform_is_heard(client: StackClient, platform: str) -> None:
    answer = post(client, a_command_request(client, platform))

    assert answer.status == 200
    [told] = sent_texts(client, platform)
    assert told.endswith(": tea")
    [task] = client.items("/tasks")
    assert (task["channel"], task["description"]) == (platform, "tea")


@every_timed_platform
@pytest.mark.parametrize("seconds", [300, -300])
def test_a_proof_of_five_minutes_is_believed(
    client: StackClient, platform: str, seconds: int
) -> None:
    assert (
        post(client, a_command_request(client, platform, age=timedelta(seconds=seconds))).status
        == 200
    )
    assert len(sent_texts(client, platform)) == 1


@pytest.mark.parametrize("secret", ["", " "])
def test_where_no_secret_is_set_nobody_is_believed(
    monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    with stack_with_platforms(monkeypatch, **dict.fromkeys(ENVIRONMENT, secret)) as client:
        sent = [a_command_request(client, platform) for platform in SIGNATURE_HEADER]
        guesses = [
            one.with_header(SIGNATURE_HEADER[one.platform], guess)
            for one in sent
            for guess in ("", " ")
        ]

        assert {post(client, one).status for one in sent + guesses} == {401}
        assert has_no_effect(client)


@every_timed_platform
def test_a_replay_is_heard_once(client: StackClient, platform: str) -> None:
    sent = a_command_request(client, platform)
    for _ in range(3):
        assert post(client, sent).status == 200
        client.advance("2m")

    assert len(sent_texts(client, platform)) == 1
    assert len(client.items("/tasks")) == 1
    assert post(client, sent).status == 401  # six minutes on, it is stale besides


# --- what is said of it -----------------------------------------------------------------------


@every_platform
def test_neither_words_nor_proofs_are_logged(
    client: StackClient, platform: str, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger("webhook")
    logger.setLevel(logging.INFO)
    sent = a_command_request(client, platform)

    post(client, sent)
    assert post(client, sent.with_header(SIGNATURE_HEADER[platform], "a-guess")).status == 401

    outcomes = [record.getMessage() for record in caplog.records]
    logged = str([vars(record) for record in caplog.records])
    assert outcomes == ["message_received", "webhook_refused"]
    for secret in ("tea", "a-guess", sent.headers[SIGNATURE_HEADER[platform]]):
        assert secret not in logged


def test_the_answer_goes_to_the_sender_where_no_other_place_is_named(client: StackClient) -> None:
    body = {"sender_id": "ada", "text": "/tasks"}

    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    assert [sent["target"] for sent in client.outbox()] == ["ada"]


def test_what_is_not_understood_is_answered_with_help(client: StackClient) -> None:
    assert "/remind" in client.say("make me a sandwich")
