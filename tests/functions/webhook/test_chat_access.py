"""Who may use chat: strangers are refused in the response, before the queue."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from local.runtime.functions import InvocationError
from tests.support.platforms import (
    GROUP,
    WHAT,
    WHEN,
    PlatformRequest,
    a_command_request,
    as_direct_message,
    discord_command,
    discord_press,
    every_platform,
    has_no_effect,
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
    stack_with_platforms,
    telegram_message,
    telegram_press,
    telegram_update,
)
from tests.support.stack_client import StackClient

CLOSED = {"CHAT_ACCESS": "", "CHAT_ACTION_ACCESS": "", "HOME_TEAMS": ""}
HOME_TEAMS = "slack:T0001,discord:1200000000000000003"
GUILD, USER = "1200000000000000003", "1200000000000000005"
LOCAL_NOTE = " (local stack: CHAT_ACCESS)"
MAY_NOT = "You may not use this bot yet. Its operator can "
StackOf = Callable[..., StackClient]


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Iterator[StackOf]:
    """Start a stack that is closed but for these variables."""
    with ExitStack() as running:

        def start(**environment: str) -> StackClient:
            return running.enter_context(
                stack_with_platforms(monkeypatch, **{**CLOSED, **environment})
            )

        yield start


def send(client: StackClient, platform: str, body: Any) -> Any:
    return post_signed(client, sign_request(platform, body, at=client.stack.clock.now()))


def post_signed(client: StackClient, request: PlatformRequest) -> Any:
    response = post(client, request)
    assert response.status == 200
    return response.body


@every_platform
def test_chat_is_closed_by_default(stack: StackOf, platform: str) -> None:
    client = stack()

    post_signed(client, a_command_request(client, platform))

    calls = [call for call in client.stack.calls.counts if call[0] in ("webhook", "chat")]
    assert calls == [("webhook", "secretsmanager.GetSecretValue")]  # neither queue nor table
    assert has_no_effect(client)


@pytest.mark.parametrize(
    ("platform", "entry"),
    [
        ("telegram", "telegram:111"),
        ("telegram", "telegram:chat:111"),
        ("telegram", "telegram:*"),
        ("slack", "slack:team:T0001"),
        ("slack", "slack:U0ADA"),
        ("slack", "slack:chat:D0ADA"),
        ("discord", f"discord:guild:{GUILD}"),
        ("discord", f"discord:{USER}"),
        ("discord", f"discord:{GUILD}:{USER}"),
        ("discord", "*"),
    ],
)
def test_an_entry_opens_chat_for_whom_it_names(stack: StackOf, platform: str, entry: str) -> None:
    client = stack(CHAT_ACCESS=entry, HOME_TEAMS=HOME_TEAMS)

    post_signed(client, a_command_request(client, platform))

    assert [task["description"] for task in client.items("/tasks")] == ["tea"]
    assert len(sent_texts(client, platform)) == 1


def test_an_operators_chat_is_open(stack: StackOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("local.runtime.stack.OPERATOR_CHATS", "telegram:-222")
    client = stack()
    message = telegram_message("/do in 1h tea", chat=GROUP)

    assert send(client, "telegram", telegram_update(message)) is None
    assert [task["description"] for task in client.items("/tasks")] == ["tea"]


# --- the response to a stranger -----------------------------------------------------------------


def test_telegram_is_asked_to_send_one_short_reply(stack: StackOf) -> None:
    client = stack()
    replies = [send(client, "telegram", telegram_update(update_id=n)) for n in range(3)]

    text = f"{MAY_NOT}add telegram:111 to ChatAccess{LOCAL_NOTE}."
    assert replies == [{"method": "sendMessage", "chat_id": 111, "text": text}, None, None]
    client.advance("1h")
    assert send(client, "telegram", telegram_update(update_id=4)) == replies[0]


def test_a_group_gets_one_reply_for_all_its_members(stack: StackOf) -> None:
    client = stack()
    users = [{"id": n, "is_bot": False} for n in (111, 112, 113)]
    updates = [
        telegram_update(telegram_message(chat=GROUP, **{"from": user}), update_id=user["id"])
        for user in users
    ]

    [first, *others] = [send(client, "telegram", update) for update in updates]
    assert first["chat_id"] == -222
    assert "telegram:111, or telegram:chat:-222 for this chat," in first["text"]
    assert others == [None, None]


def test_a_pressed_button_of_telegram_is_answered(stack: StackOf) -> None:
    reply = send(stack(), "telegram", telegram_press())

    assert (reply["method"], reply["callback_query_id"]) == ("answerCallbackQuery", "4382171900")
    assert reply["text"].startswith(MAY_NOT)


def test_slack_shows_the_reply_to_a_command_only_to_its_sender(stack: StackOf) -> None:
    client = stack()
    reply = post_signed(client, sign_form(slack_command(), at=client.stack.clock.now()))

    assert reply == {
        "response_type": "ephemeral",
        "text": f"{MAY_NOT}add slack:T0001:U0ADA to ChatAccess{LOCAL_NOTE}.",
    }


def test_messages_and_buttons_of_slack_get_no_reply(stack: StackOf) -> None:
    client = stack()
    now = client.stack.clock.now()

    assert send(client, "slack", slack_event(slack_mention())) is None
    assert post_signed(client, sign_press(slack_press(), at=now)) is None
    assert has_no_effect(client)


@pytest.mark.parametrize(
    "interaction",
    [discord_command("remind", WHEN, WHAT), discord_press(), as_direct_message(discord_press())],
)
def test_discord_shows_the_reply_only_to_the_sender(stack: StackOf, interaction: Any) -> None:
    client = stack()
    replies = [send(client, "discord", interaction) for _ in range(3)]

    assert {(one["type"], one["data"]["flags"]) for one in replies} == {(4, 64)}
    assert all(one["data"]["content"].startswith(MAY_NOT) for one in replies)
    assert has_no_effect(client)


def test_the_log_names_the_entry_to_add_and_not_the_text(
    stack: StackOf, caplog: pytest.LogCaptureFixture
) -> None:
    client = stack()
    logging.getLogger("webhook").setLevel(logging.INFO)

    send(client, "slack", slack_event(slack_message("remind in 1h secret")))

    [record] = [vars(one) for one in caplog.records if one.name == "webhook"]
    assert (record["msg"], record["entry"]) == ("sender_refused", "slack:T0001:U0ADA")
    assert "secret" not in str(record)


# --- teams ---------------------------------------------------------------------------------------


def test_the_same_user_id_in_another_slack_team_is_another_owner(stack: StackOf) -> None:
    client = stack(CHAT_ACCESS="slack:*", HOME_TEAMS="slack:T0001")
    send(client, "slack", slack_event(slack_message("remind in 1h tea", ts="1.0")))
    [task] = client.items("/tasks")

    def ask_as_other_team(text: str, ts: str) -> str:
        message = slack_message(text, ts=ts, team="T0002")
        send(client, "slack", slack_event(message))
        return sent_texts(client, "slack")[-1]

    assert ask_as_other_team("tasks", "2.0").startswith("You have no open tasks.")
    anothers = ask_as_other_team(f"cancel {task['short_id']}", "3.0")
    unknown = ask_as_other_team("cancel 00000000", "4.0")
    assert anothers.replace(task["short_id"], "00000000") == unknown
    assert client.task(task["id"])["status"] == "pending"
    assert ask_as_other_team("remind in 2h cake", "1.0").endswith(": cake")  # the same ts
    owners = {one["description"]: one["sender_id"] for one in client.items("/tasks")}
    assert owners == {"tea": "U0ADA", "cake": "T0002:U0ADA"}


def test_the_same_user_in_another_discord_guild_is_another_owner(stack: StackOf) -> None:
    client = stack(CHAT_ACCESS="discord:*", HOME_TEAMS=f"discord:{GUILD}")
    send(client, "discord", discord_command("remind", WHEN, WHAT))
    send(client, "discord", discord_command("tasks", id="21", guild_id="99"))
    assert sent_texts(client, "discord")[-1].startswith("You have no open tasks.")

    send(client, "discord", as_direct_message(discord_command("tasks", id="22")))
    assert sent_texts(client, "discord")[-1].endswith(": tea")


def test_tasks_stored_without_a_team_belong_to_the_home_team(stack: StackOf) -> None:
    """Before teams were told apart, every owner had a plain user id."""
    client = stack(CHAT_ACCESS="slack:*", HOME_TEAMS="slack:T0001")
    client.create(channel="slack", sender_id="U0ADA", description="old", **{"in": "1h"})

    send(client, "slack", slack_event(slack_message("tasks", ts="1.0")))
    assert sent_texts(client, "slack")[-1].endswith(": old")
    send(client, "slack", slack_event(slack_message("tasks", ts="2.0", team="T0002")))
    assert sent_texts(client, "slack")[-1].startswith("You have no open tasks.")


# --- actions, changed settings and mistakes ------------------------------------------------------


def test_actions_are_allowed_apart_from_reminders(stack: StackOf) -> None:
    client = stack(CHAT_ACCESS="telegram:111", CHAT_ACTION_ACCESS="telegram:222")
    send(client, "telegram", telegram_update(telegram_message("/do in 1h tea")))

    assert client.items("/tasks") == []
    assert sent_texts(client, "telegram") == [
        "You may not run actions here, only set reminders. "
        "The operator can add telegram:111 to ChatActionAccess (local stack: CHAT_ACTION_ACCESS)."
    ]
    bob = {"from": {"id": 222, "is_bot": False}}
    send(
        client,
        "telegram",
        telegram_update(telegram_message("/do in 1h tea", **bob), update_id=2),
    )
    assert [task["type"] for task in client.items("/tasks")] == ["action"]


def test_a_queued_message_is_refused_once_its_sender_is_not_allowed(stack: StackOf) -> None:
    """Also what an earlier version of the webhook function queued, which checked nothing."""
    client = stack()
    body = {
        "channel": "telegram",
        "sender_id": "111",
        "reply_target": "111",
        "text": "/remind in 1h tea",
        "key": "1",
        "at": "2026-02-17T12:00:00.000Z",
    }
    record = {"messageId": "1", "body": json.dumps(body), "attributes": {}}
    client.stack.invoke("chat", {"Records": [record]})

    assert client.items("/tasks") == []
    assert sent_texts(client, "telegram") == [
        f"{MAY_NOT}add telegram:111 to ChatAccess{LOCAL_NOTE}."
    ]


def test_an_invalid_entry_closes_chat_and_tasks_still_run(stack: StackOf) -> None:
    client = stack(CHAT_ACCESS="*,@ada")
    client.create(description="tea", **{"in": "10s"})

    with pytest.raises(InvocationError, match=r"CHAT_ACCESS must list entries .*'@ada'"):
        client.stack.invoke("webhook", {"pathParameters": {"platform": "telegram"}})
    client.advance("11s")
    assert [sent["text"] for sent in client.outbox("ada")] == ["Reminder: tea"]


def test_a_forged_request_learns_nothing_about_who_is_allowed(stack: StackOf) -> None:
    client = stack(CHAT_ACCESS="telegram:111")
    request = a_command_request(client, "telegram")

    forged = post(client, request.with_header("x-telegram-bot-api-secret-token", "x"))
    assert forged.status == 401
    assert has_no_effect(client)
