"""Telegram's Bot API, to the chats it is told: plain text, and buttons below it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from duecourse.adapters.channels.api_client import ChatApi, Reply, Request
from duecourse.adapters.channels.errors import (
    TOO_MANY,
    ChatError,
    FloodError,
    UnreadableError,
    words,
)
from duecourse.adapters.channels.rate_limiter import Pace
from duecourse.adapters.channels.size_limits import fitted, pressable, rows, size
from duecourse.adapters.channels.telegram import LIMITS, NAME
from duecourse.adapters.http.json_response import at, text_at
from duecourse.domain.chat.chat_message import Button, Saying
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import DuecourseError, RecipientGoneError
from duecourse.domain.failures.retry_after import read_wait
from duecourse.ports.integrations import Keys, Patcher
from duecourse.ports.runtime import Clock

ENDPOINT = "https://api.telegram.org"
LONGEST_TOAST = 200
_IN_A_ROW = 2
_REFUSED = 400
_FORBIDDEN = 403
_WRONG_TOKEN = (401, 404)
# Telegram has no codes for these.
_GONE = re.compile(
    r"chat not found|user not found|user is deactivated|group chat was (?:deactivated|deleted)"
    r"|PEER_ID_INVALID|CHAT_WRITE_FORBIDDEN|not enough rights to send|no rights to send a message"
    r"|need administrator rights in the channel chat|CHAT_RESTRICTED|USER_IS_BLOCKED",
    re.IGNORECASE,
)
_NO_TOPIC = re.compile(r"message thread not found|TOPIC_(?:CLOSED|DELETED)", re.IGNORECASE)
# In an address, an @ calls nobody.
_LINK_OR_MENTION = re.compile(r"(https?://[A-Za-z0-9.-]+/\S*)|(?<![A-Za-z0-9_])@(?=[A-Za-z0-9_])")
_WORD_JOINER = "\u2060"


class _MovedError(ChatError):
    """`chat_id`: where the chat is by now; None where only its topic is gone."""

    def __init__(self, status: int, said: str, chat_id: int | None) -> None:
        super().__init__(NAME, status, said)
        self.chat_id = chat_id


class TelegramChannel:
    def __init__(
        self, poster: Patcher, tokens: Keys, clock: Clock, *, endpoint: str = ENDPOINT
    ) -> None:
        pace = Pace(clock, rest=LIMITS.rest, most_a_second=LIMITS.most_a_second)
        self._api = ChatApi(NAME, poster, tokens, clock, pace)
        self._endpoint = endpoint

    def send(self, target: str, saying: Saying, *, key: str) -> None:
        del key  # Telegram has no memory to drop repeats by
        self._say(target, saying, by=self._api.deadline())

    def answer(self, message: Message, saying: Saying) -> None:
        """Whoever pressed a button sees a short answer alone, in passing."""
        by, query = self._api.deadline(), message.answer_to.get("callback_query_id")
        if query is None:
            self._say(message.reply_target, saying, by=by)
        elif saying.buttons or size(saying.text) > LONGEST_TOAST:
            self._say(message.reply_target, saying, by=by)
            with suppress(DuecourseError):  # it only ends the button's waiting
                self._ask("answerCallbackQuery", {"callback_query_id": query}, query, by=by)
        elif not self._is_shown(query, saying.text, by=by):
            self._say(message.reply_target, saying, by=by)

    def _is_shown(self, query: str, text: str, *, by: datetime) -> bool:
        """False for a press of too long ago, of which somebody wants to know nevertheless."""
        body = {"callback_query_id": query, "text": fitted(text, LONGEST_TOAST)}
        try:
            self._ask("answerCallbackQuery", body, query, by=by)
        except ChatError as error:
            if error.status != _REFUSED:
                raise
            return False
        return True

    def _say(self, target: str, saying: Saying, *, by: datetime) -> None:
        body = {**_place(target), **_said(saying)}
        try:
            self._ask("sendMessage", body, str(body["chat_id"]), by=by)
        except _MovedError as moved:
            body = _moved(body, moved)
            self._ask("sendMessage", body, str(body["chat_id"]), by=by)

    def _ask(self, method: str, body: Mapping[str, Any], lane: str, *, by: datetime) -> None:
        token = self._api.token()
        url = f"{self._endpoint}/bot{token}/{method}"
        self._api.ask(Request(url=url, body=body, lane=lane, secrets=(token,)), _trouble, by=by)


def _place(target: str) -> dict[str, Any]:
    """A chat, or `chat:topic`."""
    chat, _, topic = target.partition(":")
    place: dict[str, Any] = {"chat_id": chat}
    if topic:
        place["message_thread_id"] = int(topic) if topic.isdecimal() else topic
    return place


def _moved(body: Mapping[str, Any], moved: _MovedError) -> dict[str, Any]:
    if moved.chat_id is not None:
        return {**body, "chat_id": moved.chat_id}
    return {name: value for name, value in body.items() if name != "message_thread_id"}


def _said(saying: Saying) -> dict[str, Any]:
    """Without a parse mode nothing in the text is markup."""
    said: dict[str, Any] = {
        "text": fitted(saying.text, LIMITS.longest_text, without_mentions),
        "link_preview_options": {"is_disabled": True},
    }
    if keyboard := _keyboard(saying.buttons):
        said["reply_markup"] = {"inline_keyboard": keyboard}
    return said


def without_mentions(text: str) -> str:
    """A name after an @ would be called, in plain text as well: an invisible mark parts them."""
    return _LINK_OR_MENTION.sub(lambda found: found[1] or f"@{_WORD_JOINER}", text)


def _keyboard(buttons: tuple[Button, ...]) -> list[list[dict[str, str]]]:
    return [
        [{"text": one.label, "callback_data": one.says} for one in row]
        for row in rows(pressable(buttons, LIMITS), _IN_A_ROW)
    ]


def _trouble(reply: Reply) -> DuecourseError | None:
    if reply.is_yes:
        is_own = reply.said is not None and reply.said.get("ok") is True
        return None if is_own else UnreadableError(NAME, reply.status)
    said, status = text_at(reply.said, "description"), reply.status
    if status == TOO_MANY:
        return FloodError(NAME, said, wait=read_wait(at(reply.said, "parameters", "retry_after")))
    if status == _FORBIDDEN or (status == _REFUSED and _GONE.search(said)):
        return RecipientGoneError(NAME, words(said), status=status)
    if status in _WRONG_TOKEN:
        return ChatError(NAME, status, f"{said} (is the token right?)", code="invalid_token")
    return _elsewhere(reply, said) or ChatError(NAME, status, said)


def _elsewhere(reply: Reply, said: str) -> ChatError | None:
    chat_id = at(reply.said, "parameters", "migrate_to_chat_id")
    if isinstance(chat_id, int) and not isinstance(chat_id, bool):
        return _MovedError(reply.status, said, chat_id)
    return _MovedError(reply.status, said, None) if _NO_TOPIC.search(said) else None
