"""Parse updates of Telegram's Bot API: messages to the bot, and pressed buttons.

In groups, only clear commands are accepted; other messages are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from duecourse.adapters.channels.inbound import InboundResult, RefusalResponse, resolve_sent_at
from duecourse.adapters.channels.telegram import NAME
from duecourse.adapters.channels.telegram.secret_token import verify_secret_token
from duecourse.adapters.http.json_reader import JsonReader
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.domain.access.key_rotation import list_keys
from duecourse.domain.chat.command_names import COMMAND_NAMES, REMIND_ME_PATTERN
from duecourse.domain.chat.message import Message
from duecourse.ports.integrations import RotatingKeys

BOT_NAME_KEY = "telegram_bot_name"
_COMMAND = re.compile(r"\s*/(?P<word>[A-Za-z0-9_]+)(?:@(?P<bot>\w+))?(?=\s|$)", re.ASCII)
# Not written by the sender: forwarded, sent through another bot, or as a whole chat.
_FORWARDED_FIELDS = ("forward_origin", "forward_date", "via_bot", "sender_chat")


class TelegramInboundParser:
    """Without a configured bot name, commands addressed to any bot are accepted.

    Telegram does not deliver other bots' commands, unless the bot may read all messages.
    """

    def __init__(self, keys: RotatingKeys) -> None:
        self._keys = keys

    def parse(self, request: RawRequest, *, now: datetime) -> InboundResult:
        verify_secret_token(request, self._keys)
        update = JsonReader(request.json_object())
        key = str(update.integer("update_id"))
        if update.has("callback_query"):
            press = update.child("callback_query")
            return _to_result(_button_message(press, key=key, at=now))
        if update.has("message"):
            message = update.child("message")
            return _to_result(self._text_message(message, key=key, at=_sent_at(message, now=now)))
        return InboundResult()

    def _text_message(self, message: JsonReader, *, key: str, at: datetime) -> Message | None:
        sender, text = message.child("from"), message.text("text")
        if text is None or not message.has("from") or sender.is_true("is_bot"):
            return None
        if any(message.has(name) for name in _FORWARDED_FIELDS):
            return None
        is_private = message.child("chat").text("type") == "private"
        command = self._text_for_bot(text, is_private=is_private)
        return None if command is None else _to_message(sender, message, command, key=key, at=at)

    def _text_for_bot(self, text: str, *, is_private: bool) -> str | None:
        """Return the text without the bot's name, or None if it is not addressed to this bot."""
        command = _COMMAND.match(text)
        if command is None:
            return text if is_private or REMIND_ME_PATTERN.match(text) else None
        word, addressed = command["word"], (command["bot"] or "").lower()
        our_names = [
            name.removeprefix("@").lower() for name in list_keys(self._keys.get(BOT_NAME_KEY))
        ]
        if addressed and our_names and addressed not in our_names:
            return None
        is_ours = word.lower() in COMMAND_NAMES or (addressed and our_names)
        return f"/{word}{text[command.end() :]}" if is_private or is_ours else None


def _to_result(message: Message | None) -> InboundResult:
    if message is None:
        return InboundResult()
    refusal = RefusalResponse(partial(_refusal_call, message), is_limited=True)
    return InboundResult(message, refusal=refusal)


def _refusal_call(message: Message, text: str) -> Mapping[str, Any]:
    """Return a call of the Bot API. Telegram carries out one that a webhook's response holds."""
    if press := message.reply_context.get("callback_query_id"):
        return {"method": "answerCallbackQuery", "callback_query_id": press, "text": text}
    chat, _, topic = message.reply_target.partition(":")
    place = {"chat_id": int(chat), **({"message_thread_id": int(topic)} if topic else {})}
    return {"method": "sendMessage", **place, "text": text}


def _button_message(press: JsonReader, *, key: str, at: datetime) -> Message | None:
    """Return the message of a pressed button, or None for inline messages, which have no chat.

    The button's message may be too old to be included, but its chat is. This bot sends no inline
    messages.
    """
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
        private_target=str(sender.integer("id")) if reply_context else None,
        reply_context=reply_context or {},
    )


def _to_target(message: JsonReader) -> str:
    """Return the chat's id, or `chat:topic` in a forum."""
    chat = message.child("chat").integer("id")
    if not message.is_true("is_topic_message"):
        return str(chat)
    return f"{chat}:{message.integer('message_thread_id')}"


def _sent_at(message: JsonReader, *, now: datetime) -> datetime:
    return resolve_sent_at(message.integer("date") if message.has("date") else None, now=now)
