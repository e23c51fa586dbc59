"""Discord's interactions: commands and buttons, each of which is answered by its own token."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from typing import Any

from duecourse.adapters.channels.discord import EPHEMERAL, NAME
from duecourse.adapters.channels.inbound import Heard, require_recent, require_secret
from duecourse.adapters.http.json_reader import TEXT_LIMIT, JsonPart
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.adapters.http.request_errors import NotVerifiedError
from duecourse.domain.chat.command_names import as_command
from duecourse.domain.chat.message import Message
from duecourse.ports.integrations import Keys

SIGNATURE_HEADER = "x-signature-ed25519"
TIMESTAMP_HEADER = "x-signature-timestamp"
_PONG = {"type": 1}
_PRESSED = {"type": 6}
_NO_CHOICES = {"type": 8, "data": {"choices": []}}
_NOTHING_DONE = {"type": 4, "data": {"content": "Nothing was done.", "flags": EPHEMERAL}}
_SUBCOMMANDS = (1, 2)
_THREADS = (10, 11, 12)  # of announcements, public, private
_COME_FIRST = ("id", "when")  # people may fill in the options of a command in any order
_KEY = re.compile(r"[0-9a-fA-F]{64}")
_SIGNATURE = re.compile(r"[0-9a-fA-F]{128}")
_TOKEN = re.compile(r"[\w.~=+:-]{1,1000}", re.ASCII)


class Interaction(IntEnum):
    PING = 1
    COMMAND = 2
    BUTTON = 3
    AUTOCOMPLETE = 4
    FORM = 5


class DiscordIncoming:
    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def hear(self, request: RawRequest, *, now: datetime) -> Heard:
        self._verify(request, now=now)
        interaction = JsonPart(request.json_object())
        match interaction.number("type"):
            case Interaction.PING:
                return Heard(reply=_PONG)
            case Interaction.COMMAND:
                text = _command(interaction.part("data"))
                return Heard(_message(interaction, text, at=now), _deferred(interaction))
            case Interaction.BUTTON:
                text = _button(interaction.part("data"))
                return Heard(_message(interaction, text, at=now, is_press=True), _PRESSED)
            case Interaction.AUTOCOMPLETE:
                return Heard(reply=_NO_CHOICES)
            case Interaction.FORM:
                return Heard(reply=_NOTHING_DONE)
        raise interaction.refusal("type", "is none that is known")

    def _verify(self, request: RawRequest, *, now: datetime) -> None:
        """Raises NotVerifiedError. Discord itself tries out whether a wrong one is refused."""
        key = require_secret(self._keys, NAME)
        signature = request.header(SIGNATURE_HEADER)
        timestamp = request.header(TIMESTAMP_HEADER)
        require_recent(timestamp, now=now)
        if not (_KEY.fullmatch(key) and _SIGNATURE.fullmatch(signature)):
            raise NotVerifiedError("the key or the proof cannot be one")
        _require_signed(key, signature, timestamp.encode() + request.body)


def _require_signed(key: str, signature: str, content: bytes) -> None:
    # Loaded here: no other platform needs it, and it is the largest part of a cold start.
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(
            bytes.fromhex(signature), content
        )
    except (InvalidSignature, ValueError):
        raise NotVerifiedError("the proof is wrong") from None


def _command(data: JsonPart) -> str:
    """The options' values after the command's name, or after that of the innermost subcommand."""
    named, options = data, data.parts("options")
    while options and options[0].has("type") and options[0].number("type") in _SUBCOMMANDS:
        named, options = options[0], options[0].parts("options")
    name = named.text("name")
    if not name:
        raise named.refusal("name", "must be a text that is not empty")
    ordered = sorted(options, key=lambda option: option.text("name") not in _COME_FIRST)
    return as_command(name, " ".join(option.shown("value") for option in ordered))[:TEXT_LIMIT]


def _button(data: JsonPart) -> str:
    text = data.text("custom_id")
    if not text:
        raise data.refusal("custom_id", "must be a text that is not empty")
    return text


def _message(interaction: JsonPart, text: str, *, at: datetime, is_press: bool = False) -> Message:
    """Among others the sender is told as a member, in private as a user."""
    sender = interaction.part("member") if interaction.has("member") else interaction
    return Message(
        channel=NAME,
        sender_id=sender.part("user").id("id"),
        reply_target=interaction.id("channel_id"),
        text=text,
        key=interaction.id("id"),
        at=at,
        locale=interaction.id_or_none("locale"),
        said_in=_thread(interaction),
        answer_to=_answer_to(interaction) | ({"is_press": "1"} if is_press else {}),
    )


def _thread(interaction: JsonPart) -> str | None:
    """After the channel that it belongs to; None outside of threads."""
    channel = interaction.part("channel")
    if not channel.has("type") or channel.number("type") not in _THREADS:
        return None
    parent = channel.id_if_any("parent_id")
    return f"{parent}:{interaction.id('channel_id')}" if parent else None


def _answer_to(interaction: JsonPart) -> dict[str, str]:
    """The token opens the way to the answer, for a quarter of an hour."""
    token = interaction.text("token") or ""
    if not _TOKEN.fullmatch(token):
        raise interaction.refusal("token", "is none")
    return {"application_id": interaction.id("application_id"), "interaction_token": token}


def _deferred(interaction: JsonPart) -> Mapping[str, Any]:
    """The answer comes later; of what was asked among others, only the sender sees it."""
    is_among_others = interaction.has("guild_id")
    return {"type": 5, "data": {"flags": EPHEMERAL}} if is_among_others else {"type": 5}
