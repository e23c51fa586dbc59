"""A channel without a valid token is paused: its work waits, and operators are alerted once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from duecourse.adapters.channels.slack.outbound import SlackChannel
from duecourse.app import registry, stores
from duecourse.domain.limits.channel_breaker import MAX_CHANNEL_WAIT
from duecourse.usecases.chat import deliver_notification
from duecourse.usecases.failures import access_pause
from duecourse.usecases.runs import check_admission

from functions.failure import app as failure
from functions.notifier import app as notifier
from local.runtime.outbox import OutboxChannel
from tests.support.chat_cases import HTTP_CLIENT, TOKEN
from tests.support.provider_cases import DictKeys
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

REFUSED = {"message": "invalid_auth", "code": "invalid_auth", "status": 401}
SENT = json.dumps({"ok": True, "ts": "1.2"}).encode()


@dataclass
class Slack:
    """Slack, as a receiver on the loopback. Without a valid token it refuses everything."""

    receiver: Receiver
    tokens: DictKeys = field(default_factory=lambda: DictKeys(slack=TOKEN))

    def refuse(self, code: str) -> None:
        self.receiver.forget()
        self.receiver.answer(200, json.dumps({"ok": False, "error": code}).encode())

    def accept(self) -> None:
        self.receiver.forget()
        self.receiver.answer(200, SENT)

    @property
    def request_count(self) -> int:
        return len(self.receiver.requests)


@pytest.fixture
def slack(client: StackClient) -> Iterator[Slack]:
    with Receiver() as receiver:
        slack = Slack(receiver)
        endpoint = receiver.url("")
        sender = SlackChannel(HTTP_CLIENT, slack.tokens, stores.clock(), endpoint=endpoint)
        registry.register_channel("slack", OutboxChannel("slack", client.stack.outbox, sender))
        yield slack


def create_reminder(client: StackClient, **fields: Any) -> str:
    recipient = {"channel": "slack", "reply_target": "D9", "sender_id": "U9"}
    return str(client.create(description="tea", **{"in": "5m", **recipient, **fields})["id"])


def statuses(client: StackClient, ids: list[str]) -> set[str]:
    return {client.task(task_id)["status"] for task_id in ids}


def alerts(client: StackClient) -> list[str]:
    return [sent["text"] for sent in client.outbox("operators")]


def slack_texts(client: StackClient) -> list[str]:
    return [sent["text"] for sent in client.items("/_local/outbox?channel=slack")]


def enqueue_notification(client: StackClient) -> None:
    """Have the owner notified in Slack that an action is done."""
    payload = {"provider": "scripted", "script": [{"reply": "ok\nACTION_OUTCOME: success"}]}
    create_reminder(client, type="action", payload=payload)


@pytest.mark.parametrize("code", ["invalid_auth", "token_revoked", "account_inactive"])
def test_a_reminder_waits_uncounted_until_the_token_is_valid(
    client: StackClient, slack: Slack, code: str
) -> None:
    slack.refuse(code)
    task = create_reminder(client)
    client.advance("5h")
    waiting = client.task(task)
    assert (waiting["status"], waiting["retry_count"]) == ("pending", 0)
    assert waiting["wait"] == "circuit_breaker"
    assert waiting["wait_text"].startswith("channel slack has no valid bot token: next try at ")
    assert code in waiting["last_error"]

    slack.accept()
    client.advance("7m")
    assert client.task(task)["status"] == "delivered"
    assert slack_texts(client) == ["Reminder: tea"]
    runs = client.items(f"/tasks/{task}/runs")
    assert {run["mutation"]["status"] for run in runs[:-1]} == {"failed"}


def test_a_missing_token_pauses_the_channel_without_a_call(
    client: StackClient, slack: Slack
) -> None:
    slack.tokens.clear()
    slack.accept()
    task = create_reminder(client)
    client.advance("1h")
    assert (client.task(task)["status"], slack.request_count) == ("pending", 0)

    slack.tokens["slack"] = TOKEN
    client.advance("7m")
    assert (client.task(task)["status"], slack.request_count) == ("delivered", 1)


def test_operators_are_alerted_once_an_hour(client: StackClient, slack: Slack) -> None:
    slack.refuse("token_revoked")
    create_reminder(client)
    client.advance("55m")
    [alert] = alerts(client)
    assert alert.startswith("Alert: channel slack has no valid bot token since Tuesday 17 Feb 2026")
    assert client.stack.functions.metrics["BreakersOpen"][-1] == 1

    slack.accept()
    client.advance("2h")
    assert len(alerts(client)) == 1
    [breaker] = client.items("/breakers")
    assert (breaker["provider"], breaker["state"]) == ("channel:slack", "closed")


def test_few_calls_are_made_while_a_channel_is_paused(client: StackClient, slack: Slack) -> None:
    slack.refuse("invalid_auth")
    tasks = [create_reminder(client) for _ in range(20)]
    client.advance("10m")
    assert slack.request_count <= 4
    client.advance("2h")
    assert slack.request_count <= 4 + 2 * 60 / 5
    assert statuses(client, tasks) == {"pending"}

    slack.accept()
    client.advance("8m")
    assert statuses(client, tasks) == {"delivered"}
    assert slack_texts(client) == ["Reminder: tea"] * 20


def test_other_channels_are_not_paused(client: StackClient, slack: Slack) -> None:
    slack.refuse("invalid_auth")
    create_reminder(client)
    other = client.create(**{"in": "20m"})["id"]
    client.advance("21m")
    assert client.task(other)["status"] == "delivered"


def test_a_recipient_who_is_gone_does_not_pause_the_channel(
    client: StackClient, slack: Slack
) -> None:
    slack.refuse("user_disabled")
    gone = create_reminder(client)
    client.advance("6m")
    slack.accept()
    other = create_reminder(client)
    client.advance("6m")
    assert [client.task(task)["status"] for task in (gone, other)] == ["failed", "delivered"]
    assert client.items("/breakers") == []


def test_notifications_wait_for_a_day_and_arrive_once(client: StackClient, slack: Slack) -> None:
    slack.refuse("invalid_auth")
    enqueue_notification(client)
    client.advance("1d")
    assert (slack_texts(client), client.items("/dead-letters")) == ([], [])

    slack.accept()
    client.advance("8m")
    assert slack_texts(client) == ["Done: tea\nok"]
    assert [breaker["state"] for breaker in client.items("/breakers")] == ["closed"]


@pytest.fixture
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for four hours at most, to keep the tests short."""
    for module in (check_admission, deliver_notification, access_pause):
        monkeypatch.setattr(module, "MAX_CHANNEL_WAIT", timedelta(hours=4))


@pytest.mark.usefixtures("_short_wait")
def test_a_notification_that_waited_too_long_becomes_a_dead_letter(
    client: StackClient, slack: Slack
) -> None:
    slack.refuse("invalid_auth")
    enqueue_notification(client)
    client.advance("4h")
    assert client.items("/dead-letters") == []
    client.advance("2h")
    [letter] = client.items("/dead-letters")
    assert (letter["queue"], letter["can_be_redriven"]) == ("notices", True)


@pytest.mark.usefixtures("_short_wait")
def test_a_reminder_that_waited_too_long_fails(client: StackClient, slack: Slack) -> None:
    slack.refuse("invalid_auth")
    task = create_reminder(client)
    client.advance("4h")
    assert client.task(task)["status"] == "pending"
    client.advance("1h")
    after = client.task(task)
    assert (after["status"], after["retry_count"]) == ("failed", 3)


def test_a_series_goes_on_after_a_pause(client: StackClient, slack: Slack) -> None:
    slack.refuse("invalid_auth")
    task = create_reminder(client, repeat="0 * * * *")
    client.advance("5h")
    assert (client.task(task)["status"], client.task(task)["paused"]) == ("pending", False)
    slack.accept()
    client.advance("2h")
    assert 1 <= len(slack_texts(client)) - 1 <= 2


def test_replies_wait_too_and_the_messages_behind_them_do_not(client: StackClient) -> None:
    client.add_fault(call="channel.send", kind="error", error=REFUSED, times=20)
    body = {"sender_id": "ada", "text": "/remind in 9 hours tea"}
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    assert client.call("POST", "/webhooks/console", body, token=None).status == 200
    assert len(client.items("/tasks")) == 2
    client.advance("6h")
    replies = [sent["text"] for sent in client.outbox("ada")]
    assert len(replies) == 2
    assert all(reply.startswith("Reminder ") for reply in replies)
    assert client.items("/dead-letters") == []


def test_the_alert_is_not_sent_through_the_paused_channel(client: StackClient) -> None:
    client.add_fault(call="channel.send", kind="error", error=REFUSED, times=4)
    client.create(**{"in": "5m"})
    client.advance("3h")
    assert not any("no valid bot token" in text for text in alerts(client))


@pytest.mark.parametrize(("code", "has_tracebacks"), [("token_revoked", False), ("other", True)])
def test_a_refusal_is_logged_with_its_reason_and_without_a_traceback(
    client: StackClient,
    slack: Slack,
    code: str,
    has_tracebacks: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tracebacks, reasons = list[str](), list[str]()
    for app in (notifier, failure):
        monkeypatch.setattr(app.logger, "exception", lambda name, **_: tracebacks.append(name))
        monkeypatch.setattr(app.logger, "error", lambda _, **more: reasons.append(more["reason"]))
    slack.refuse(code)
    create_reminder(client)
    enqueue_notification(client)
    client.advance("1h")
    assert bool(tracebacks) is has_tracebacks
    assert bool(reasons) is not has_tracebacks
    assert all("token" in reason for reason in reasons)


def test_the_longest_wait_is_shorter_than_the_queue_keeps_messages() -> None:
    assert timedelta(days=2) < MAX_CHANNEL_WAIT < timedelta(days=4)
