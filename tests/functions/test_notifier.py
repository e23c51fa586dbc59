"""The notifier: what goes out, what goes back to the queue, what is dropped, what dies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from duecourse.adapters.aws.sqs import to_body
from duecourse.app import registry
from duecourse.domain.chat.chat_message import Button, ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.notification_kind import NotificationKind

from local.runtime import aws_clients
from tests.support.stack_client import StackClient

ARN = "arn:aws:sqs:eu-central-1:123456789012:NoticesQueue"
DOWN = {"message": "503 Service Unavailable", "status": 503}


def a_notice(**fields: Any) -> Notification:
    defaults = {
        "channel": "console",
        "target": "ada",
        "message": ChatMessage("hello"),
        "idempotency_key": "x:3",
    }
    return Notification(**{**defaults, "task_id": "x", **fields})


def _batch(*bodies: str) -> dict[str, Any]:
    records = [
        {
            "messageId": f"message-{n}",
            "receiptHandle": f"handle-{n}",
            "body": body,
            "attributes": {"ApproximateReceiveCount": "1"},
            "messageAttributes": {},
            "md5OfBody": "",
            "eventSource": "aws:sqs",
            "eventSourceARN": ARN,
            "awsRegion": "eu-central-1",
        }
        for n, body in enumerate(bodies)
    ]
    return {"Records": records}


def told(client: StackClient, *notices: Notification) -> list[str]:
    """Which of them go back to the queue."""
    bodies = [to_body(notice.to_json()) for notice in notices]
    return failed_in(client.stack.invoke("notifier", _batch(*bodies)))


def failed_in(reply: dict[str, Any]) -> list[str]:
    return [item["itemIdentifier"] for item in reply["batchItemFailures"]]


def enqueued(notice: Notification) -> None:
    sqs = aws_clients.client("sqs")
    url = sqs.get_queue_url(QueueName="NoticesQueue")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=to_body(notice.to_json()))


def texts(client: StackClient) -> list[tuple[str, str]]:
    """But for alerts."""
    told = [(sent["target"], sent["text"]) for sent in client.outbox()]
    return [(target, text) for target, text in told if target != "operators"]


class Recorder:
    """A channel that remembers the keys it was given."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:  # noqa: ARG002
        self.keys.append(idempotency_key)

    def reply(self, message: Message, content: ChatMessage) -> None:
        raise NotImplementedError


def test_a_notice_goes_to_its_target_as_it_is(client: StackClient) -> None:
    text = "Done: <b>*tea*</b>\n😀"
    assert told(client, a_notice(message=ChatMessage(text)), a_notice(target="bob")) == []
    assert texts(client) == [("ada", text), ("bob", "hello")]
    assert client.stack.functions.metrics["NotificationsSent"] == [1, 1]


def test_the_channel_is_told_the_key_so_that_it_can_drop_repeats(client: StackClient) -> None:
    channel = Recorder()
    registry.register_channel("recorder", channel)
    told(
        client,
        *[a_notice(channel="recorder", idempotency_key=key) for key in ("x:3", "x:3", "x:4")],
    )
    assert channel.keys == ["x:3", "x:3", "x:4"]


def test_its_buttons_go_with_it(client: StackClient) -> None:
    told(client, a_notice(message=ChatMessage("hello", (Button("Cancel", "/cancel x"),))))
    assert client.outbox("ada")[0]["buttons"] == [{"label": "Cancel", "says": "/cancel x"}]


@pytest.mark.parametrize("channel", ["api", "pigeon"])
def test_what_no_channel_serves_is_dropped(client: StackClient, channel: str) -> None:
    assert told(client, a_notice(channel=channel), a_notice()) == []
    assert texts(client) == [("ada", "hello")]
    assert client.stack.functions.metrics["NotificationsSent"] == [1]


@pytest.mark.parametrize("body", ["not a notice", "{}", json.dumps({"text": "hello"})])
def test_just_the_unreadable_one_goes_back(client: StackClient, body: str) -> None:
    good = to_body(a_notice().to_json())
    reply = client.stack.invoke("notifier", _batch(good, body, good))
    assert failed_in(reply) == ["message-1"]
    assert len(client.outbox()) == 2


def test_just_the_one_that_its_channel_did_not_take_goes_back(client: StackClient) -> None:
    client.add_fault(function="notifier", call="channel.send", nth=2, kind="error", error=DOWN)
    assert told(client, a_notice(), a_notice(target="bob"), a_notice()) == ["message-1"]
    assert texts(client) == [("ada", "hello")] * 2


def test_a_chat_that_is_down_for_most_of_an_hour_gets_it_once_it_is_back(
    client: StackClient,
) -> None:
    client.add_fault(function="notifier", call="channel.send", kind="error", error=DOWN, times=29)
    enqueued(a_notice())
    client.advance("50m")
    assert client.outbox() == []
    client.advance("20m")
    assert texts(client) == [("ada", "hello")]
    assert client.items("/dead-letters") == []


def test_a_notice_that_died_is_kept_and_can_be_sent_back(client: StackClient) -> None:
    client.add_fault(function="notifier", call="channel.send", kind="error", error=DOWN, times=30)
    enqueued(a_notice())
    client.advance("2h")
    [letter] = client.items("/dead-letters")
    assert (letter["queue"], letter["can_be_redriven"]) == ("notices", True)
    assert letter["reason"] == "the channel console did not take it"
    reply = client.call("POST", "/dead-letters/redrive").body
    assert reply == {"redriven": [letter["id"]], "left": []}
    client.advance("1m")
    assert texts(client) == [("ada", "hello")]
    assert client.items("/dead-letters") == []


# Whom it is about


def test_in_quiet_hours_just_that_one_stays_in_the_queue_and_nothing_is_logged_as_wrong(
    client: StackClient,
) -> None:
    client.say("/timezone UTC")
    client.say("/quiet 11:00-14:00")
    enqueued(a_notice(sender_id="ada", message=ChatMessage("held")))
    enqueued(a_notice(sender_id="bob", message=ChatMessage("told")))
    client.advance("1h59m")
    assert texts(client)[2:] == [("ada", "told")]
    assert client.stack.functions.metrics["NotificationsReceived"] == [2]
    client.advance("2m")
    assert texts(client)[3:] == [("ada", "held")]


def test_what_was_given_before_and_is_over_is_dropped(client: StackClient) -> None:
    failure = a_notice(kind=NotificationKind.FIRST_FAILURE, run_id="run-1")
    batch = _batch(*[to_body(failure.to_json())] * 2)
    batch["Records"][1]["attributes"]["ApproximateReceiveCount"] = "2"
    assert failed_in(client.stack.invoke("notifier", batch)) == []
    assert texts(client) == [("ada", "hello")]


def test_what_its_receiver_does_not_want_to_hear_is_dropped(client: StackClient) -> None:
    client.say("/notify none")
    assert told(client, a_notice(sender_id="ada", kind=NotificationKind.DONE)) == []
    assert told(client, a_notice(sender_id="ada", kind=NotificationKind.VERIFICATION)) == []
    assert len(texts(client)) == 2
    assert client.stack.functions.metrics["NotificationsSent"] == [1]


def test_a_notice_that_cannot_be_hidden_comes_back_and_is_told_later(client: StackClient) -> None:
    client.say("/timezone UTC")
    client.say("/quiet 11:00-12:10")
    client.add_fault(function="notifier", call="sqs.ChangeMessageVisibility", kind="error", times=4)
    enqueued(a_notice(sender_id="ada"))
    client.advance("9m")
    assert len(texts(client)) == 2
    client.advance("5m")
    assert texts(client)[2:] == [("ada", "hello")]


def test_a_notice_from_before_there_were_kinds_is_told(client: StackClient) -> None:
    client.say("/notify none")
    old = a_notice().to_json()
    del old["kind"]
    assert failed_in(client.stack.invoke("notifier", _batch(to_body(old)))) == []
    assert texts(client)[-1] == ("ada", "hello")
