"""Parse Discord interactions (commands and buttons). Each has a token for its reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from typing import Any

from duecourse.adapters.channels.discord import EPHEMERAL, NAME, USER_PREFIX
from duecourse.adapters.channels.discord.signature import verify_signature
from duecourse.adapters.channels.inbound import InboundResult, RefusalResponse
from duecourse.adapters.http.json_reader import TEXT_LIMIT, JsonReader
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.domain.chat.command_names import to_command_text
from duecourse.domain.chat.message import Message
from duecourse.ports.integrations import RotatingKeys

_PONG = {"type": 1}
_DEFERRED_UPDATE = {"type": 6}
_NO_CHOICES = {"type": 8, "data": {"choices": []}}
_SUBCOMMAND_TYPES = (1, 2)
_BOT_DIRECT_MESSAGE = 1  # the context of an interaction that only its sender and the bot see
_THREAD_TYPES = (10, 11, 12)  # announcement, public, private
_LEADING_OPTIONS = ("id", "when")  # users may fill in a command's options in any order
_TOKEN_PATTERN = re.compile(r"[\w.~=+:-]{1,1000}", re.ASCII)


def _ephemeral_response(text: str) -> Mapping[str, Any]:
    """Return a response that only the sender sees."""
    return {"type": 4, "data": {"content": text, "flags": EPHEMERAL}}


_FORM_IGNORED = _ephemeral_response("This form has no function.")
_REFUSAL = RefusalResponse(_ephemeral_response)


class Interaction(IntEnum):
    PING = 1
    COMMAND = 2
    BUTTON = 3
    AUTOCOMPLETE = 4
    FORM = 5


class DiscordInboundParser:
    def __init__(self, keys: RotatingKeys) -> None:
        self._keys = keys

    def parse(self, request: RawRequest, *, now: datetime) -> InboundResult:
        verify_signature(request, self._keys, now=now)
        interaction = JsonReader(request.json_object())
        match interaction.integer("type"):
            case Interaction.PING:
                return InboundResult(reply=_PONG)
            case Interaction.COMMAND:
                text = _command_text(interaction.child("data"))
                return InboundResult(
                    _to_message(interaction, text, at=now),
                    _deferred_response(interaction),
                    _REFUSAL,
                )
            case Interaction.BUTTON:
                text = _button_text(interaction.child("data"))
                return InboundResult(
                    _to_message(interaction, text, at=now, is_button=True),
                    _DEFERRED_UPDATE,
                    _REFUSAL,
                )
            case Interaction.AUTOCOMPLETE:
                return InboundResult(reply=_NO_CHOICES)
            case Interaction.FORM:
                return InboundResult(reply=_FORM_IGNORED)
        raise interaction.error_for("type", "is none that is known")


def _command_text(data: JsonReader) -> str:
    """Return the innermost command's name followed by the values of its options."""
    named, options = data, data.children("options")
    while options and options[0].has("type") and options[0].integer("type") in _SUBCOMMAND_TYPES:
        named, options = options[0], options[0].children("options")
    name = named.text("name")
    if not name:
        raise named.error_for("name", "must be a text that is not empty")
    ordered = sorted(options, key=lambda option: option.text("name") not in _LEADING_OPTIONS)
    return to_command_text(name, " ".join(option.scalar_text("value") for option in ordered))[
        :TEXT_LIMIT
    ]


def _button_text(data: JsonReader) -> str:
    text = data.text("custom_id")
    if not text:
        raise data.error_for("custom_id", "must be a text that is not empty")
    return text


def _to_message(
    interaction: JsonReader, text: str, *, at: datetime, is_button: bool = False
) -> Message:
    """Return the message. The sender is `member.user` on a server, `user` in a direct message."""
    sender = interaction.child("member") if interaction.has("member") else interaction
    user_id = sender.child("user").id("id")
    return Message(
        channel=NAME,
        sender_id=user_id,
        reply_target=interaction.id("channel_id"),
        text=text,
        dedup_key=interaction.id("id"),
        sent_at=at,
        locale=interaction.id_or_none("locale"),
        source_chat=_thread_target(interaction),
        team=interaction.optional_id("guild_id"),
        private_target=f"{USER_PREFIX}{user_id}",
        reply_context=_reply_context(interaction) | ({"is_press": "1"} if is_button else {}),
    )


def _thread_target(interaction: JsonReader) -> str | None:
    """Return `parent:thread` for a message in a thread, else None."""
    channel = interaction.child("channel")
    if not channel.has("type") or channel.integer("type") not in _THREAD_TYPES:
        return None
    parent = channel.optional_id("parent_id")
    return f"{parent}:{interaction.id('channel_id')}" if parent else None


def _reply_context(interaction: JsonReader) -> dict[str, str]:
    """Return what a reply needs. The token is valid for 15 minutes."""
    token = interaction.text("token") or ""
    if not _TOKEN_PATTERN.fullmatch(token):
        raise interaction.error_for("token", "is none")
    return {"application_id": interaction.id("application_id"), "interaction_token": token}


def _deferred_response(interaction: JsonReader) -> Mapping[str, Any]:
    """Tell Discord that the reply follows. Among others, only the sender will see it.

    Others read servers, group chats, and direct messages of two people who both are not the bot.
    """
    context = interaction.integer("context") if interaction.has("context") else None
    is_among_others = interaction.has("guild_id") or context not in (None, _BOT_DIRECT_MESSAGE)
    return {"type": 5, "data": {"flags": EPHEMERAL}} if is_among_others else {"type": 5}
