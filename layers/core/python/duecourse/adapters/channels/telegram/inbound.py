"""Updates of Telegram's Bot API: what people write to the bot, and the buttons they press.

A group's talk is not ours: there, only what is plainly a command is taken.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

from duecourse.adapters.channels.inbound import Heard, require_same, require_secret, said_at
from duecourse.adapters.channels.telegram import NAME
from duecourse.adapters.http.json_reader import JsonPart
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.domain.chat.command_names import COMMANDS, REMIND_ME
from duecourse.domain.chat.message import Message
from duecourse.ports.integrations import Keys

SECRET_HEADER = "x-telegram-bot-api-secret-token"  # noqa: S105 - the name of a header
BOT_NAME_KEY = "telegram_bot_name"
_COMMAND = re.compile(r"\s*/(?P<word>[A-Za-z0-9_]+)(?:@(?P<bot>\w+))?(?=\s|$)", re.ASCII)
# Somebody else's words, or nobody's in particular: forwarded, of another bot, of a whole chat.
_NOT_THEIR_OWN = ("forward_origin", "forward_date", "via_bot", "sender_chat")


class TelegramIncoming:
    """Where the keys do not tell our own name, a command for any bot counts as one for us. By
    itself, Telegram shows a bot no other bot's commands, unless it was let into the whole talk."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys

    def hear(self, request: RawRequest, *, now: datetime) -> Heard:
        require_same(request.header(SECRET_HEADER), require_secret(self._keys, NAME))
        update = JsonPart(request.json_object())
        key = str(update.number("update_id"))
        if update.has("callback_query"):
            return Heard(_pressed(update.part("callback_query"), key=key, at=now))
        if update.has("message"):
            message = update.part("message")
            return Heard(self._said(message, key=key, at=_moment(message, now=now)))
        return Heard()

    def _said(self, message: JsonPart, *, key: str, at: datetime) -> Message | None:
        sender, text = message.part("from"), message.text("text")
        if text is None or not message.has("from") or sender.is_true("is_bot"):
            return None
        if any(message.has(name) for name in _NOT_THEIR_OWN):
            return None
        meant = self._meant_for_us(text, is_private=message.part("chat").text("type") == "private")
        return None if meant is None else _message(sender, message, meant, key=key, at=at)

    def _meant_for_us(self, text: str, *, is_private: bool) -> str | None:
        """The text without a bot's name at its command; None where it is for somebody else."""
        command = _COMMAND.match(text)
        if command is None:
            return text if is_private or REMIND_ME.match(text) else None
        word, addressed = command["word"], (command["bot"] or "").lower()
        our_name = (self._keys.get(BOT_NAME_KEY) or "").removeprefix("@").lower()
        if addressed and our_name and addressed != our_name:
            return None
        is_ours = word.lower() in COMMANDS or (addressed and our_name)
        return f"/{word}{text[command.end() :]}" if is_private or is_ours else None


def _pressed(press: JsonPart, *, key: str, at: datetime) -> Message | None:
    """The message may be too old to be shown, but its chat is known. Only inline ones, which this
    bot never sends, have none."""
    text = press.text("data")
    if text is None or not press.has("message"):
        return None
    sender, message = press.part("from"), press.part("message")
    answer_to = {"callback_query_id": press.id("id")}
    return _message(sender, message, text, key=key, at=at, answer_to=answer_to)


def _message(
    sender: JsonPart,
    message: JsonPart,
    text: str,
    *,
    key: str,
    at: datetime,
    answer_to: Mapping[str, str] | None = None,
) -> Message:
    return Message(
        channel=NAME,
        sender_id=str(sender.number("id")),
        reply_target=_place(message),
        text=text,
        key=key,
        at=at,
        locale=sender.id_or_none("language_code"),
        is_private=message.part("chat").text("type") == "private",
        answer_to=answer_to or {},
    )


def _place(message: JsonPart) -> str:
    """A chat; in a forum, the topic in it."""
    chat = message.part("chat").number("id")
    if not message.is_true("is_topic_message"):
        return str(chat)
    return f"{chat}:{message.number('message_thread_id')}"


def _moment(message: JsonPart, *, now: datetime) -> datetime:
    return said_at(message.number("date") if message.has("date") else None, now=now)
