"""Send plain text and inline buttons through Telegram's Bot API."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from duecourse.adapters.channels.api_client import ApiRequest, ApiResponse, ChatApiClient
from duecourse.adapters.channels.errors import (
    TOO_MANY_REQUESTS,
    ChatError,
    RateLimitedError,
    UnreadableResponseError,
    clean_message,
    token_refused,
)
from duecourse.adapters.channels.private_reply import send_private_reply
from duecourse.adapters.channels.rate_limiter import RateLimiter
from duecourse.adapters.channels.size_limits import (
    select_buttons,
    split_rows,
    truncate_text,
    utf16_length,
)
from duecourse.adapters.channels.telegram import LIMITS, NAME
from duecourse.adapters.http.json_response import text_at, value_at
from duecourse.domain.chat.chat_message import Button, ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import DuecourseError, RecipientGoneError
from duecourse.domain.failures.retry_after import parse_retry_after
from duecourse.ports.integrations import HttpPatchClient, TokenSource
from duecourse.ports.runtime import Clock

ENDPOINT = "https://api.telegram.org"
MAX_TOAST_LENGTH = 200
_BUTTONS_PER_ROW = 2
_BAD_REQUEST = 400
_FORBIDDEN = 403
_INVALID_TOKEN_STATUSES = (401, 404)
# Telegram reports these without codes, only as text.
_RECIPIENT_GONE = re.compile(
    r"chat not found|user not found|user is deactivated|group chat was (?:deactivated|deleted)"
    r"|PEER_ID_INVALID|CHAT_WRITE_FORBIDDEN|not enough rights to send|no rights to send a message"
    r"|need administrator rights in the channel chat|CHAT_RESTRICTED|USER_IS_BLOCKED",
    re.IGNORECASE,
)
_TOPIC_GONE = re.compile(r"message thread not found|TOPIC_(?:CLOSED|DELETED)", re.IGNORECASE)
# An @ inside a URL is not a mention.
_LINK_OR_MENTION = re.compile(r"(https?://[A-Za-z0-9.-]+/\S*)|(?<![A-Za-z0-9_])@(?=[A-Za-z0-9_])")
_WORD_JOINER = "\u2060"


class _ChatMovedError(ChatError):
    """The chat has the new id `chat_id`; if None, only its topic is gone."""

    def __init__(self, status: int, message: str, chat_id: int | None) -> None:
        super().__init__(NAME, status, message)
        self.chat_id = chat_id


class TelegramChannel:
    def __init__(
        self,
        http_client: HttpPatchClient,
        tokens: TokenSource,
        clock: Clock,
        *,
        endpoint: str = ENDPOINT,
    ) -> None:
        pace = RateLimiter(clock, min_interval=LIMITS.rest, max_per_second=LIMITS.most_a_second)
        self._api = ChatApiClient(NAME, http_client, tokens, clock, pace)
        self._endpoint = endpoint

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        del idempotency_key  # Telegram does not deduplicate messages
        self._post_message(target, content, deadline=self._api.deadline())

    def reply(self, message: Message, content: ChatMessage) -> None:
        """Reply to a message. A short reply to a button is shown as a toast to the person alone.

        If the toast has expired, the reply is a private message.
        """
        by, query = self._api.deadline(), message.reply_context.get("callback_query_id")
        if query is None:
            self._reply_late(message, content, target=message.late_reply_target, deadline=by)
        elif content.buttons or utf16_length(content.text) > MAX_TOAST_LENGTH:
            self._post_message(message.reply_target, content, deadline=by)
            with suppress(DuecourseError):  # only stops the button's spinner
                self._call("answerCallbackQuery", {"callback_query_id": query}, query, deadline=by)
        elif not self._try_show_toast(query, content.text, deadline=by):
            # Presses that older versions queued have no `private_target`.
            target = message.private_target or message.sender_id
            self._reply_late(message, content, target=target, deadline=by)

    def _reply_late(
        self, message: Message, content: ChatMessage, *, target: str, deadline: datetime
    ) -> None:
        def send(target: str, content: ChatMessage) -> None:
            self._post_message(target, content, deadline=deadline)

        send_private_reply(send, message, content, target=target)

    def _try_show_toast(self, callback_query_id: str, text: str, *, deadline: datetime) -> bool:
        """Return False if the press is too old for a toast."""
        body = {
            "callback_query_id": callback_query_id,
            "text": truncate_text(text, MAX_TOAST_LENGTH),
        }
        try:
            self._call("answerCallbackQuery", body, callback_query_id, deadline=deadline)
        except ChatError as error:
            if error.status != _BAD_REQUEST:
                raise
            return False
        return True

    def _post_message(self, target: str, content: ChatMessage, *, deadline: datetime) -> None:
        body = {**_target_fields(target), **_to_body(content)}
        try:
            self._call("sendMessage", body, str(body["chat_id"]), deadline=deadline)
        except _ChatMovedError as moved:
            body = _retarget(body, moved)
            self._call("sendMessage", body, str(body["chat_id"]), deadline=deadline)

    def _call(
        self, method: str, body: Mapping[str, Any], rate_limit_key: str, *, deadline: datetime
    ) -> None:
        token = self._api.get_token()
        url = f"{self._endpoint}/bot{token}/{method}"
        self._api.call(
            ApiRequest(url=url, body=body, rate_limit_key=rate_limit_key, secrets=(token,)),
            _parse_error,
            deadline=deadline,
        )


def _target_fields(target: str) -> dict[str, Any]:
    """Parse a target: a chat, or `chat:topic`."""
    chat, _, topic = target.partition(":")
    place: dict[str, Any] = {"chat_id": chat}
    if topic:
        place["message_thread_id"] = int(topic) if topic.isdecimal() else topic
    return place


def _retarget(body: Mapping[str, Any], moved: _ChatMovedError) -> dict[str, Any]:
    if moved.chat_id is not None:
        return {**body, "chat_id": moved.chat_id}
    return {name: value for name, value in body.items() if name != "message_thread_id"}


def _to_body(content: ChatMessage) -> dict[str, Any]:
    """Return the message's fields. Without a parse mode, Telegram does not parse markup."""
    body: dict[str, Any] = {
        "text": truncate_text(content.text, LIMITS.longest_text, neutralize_mentions),
        "link_preview_options": {"is_disabled": True},
    }
    if keyboard := _keyboard(content.buttons):
        body["reply_markup"] = {"inline_keyboard": keyboard}
    return body


def neutralize_mentions(text: str) -> str:
    """Insert an invisible character after each @, which mentions somebody even in plain text."""
    return _LINK_OR_MENTION.sub(lambda match: match[1] or f"@{_WORD_JOINER}", text)


def _keyboard(buttons: tuple[Button, ...]) -> list[list[dict[str, str]]]:
    return [
        [{"text": one.label, "callback_data": one.command} for one in row]
        for row in split_rows(select_buttons(buttons, LIMITS), _BUTTONS_PER_ROW)
    ]


def _parse_error(response: ApiResponse) -> DuecourseError | None:
    if response.is_success:
        is_own = response.body is not None and response.body.get("ok") is True
        return None if is_own else UnreadableResponseError(NAME, response.status)
    description, status = text_at(response.body, "description"), response.status
    if status == TOO_MANY_REQUESTS:
        return RateLimitedError(
            NAME,
            description,
            retry_after=parse_retry_after(value_at(response.body, "parameters", "retry_after")),
        )
    if status == _FORBIDDEN or (status == _BAD_REQUEST and _RECIPIENT_GONE.search(description)):
        return RecipientGoneError(NAME, clean_message(description), status=status)
    if status in _INVALID_TOKEN_STATUSES:
        return token_refused(NAME, description, status=status)
    return _to_moved_error(response, description) or ChatError(NAME, status, description)


def _to_moved_error(response: ApiResponse, message: str) -> ChatError | None:
    chat_id = value_at(response.body, "parameters", "migrate_to_chat_id")
    if isinstance(chat_id, int) and not isinstance(chat_id, bool):
        return _ChatMovedError(response.status, message, chat_id)
    return _ChatMovedError(response.status, message, None) if _TOPIC_GONE.search(message) else None
