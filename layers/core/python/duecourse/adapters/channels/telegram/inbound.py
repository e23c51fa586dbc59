"""Updates of Telegram's Bot API: what people write to the bot, and the buttons they press.

A group's talk is not ours: there, only what is plainly a command is taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from duecourse.adapters.channels.inbound import (
    InboundResult,
    require_match,
    require_secret,
    resolve_sent_at,
)
from duecourse.adapters.channels.telegram import NAME
from duecourse.adapters.http.json_reader import JsonReader
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.domain.chat.command_names import COMMAND_NAMES, REMIND_ME_PATTERN
from duecourse.domain.chat.message import Message
from duecourse.ports.integrations import Keys

SECRET_HEADER = "x-telegram-bot-api-secret-token"  # noqa: S105 - the name of a header
BOT_NAME_KEY = "telegram_bot_name"
_COMMAND = re.compile(r"\s*/(?P<word>[A-Za-z0-9_]+)(?:@(?P<bot>\w+))?(?=\s|$)", re.ASCII)
# Somebody else's words, or nobody's in particular: forwarded, of another bot, of a whole chat.
_FORWARDED_FIELDS = ("forward_origin", "forward_date", "via_bot", "sender_chat")


class TelegramInboundParser:
    """Where the keys do not tell our own name, a command for any bot counts as one for us. By
    itself, Telegram shows a bot no other bot's commands, unless it was let into the whole talk."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def parse(self, request: RawRequest, *, now: datetime) -> InboundResult:
        require_match(request.header(SECRET_HEADER), require_secret(self._keys, NAME))
        update = JsonReader(request.json_object())
        key = str(update.integer("update_id"))
        if update.has("callback_query"):
            return InboundResult(_button_message(update.child("callback_query"), key=key, at=now))
        if update.has("message"):
            message = update.child("message")
            return InboundResult(
                self._text_message(message, key=key, at=_sent_at(message, now=now))
            )
        return InboundResult()

    def _text_message(self, message: JsonReader, *, key: str, at: datetime) -> Message | None:
        sender, text = message.child("from"), message.text("text")
        if text is None or not message.has("from") or sender.is_true("is_bot"):
            return None
        if any(message.has(name) for name in _FORWARDED_FIELDS):
            return None
        meant = self._text_for_bot(text, is_private=message.child("chat").text("type") == "private")
        return None if meant is None else _to_message(sender, message, meant, key=key, at=at)

    def _text_for_bot(self, text: str, *, is_private: bool) -> str | None:
        """The text without a bot's name at its command; None where it is for somebody else."""
        command = _COMMAND.match(text)
        if command is None:
            return text if is_private or REMIND_ME_PATTERN.match(text) else None
        word, addressed = command["word"], (command["bot"] or "").lower()
        our_name = (self._keys.get(BOT_NAME_KEY) or "").removeprefix("@").lower()
        if addressed and our_name and addressed != our_name:
            return None
        is_ours = word.lower() in COMMAND_NAMES or (addressed and our_name)
        return f"/{word}{text[command.end() :]}" if is_private or is_ours else None


def _button_message(press: JsonReader, *, key: str, at: datetime) -> Message | None:
    """The message may be too old to be shown, but its chat is known. Only inline ones, which this
    bot never sends, have none."""
    text = press.text("data")
    if text is None or not press.has("message"):
        return None
    sender, message = press.child("from"), press.child("message")
    answer_to = {"callback_query_id": press.id("id")}
    return _to_message(sender, message, text, key=key, at=at, reply_context=answer_to)


def _to_message(
    sender: JsonReader,
    message: JsonReader,
    text: str,
    *,
    key: str,
    at: datetime,
    reply_context: Mapping[str, str] | None = None,
) -> Message:
    return Message(
        channel=NAME,
        sender_id=str(sender.integer("id")),
        reply_target=_to_target(message),
        text=text,
        dedup_key=key,
        sent_at=at,
        locale=sender.id_or_none("language_code"),
        is_private=message.child("chat").text("type") == "private",
        reply_context=reply_context or {},
    )


def _to_target(message: JsonReader) -> str:
    """A chat; in a forum, the topic in it."""
    chat = message.child("chat").integer("id")
    if not message.is_true("is_topic_message"):
        return str(chat)
    return f"{chat}:{message.integer('message_thread_id')}"


def _sent_at(message: JsonReader, *, now: datetime) -> datetime:
    return resolve_sent_at(message.integer("date") if message.has("date") else None, now=now)
