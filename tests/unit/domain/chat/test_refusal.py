"""The reply to strangers: it says what to add, and comes rarely."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.chat.access import ChatAccess
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.refusal import (
    MAX_REPLIES,
    REPLY_INTERVAL,
    RefusalLimiter,
    action_refusal_text,
    refusal_text,
)
from duecourse.domain.chat.teams import HomeTeams

from tests.support.builders.chat import a_message
from tests.support.builders.moments import NOW

TOAST_LIMIT = 200  # of Telegram, for the answer to a button


CLOSED = ChatAccess(team_words={"console": None, "telegram": None, "slack": "team"})


def a_stranger(chat: str = "5", **fields: Any) -> Message:
    return a_message(channel="telegram", sender_id="5", reply_target=chat, **fields)


def test_the_reply_names_the_entry_to_add() -> None:
    text = refusal_text(a_stranger(), CLOSED)

    assert text == (
        "You may not use this bot yet. Its operator can add telegram:5 to ChatAccess"
        " (local stack: CHAT_ACCESS)."
    )
    assert action_refusal_text(a_stranger(), CLOSED).endswith(
        "add telegram:5 to ChatActionAccess (local stack: CHAT_ACTION_ACCESS)."
    )


@pytest.mark.parametrize(
    ("channel", "sender_id"), [("log", "ada"), ("console", "Ada Lovelace"), ("console", "chat")]
)
def test_an_entry_that_is_not_valid_is_not_suggested(channel: str, sender_id: str) -> None:
    message = a_message(channel=channel, sender_id=sender_id, is_private=False)

    assert refusal_text(message, CLOSED) == (
        "You may not use this bot yet. Its operator can change ChatAccess"
        " (local stack: CHAT_ACCESS)."
    )
    assert action_refusal_text(message, CLOSED).endswith(
        "The operator can change ChatActionAccess (local stack: CHAT_ACTION_ACCESS)."
    )


def test_in_a_group_the_reply_also_names_the_chat() -> None:
    text = refusal_text(a_stranger("-1001234567890", is_private=False), CLOSED)

    assert "add telegram:5, or telegram:chat:-1001234567890 for this chat, to ChatAccess" in text
    assert len(text) <= TOAST_LIMIT


def test_without_a_home_team_the_reply_names_it_too() -> None:
    message = a_message(channel="slack", sender_id="T1:U1", team="T1")

    assert refusal_text(message, CLOSED).endswith(
        "add slack:T1:U1 to ChatAccess and add slack:T1 to HomeTeams"
        " (local stack: CHAT_ACCESS, HOME_TEAMS)."
    )
    decided = replace(CLOSED, home_teams=HomeTeams({"slack": None}))
    assert refusal_text(message, decided).endswith(
        "add slack:T1:U1 to ChatAccess (local stack: CHAT_ACCESS)."
    )


def test_a_chat_gets_one_reply_an_hour() -> None:
    limiter = RefusalLimiter()
    later = NOW + REPLY_INTERVAL

    assert limiter.may_reply(a_stranger(), now=NOW)
    assert not limiter.may_reply(a_stranger(), now=later - timedelta(seconds=1))
    assert limiter.may_reply(a_stranger(), now=later)


def test_all_chats_together_get_a_hundred_replies_an_hour() -> None:
    limiter = RefusalLimiter()
    replied = [limiter.may_reply(a_stranger(str(n)), now=NOW) for n in range(1_000)]

    assert replied.count(True) == MAX_REPLIES == 100
    assert limiter.may_reply(a_stranger("later"), now=NOW + REPLY_INTERVAL)
