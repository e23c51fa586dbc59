"""A reply for one person does not become visible to others, however late it comes."""

from __future__ import annotations

import pytest

from tests.support.platforms import (
    FORUM,
    GROUP,
    WHAT,
    Payload,
    PlatformRequest,
    discord_command,
    discord_press,
    post,
    sign_press,
    sign_request,
    slack_press,
    telegram_message,
    telegram_press,
)
from tests.support.stack_client import StackClient

ADA_ON_DISCORD, GUILD_CHANNEL = "user:1200000000000000005", "1200000000000000004"
IN_TWO_HOURS = {"type": 3, "name": "when", "value": "in 2h"}
DOWN = {"message": "chat is down", "status": 503}
NOT_ANSWERED = "I could not answer this message:"


def _telegram_group_press(chat: Payload) -> Payload:
    return telegram_press(message=telegram_message("Reminder: tea", chat=chat))


def _requests(client: StackClient) -> dict[str, tuple[PlatformRequest, str]]:
    """Return messages whose reply only the sender may see, each with its private target."""
    at = client.stack.clock.now()
    return {
        "discord command": (
            sign_request("discord", discord_command("remind", IN_TWO_HOURS, WHAT), at=at),
            ADA_ON_DISCORD,
        ),
        "discord button": (sign_request("discord", discord_press(), at=at), ADA_ON_DISCORD),
        "slack button": (sign_press(slack_press(), at=at), "U0ADA"),
        "telegram button": (sign_request("telegram", _telegram_group_press(GROUP), at=at), "111"),
        "telegram topic": (sign_request("telegram", _telegram_group_press(FORUM), at=at), "111"),
    }


every_private_message = pytest.mark.parametrize(
    "name",
    ["discord command", "discord button", "slack button", "telegram button", "telegram topic"],
)


@every_private_message
def test_a_redriven_message_is_answered_in_private(client: StackClient, name: str) -> None:
    request, private_target = _requests(client)[name]
    client.add_fault(function="chat", call="dynamodb.GetItem", kind="error", times=100)
    assert post(client, request).status == 200
    client.advance("30m")
    client.call("DELETE", "/_local/faults")
    [letter] = client.items("/dead-letters")
    assert client.call("POST", "/dead-letters/redrive").body["redriven"] == [letter["id"]]

    sent = client.items(f"/_local/outbox?channel={request.platform}")
    assert [message["target"] for message in sent] == [private_target] * 2
    assert sent[0]["text"].startswith(NOT_ANSWERED)
    assert not sent[1]["text"].startswith(NOT_ANSWERED)


def test_a_reply_is_ephemeral_wherever_others_read_along(client: StackClient) -> None:
    group_chat = {k: v for k, v in discord_command("tasks").items() if k != "guild_id"}
    for context, flags in ((0, {"data": {"flags": 64}}), (1, {}), (2, {"data": {"flags": 64}})):
        interaction = {**group_chat, "id": f"12{context}", "context": context}
        request = sign_request("discord", interaction, at=client.stack.clock.now())
        assert post(client, request).body == {"type": 5, **flags}


@every_private_message
def test_a_reply_that_comes_late_is_private(client: StackClient, name: str) -> None:
    request, private_target = _requests(client)[name]
    client.add_fault(function="chat", call="channel.send", kind="error", error=DOWN)
    client.add_fault(function="notifier", call="channel.send", kind="error", error=DOWN, times=10)
    assert post(client, request).status == 200
    client.advance("30m")

    [sent] = client.items(f"/_local/outbox?channel={request.platform}")
    assert sent["target"] == private_target
    assert "This reply is late." in sent["text"]


def test_a_dead_reply_is_stored_without_the_token_that_it_needed(client: StackClient) -> None:
    request, private_target = _requests(client)["discord command"]
    client.add_fault(call="channel.send", kind="error", error=DOWN, times=1 + 30)
    assert post(client, request).status == 200
    client.advance("1h30m")

    [letter] = client.items("/dead-letters")
    assert letter["queue"] == "notices"
    assert discord_command()["token"] not in str(letter)
    client.call("POST", "/dead-letters/redrive")
    [sent] = client.items("/_local/outbox?channel=discord")
    assert sent["target"] == private_target
