"""Slack, from its request to our reply."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from tests.support.api_response import ApiResponse
from tests.support.platforms import (
    FORM,
    Payload,
    post,
    sent_texts,
    sign_form,
    sign_press,
    sign_request,
    slack_command,
    slack_event,
    slack_mention,
    slack_message,
    slack_press,
)
from tests.support.stack_client import StackClient


def now(client: StackClient) -> datetime:
    return client.stack.clock.now()


def deliver(client: StackClient, event: Payload, **options: Any) -> ApiResponse:
    return post(client, sign_request("slack", slack_event(event, **options), at=now(client)))


def press(client: StackClient, value: str, *, user: str) -> str:
    payload = slack_press(value, user={"id": user}, trigger_id=f"{user}.{value[-8:]}")
    assert post(client, sign_press(payload, at=now(client))).status == 200
    return sent_texts(client, "slack")[-1]


def test_a_message_redelivered_under_new_event_ids_creates_one_task(
    client: StackClient,
) -> None:
    for n in range(4):
        assert deliver(client, slack_message(), event_id=f"Ev{n}").status == 200

    assert len(client.items("/tasks")) == 1
    assert len(sent_texts(client, "slack")) == 1


def test_a_message_redelivered_for_twenty_minutes_creates_one_task(
    client: StackClient,
) -> None:
    """The queue forgets a message after five minutes; who answered it does not."""
    event = slack_message("remind in 1h tea")
    for n in range(4):
        assert deliver(client, event, event_id=f"Ev{n}").status == 200
        client.advance("400s")

    assert len(client.items("/tasks")) == 1
    assert len(sent_texts(client, "slack")) == 1


def test_a_mention_also_sent_as_a_message_creates_one_task(client: StackClient) -> None:
    mention = slack_mention("<@U0DUE> remind in 1h tea")
    deliver(client, {**mention, "type": "message", "channel_type": "channel"}, event_id="Ev1")
    deliver(client, mention, event_id="Ev2")

    assert len(client.items("/tasks")) == 1
    assert len(sent_texts(client, "slack")) == 1


def test_two_messages_with_the_same_text_create_two_tasks(client: StackClient) -> None:
    deliver(client, slack_message(ts="1.0"))
    deliver(client, slack_message(ts="2.0"))

    assert len(sent_texts(client, "slack")) == 2


def test_a_slash_command_gets_an_empty_response_at_once(
    client: StackClient,
) -> None:
    request = sign_form(slack_command("in 10 minutes tea & cake"), at=now(client))
    assert request.headers["content-type"] == FORM

    response = post(client, request)
    client.advance("11m")

    assert (response.status, response.body) == (200, None)
    reply, reminder = client.items("/_local/outbox?channel=slack")
    assert reply["text"].endswith(": tea & cake")
    assert (reminder["target"], reminder["text"]) == ("U0ADA", "Reminder: tea & cake")


def test_a_reminder_created_in_a_thread_is_sent_to_that_thread(client: StackClient) -> None:
    deliver(client, slack_mention("<@U0DUE> remind in 1m tea", thread_ts="1771329000.000100"))
    client.advance("2m")

    targets = [request["target"] for request in client.items("/_local/outbox?channel=slack")]
    assert targets == ["C0TEA:1771329000.000100"] * 2


def test_a_button_works_only_for_the_owner_of_the_task(client: StackClient) -> None:
    deliver(client, slack_message("remind in 1h tea"))
    [task] = client.items("/tasks")
    short = task["id"][:8]

    anothers = press(client, f"/cancel {short}", user="U0BOB")
    unknown = press(client, "/cancel 00000000", user="U0BOB")
    assert anothers.replace(short, "00000000") == unknown
    assert client.task(task["id"])["status"] == "pending"

    press(client, f"/cancel {short}", user="U0ADA")
    assert client.task(task["id"])["status"] == "cancelled"


def test_the_challenge_is_answered_after_verification(client: StackClient) -> None:
    request = sign_request(
        "slack", {"type": "url_verification", "challenge": "abc"}, at=now(client)
    )

    assert post(client, request).body == {"challenge": "abc"}
    assert post(client, request.without_header("x-slack-signature")).status == 401


@pytest.mark.parametrize("retry", ["1", "2", "3"])
def test_slack_retry_headers_are_ignored(client: StackClient, retry: str) -> None:
    request = sign_request("slack", slack_event(), at=now(client))

    assert post(client, request.with_header("x-slack-retry-num", retry)).status == 200
    assert len(sent_texts(client, "slack")) == 1


@pytest.mark.parametrize(
    "event",
    [
        slack_message(subtype="message_changed", message=slack_message()),
        slack_message(bot_id="B0DUE"),
        slack_message(channel_type="channel"),
    ],
)
def test_an_ignored_event_is_acknowledged(client: StackClient, event: Payload) -> None:
    response = deliver(client, event)

    assert (response.status, response.body) == (200, None)
    assert client.outbox() == []
