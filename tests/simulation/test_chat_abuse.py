"""An hour in which a thousand strangers write to the bot: it costs nothing and delays nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from local.runtime import aws_clients
from tests.support.platforms import (
    ADA,
    ENVIRONMENT,
    PRIVATE,
    PlatformRequest,
    discord_command,
    discord_press,
    post,
    sign_form,
    sign_press,
    sign_request,
    slack_command,
    slack_event,
    slack_message,
    slack_press,
    telegram_message,
    telegram_press,
    telegram_update,
)
from tests.support.stack_client import StackClient, running_stack

STRANGERS = 1_000
MINUTES = 60
MESSAGES_PER_MINUTE = 50
KNOWN_SENDER = 111
DO_EVERY_MINUTE = "/do every minute count to ten"
REMIND_EVERY_MINUTE = "/remind every minute tea"
SECRET_READ = "secretsmanager.GetSecretValue"  # every five minutes


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[StackClient]:
    """Of a stack that lets one person use Telegram."""
    known = f"telegram:{KNOWN_SENDER}"
    access = {"CHAT_ACCESS": known, "CHAT_ACTION_ACCESS": known}
    for name, value in {**ENVIRONMENT, **access}.items():
        monkeypatch.setenv(name, value)
    with running_stack() as running:
        yield running


def test_an_hour_of_a_thousand_strangers_has_no_effect(client: StackClient) -> None:
    invoked: Counter[str] = Counter()
    steps: list[str] = []

    def on_invoke(name: str) -> None:
        invoked[name] += 1
        steps.append(name)

    client.stack.functions.on_invoke = on_invoke
    client.stack.calls.before_call = lambda name, call: steps.append(f"{name} {call}")
    ask_for_tasks(client, 0)  # the first message also creates a profile
    client.advance("1m")  # what is cached expires, as between all the others
    steps.clear()
    ask_for_tasks(client, 1)
    from_message_to_reply = on_the_way(steps)  # while nobody else writes
    assert [step for step in from_message_to_reply if " " not in step] == ["webhook", "chat"]
    client.advance("1m")
    replies = 2

    for minute in range(MINUTES):
        for n in range(MESSAGES_PER_MINUTE):
            request = a_strangers_request(client, minute * MESSAGES_PER_MINUTE + n)
            steps.clear()
            assert post(client, request).status == 200
            assert on_the_way(steps) == ["webhook"]  # one invocation that calls nothing
            assert chat_queue_length() == 0
            if n == MESSAGES_PER_MINUTE // 2:
                steps.clear()
                ask_for_tasks(client, replies)
                replies += 1
                assert on_the_way(steps) == from_message_to_reply
        assert client.stack.calls.counts["worker", "provider.call"] == 0
        client.advance("1m")

    assert replies == MINUTES + 2
    assert invoked["webhook"] == MINUTES * MESSAGES_PER_MINUTE + replies
    assert invoked["chat"] == replies  # strangers are not even queued
    assert calls_of_webhook(client) == {"sqs.SendMessage": replies}
    assert invoked["worker"] == 0
    assert client.items("/tasks") == []
    assert {sent["target"] for sent in client.outbox()} == {str(KNOWN_SENDER)}


def calls_of_webhook(client: StackClient) -> dict[str, int]:
    """Return how often it called AWS, without the secret, which it reads every five minutes."""
    counts = client.stack.calls.counts.items()
    return {call: n for (name, call), n in counts if name == "webhook" and call != SECRET_READ}


def on_the_way(steps: list[str]) -> list[str]:
    """Return the steps of functions that handle messages. Scheduled ones run beside them."""
    handlers = ("webhook", "chat", "worker", "notifier")
    return [step for step in steps if step.split()[0] in handlers and SECRET_READ not in step]


def chat_queue_length() -> int:
    """Return how many messages wait for the chat function or are being handled."""
    sqs = aws_clients.client("sqs")
    url = sqs.get_queue_url(QueueName="ChatQueue.fifo")["QueueUrl"]
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"]
    return sum(int(attributes[name]) for name in names)


def ask_for_tasks(client: StackClient, earlier: int) -> None:
    """Let the known sender send /tasks, and check that the reply is sent before the clock moves."""
    now = client.stack.clock.now()
    message = telegram_message("/tasks", date=int(now.timestamp()))
    update = telegram_update(message, update_id=10_000_000 + earlier)
    assert post(client, sign_request("telegram", update, at=now)).status == 200
    assert len(client.outbox(str(KNOWN_SENDER))) == earlier + 1


def a_strangers_request(client: StackClient, n: int) -> PlatformRequest:
    """Return the nth request: each stranger uses one platform, and sends three of its kinds."""
    now = client.stack.clock.now()
    stranger, kind = 1_000_000 + n % STRANGERS, n // STRANGERS
    user = f"U{stranger}"
    telegram_user = {**ADA, "id": stranger}
    member = {"user": {"id": str(stranger), "username": "eve"}, "roles": []}
    words = [{"type": 3, "name": "what", "value": DO_EVERY_MINUTE.removeprefix("/do ")}]
    if n % 3 == 0:
        message = telegram_message(
            (DO_EVERY_MINUTE, REMIND_EVERY_MINUTE, "/help")[kind],
            **{"from": telegram_user, "chat": {**PRIVATE, "id": stranger}},
        )
        return sign_request("telegram", telegram_update(message, update_id=n), at=now)
    if n % 3 == 1:
        event = slack_event(slack_message("/do every minute x", user=user, ts=f"{n}.0"))
        return (
            sign_request("slack", event, at=now),
            sign_form(slack_command(user_id=user, trigger_id=f"{n}.1"), at=now),
            sign_press(slack_press(user={"id": user, "team_id": "T0002"}), at=now),
        )[kind]
    press = discord_press(member=member, id=str(n))
    command = discord_command("do", *words, member=member, id=str(n))
    return sign_request("discord", (command, command, press)[kind], at=now)


@pytest.mark.parametrize("text", [DO_EVERY_MINUTE, REMIND_EVERY_MINUTE, "/help"])
def test_a_stranger_creates_no_task_and_no_provider_call(client: StackClient, text: str) -> None:
    stranger = {"from": {**ADA, "id": 666}, "chat": {**PRIVATE, "id": 666}}
    update = telegram_update(telegram_message(text, **stranger))
    now = client.stack.clock.now()

    assert post(client, sign_request("telegram", update, at=now)).status == 200
    press = telegram_press("/tasks", **{"from": {**ADA, "id": 666}})
    assert post(client, sign_request("telegram", press, at=now)).status == 200
    client.advance("3m")

    assert client.items("/tasks") == []
    assert client.stack.calls.counts["worker", "provider.call"] == 0
    assert client.outbox() == []
