"""The notifier: which notifications are sent, requeued, dropped or become dead letters."""

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
UNAVAILABLE = {"message": "503 Service Unavailable", "status": 503}


def a_notification(**fields: Any) -> Notification:
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


def notify(client: StackClient, *notifications: Notification) -> list[str]:
    """Send the notifications and return the ids of those that are requeued."""
    bodies = [to_body(notification.to_json()) for notification in notifications]
    return failed_ids(client.stack.invoke("notifier", _batch(*bodies)))


def failed_ids(reply: dict[str, Any]) -> list[str]:
    return [item["itemIdentifier"] for item in reply["batchItemFailures"]]


def enqueue(notification: Notification) -> None:
    sqs = aws_clients.client("sqs")
    url = sqs.get_queue_url(QueueName="NoticesQueue")["QueueUrl"]
    sqs.send_message(QueueUrl=url, MessageBody=to_body(notification.to_json()))


def texts(client: StackClient) -> list[tuple[str, str]]:
    """Return target and text of each message, without alerts."""
    messages = [(message["target"], message["text"]) for message in client.outbox()]
    return [(target, text) for target, text in messages if target != "operators"]


class RecordingChannel:
    """A channel that records the idempotency keys."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:  # noqa: ARG002
        self.keys.append(idempotency_key)

    def reply(self, message: Message, content: ChatMessage) -> None:
        raise NotImplementedError


def test_a_notification_is_sent_unchanged_to_its_target(client: StackClient) -> None:
    text = "Done: <b>*tea*</b>\n😀"
    assert (
        notify(client, a_notification(message=ChatMessage(text)), a_notification(target="bob"))
        == []
    )
    assert texts(client) == [("ada", text), ("bob", "hello")]
    assert client.stack.functions.metrics["NotificationsSent"] == [1, 1]


def test_the_channel_gets_the_idempotency_key(client: StackClient) -> None:
    channel = RecordingChannel()
    registry.register_channel("recorder", channel)
    notify(
        client,
        *[a_notification(channel="recorder", idempotency_key=key) for key in ("x:3", "x:3", "x:4")],
    )
    assert channel.keys == ["x:3", "x:3", "x:4"]


def test_a_notification_keeps_its_buttons(client: StackClient) -> None:
    notify(client, a_notification(message=ChatMessage("hello", (Button("Cancel", "/cancel x"),))))
    assert client.outbox("ada")[0]["buttons"] == [{"label": "Cancel", "says": "/cancel x"}]


@pytest.mark.parametrize("channel", ["api", "pigeon"])
def test_a_notification_for_an_unknown_channel_is_dropped(
    client: StackClient, channel: str
) -> None:
    assert notify(client, a_notification(channel=channel), a_notification()) == []
    assert texts(client) == [("ada", "hello")]
    assert client.stack.functions.metrics["NotificationsSent"] == [1]


@pytest.mark.parametrize("body", ["not a notice", "{}", json.dumps({"text": "hello"})])
def test_only_an_unreadable_message_is_requeued(client: StackClient, body: str) -> None:
    good = to_body(a_notification().to_json())
    reply = client.stack.invoke("notifier", _batch(good, body, good))
    assert failed_ids(reply) == ["message-1"]
    assert len(client.outbox()) == 2


def test_only_the_notification_that_failed_is_requeued(client: StackClient) -> None:
    client.add_fault(
        function="notifier", call="channel.send", nth=2, kind="error", error=UNAVAILABLE
    )
    assert notify(client, a_notification(), a_notification(target="bob"), a_notification()) == [
        "message-1"
    ]
    assert texts(client) == [("ada", "hello")] * 2


def test_a_notification_survives_an_hour_of_channel_outage(
    client: StackClient,
) -> None:
    client.add_fault(
        function="notifier", call="channel.send", kind="error", error=UNAVAILABLE, times=29
    )
    enqueue(a_notification())
    client.advance("50m")
    assert client.outbox() == []
    client.advance("20m")
    assert texts(client) == [("ada", "hello")]
    assert client.items("/dead-letters") == []


def test_a_dead_notification_can_be_redriven(client: StackClient) -> None:
    client.add_fault(
        function="notifier", call="channel.send", kind="error", error=UNAVAILABLE, times=30
    )
    enqueue(a_notification())
    client.advance("2h")
    [letter] = client.items("/dead-letters")
    assert (letter["queue"], letter["can_be_redriven"]) == ("notices", True)
    assert letter["reason"] == "channel console rejected it on every delivery"
    reply = client.call("POST", "/dead-letters/redrive").body
    assert reply == {"redriven": [letter["id"]], "left": []}
    client.advance("1m")
    assert texts(client) == [("ada", "hello")]
    assert client.items("/dead-letters") == []


# The owner's settings


def test_quiet_hours_defer_only_the_notifications_of_their_owner(
    client: StackClient,
) -> None:
    client.say("/timezone UTC")
    client.say("/quiet 11:00-14:00")
    enqueue(a_notification(sender_id="ada", message=ChatMessage("held")))
    enqueue(a_notification(sender_id="bob", message=ChatMessage("told")))
    client.advance("1h59m")
    assert texts(client)[2:] == [("ada", "told")]
    assert client.stack.functions.metrics["NotificationsReceived"] == [2]
    client.advance("2m")
    assert texts(client)[3:] == [("ada", "held")]


def test_a_redelivered_stale_notification_is_dropped(client: StackClient) -> None:
    failure = a_notification(kind=NotificationKind.FIRST_FAILURE, run_id="run-1")
    batch = _batch(*[to_body(failure.to_json())] * 2)
    batch["Records"][1]["attributes"]["ApproximateReceiveCount"] = "2"
    assert failed_ids(client.stack.invoke("notifier", batch)) == []
    assert texts(client) == [("ada", "hello")]


def test_a_notification_below_the_notify_level_is_dropped(client: StackClient) -> None:
    client.say("/notify none")
    assert notify(client, a_notification(sender_id="ada", kind=NotificationKind.DONE)) == []
    assert notify(client, a_notification(sender_id="ada", kind=NotificationKind.VERIFICATION)) == []
    assert len(texts(client)) == 2
    assert client.stack.functions.metrics["NotificationsSent"] == [1]


def test_a_notification_that_cannot_be_deferred_is_requeued(client: StackClient) -> None:
    client.say("/timezone UTC")
    client.say("/quiet 11:00-12:10")
    client.add_fault(function="notifier", call="sqs.ChangeMessageVisibility", kind="error", times=4)
    enqueue(a_notification(sender_id="ada"))
    client.advance("9m")
    assert len(texts(client)) == 2
    client.advance("5m")
    assert texts(client)[2:] == [("ada", "hello")]


def test_an_old_notification_without_a_kind_is_sent(client: StackClient) -> None:
    client.say("/notify none")
    old = a_notification().to_json()
    del old["kind"]
    assert failed_ids(client.stack.invoke("notifier", _batch(to_body(old)))) == []
    assert texts(client)[-1] == ("ada", "hello")
