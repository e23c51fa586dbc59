"""An hour in which a thousand strangers write to the bot: it costs nothing and delays nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta

import pytest
from duecourse.domain.time.instant import from_text

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
SECOND = timedelta(seconds=1)


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
    client.stack.functions.on_invoke = lambda name: invoked.update([name])
    replies = 0

    for minute in range(MINUTES):
        for n in range(MESSAGES_PER_MINUTE):
            request = a_strangers_request(client, minute * MESSAGES_PER_MINUTE + n)
            assert post(client, request).status == 200
            if n == MESSAGES_PER_MINUTE // 2:
                assert seconds_until_reply(client, minute) <= SECOND
                replies += 1
        assert client.stack.calls.counts["worker", "provider.call"] == 0
        client.advance("1m")

    assert invoked["webhook"] == MINUTES * (MESSAGES_PER_MINUTE + 1)
    assert invoked["chat"] == replies == MINUTES  # strangers are not even queued
    assert calls_of_webhook(client) == {"sqs.SendMessage": MINUTES}
    assert invoked["worker"] == 0
    assert client.items("/tasks") == []
    assert {sent["target"] for sent in client.outbox()} == {str(KNOWN_SENDER)}


def calls_of_webhook(client: StackClient) -> dict[str, int]:
    """Return how often it called AWS, without the secret, which it reads every five minutes."""
    counts = client.stack.calls.counts.items()
    secret = "secretsmanager.GetSecretValue"
    return {call: n for (name, call), n in counts if name == "webhook" and call != secret}


def seconds_until_reply(client: StackClient, minute: int) -> timedelta:
    sent_at = client.stack.clock.now()
    message = telegram_message("/tasks", date=int(sent_at.timestamp()))
    update = telegram_update(message, update_id=10_000_000 + minute)
    assert post(client, sign_request("telegram", update, at=sent_at)).status == 200
    [*earlier, reply] = client.outbox(str(KNOWN_SENDER))
    assert len(earlier) == minute
    return from_text(reply["at"]) - sent_at


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
