"""Send through Discord's API: to channels as the bot, to interactions by their tokens."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from duecourse.adapters.channels.api_client import ApiRequest, ApiResponse, ChatApiClient
from duecourse.adapters.channels.discord import EPHEMERAL, LIMITS, NAME, USER_PREFIX
from duecourse.adapters.channels.discord.markdown import escape_markdown
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
from duecourse.adapters.channels.size_limits import select_buttons, split_rows, truncate_text
from duecourse.adapters.http.json_response import name_at, text_at, value_at
from duecourse.domain.chat.chat_message import Button, ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import DuecourseError, RecipientGoneError
from duecourse.domain.failures.retry_after import parse_retry_after
from duecourse.domain.http.exchange import NoResponseError, NotSentError
from duecourse.domain.origin import Effect
from duecourse.ports.integrations import HttpPatchClient, TokenSource
from duecourse.ports.runtime import Clock
from duecourse.version import __version__

ENDPOINT = "https://discord.com/api/v10"
_USER_AGENT_HEADER = {
    "User-Agent": f"DiscordBot (duecourse, {__version__})"
}  # Discord rejects other user agents
_ID_PATTERN = re.compile(r"\d{1,20}", re.ASCII)
_BUTTONS_PER_ROW = 5
_ROW_TYPE, _BUTTON_TYPE, _GREY_STYLE = 1, 2, 2
_SUPPRESS_EMBEDS = 4
_NONCE_LENGTH = 25
_UNAUTHORIZED = 401
_EXPIRED_STATUSES = (401, 404)
_RECIPIENT_GONE_CODES = frozenset(
    {
        "10003",  # unknown channel
        "10004",  # unknown server
        "10013",  # unknown user
        "50001",  # missing access
        "50007",  # cannot write to this user
        "50008",  # not a channel for texts
        "50013",  # missing permissions
        "50024",  # not that kind of channel
        "50278",  # no server in common
    }
)


class DiscordChannel:
    def __init__(
        self,
        http_client: HttpPatchClient,
        tokens: TokenSource,
        clock: Clock,
        *,
        endpoint: str = ENDPOINT,
    ) -> None:
        self._api = ChatApiClient(NAME, http_client, tokens, clock, RateLimiter(clock))
        self._endpoint = endpoint

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        self._post_message(target, content, key=idempotency_key, deadline=self._api.deadline())

    def reply(self, message: Message, content: ChatMessage) -> None:
        """Replace a command's placeholder, or post next to a pressed button.

        Only the sender sees either. If the interaction has expired, the reply is a direct message.
        """
        by = self._api.deadline()
        if message.reply_context and self._try_reply(message.reply_context, content, deadline=by):
            return

        def send(target: str, content: ChatMessage) -> None:
            self._post_message(target, content, key=message.dedup_key, deadline=by)

        send_private_reply(send, message, content, target=_late_reply_target(message))

    def _post_message(
        self, target: str, content: ChatMessage, *, key: str, deadline: datetime
    ) -> None:
        if target.startswith(USER_PREFIX):
            user = _require_id(target.removeprefix(USER_PREFIX), "user")
            target = self._open_direct_messages(user, deadline=deadline)
        channel = _require_id(target, "channel")
        body = {**_to_body(content), "nonce": _nonce(channel, key), "enforce_nonce": True}
        self._call_as_bot(f"channels/{channel}/messages", body, key=channel, deadline=deadline)

    def _open_direct_messages(self, user_id: str, *, deadline: datetime) -> str:
        """Return the channel of the direct messages with a person. Opening it again is harmless."""
        body = {"recipient_id": user_id}
        try:
            response = self._call_as_bot("users/@me/channels", body, key=user_id, deadline=deadline)
        except NoResponseError as error:
            raise NotSentError(str(error), code=error.code) from error
        except ChatError as error:
            error.effect = Effect.NONE  # the message itself was not sent
            raise
        channel = name_at(response.body, "id") or ""
        if not _ID_PATTERN.fullmatch(channel):
            raise ChatError(NAME, response.status, "no channel's id", code="bad_answer")
        return channel

    def _call_as_bot(
        self, path: str, body: Mapping[str, Any], *, key: str, deadline: datetime
    ) -> ApiResponse:
        token = self._api.get_token()
        request = ApiRequest(
            url=f"{self._endpoint}/{path}",
            headers={"Authorization": f"Bot {token}", **_USER_AGENT_HEADER},
            body=body,
            rate_limit_key=key,
            secrets=(token,),
        )
        return self._api.call(request, _parse_bot_error, deadline=deadline)

    def _try_reply(
        self, reply_context: Mapping[str, str], content: ChatMessage, *, deadline: datetime
    ) -> bool:
        """Return False if the interaction, which lasts 15 minutes, has expired."""
        application, token = (
            reply_context.get("application_id", ""),
            reply_context.get("interaction_token", ""),
        )
        is_press = bool(reply_context.get("is_press"))
        hook = f"{self._endpoint}/webhooks/{quote(application, safe='')}/{quote(token, safe='')}"
        request = ApiRequest(
            url=hook if is_press else f"{hook}/messages/@original",
            headers=_USER_AGENT_HEADER,
            body=_to_body(content, flags=EPHEMERAL if is_press else 0),
            rate_limit_key=hook,
            secrets=(token,),
            is_edit=not is_press,
        )
        try:
            self._api.call(request, _parse_error, deadline=deadline)
        except RecipientGoneError:
            return False
        except ChatError as error:
            if error.status not in _EXPIRED_STATUSES:
                raise
            return False
        return True


def _to_body(content: ChatMessage, *, flags: int = 0) -> dict[str, Any]:
    body: dict[str, Any] = {
        "content": truncate_text(content.text, LIMITS.longest_text, escape_markdown),
        "allowed_mentions": {"parse": []},
        "flags": _SUPPRESS_EMBEDS | flags,
    }
    if components := _components(content.buttons):
        body["components"] = components
    return body


def _components(buttons: tuple[Button, ...]) -> list[dict[str, Any]]:
    return [
        {"type": _ROW_TYPE, "components": [_to_component(one) for one in row]}
        for row in split_rows(select_buttons(buttons, LIMITS), _BUTTONS_PER_ROW)
    ]


def _to_component(button: Button) -> dict[str, Any]:
    return {
        "type": _BUTTON_TYPE,
        "style": _GREY_STYLE,
        "label": button.label,
        "custom_id": button.command,
    }


def _late_reply_target(message: Message) -> str:
    """Return where the reply goes after the interaction has expired.

    Messages that older versions queued have no `private_target`.
    """
    if message.private_target is None and message.is_private:
        return f"{USER_PREFIX}{message.sender_id}"
    return message.late_reply_target


def _require_id(text: str, kind: str) -> str:
    if not _ID_PATTERN.fullmatch(text):
        raise RecipientGoneError(NAME, f"the target is no {kind}'s id")
    return text


def _nonce(target: str, key: str) -> str:
    """Return the same nonce for a retry, so Discord drops the duplicate for some minutes."""
    return hashlib.sha256(f"{target}:{key}".encode()).hexdigest()[:_NONCE_LENGTH]


def _parse_bot_error(response: ApiResponse) -> DuecourseError | None:
    if response.status == _UNAUTHORIZED:
        return token_refused(NAME, text_at(response.body, "message"), status=response.status)
    return _parse_error(response)


def _parse_error(response: ApiResponse) -> DuecourseError | None:
    if response.is_success:
        return None if response.body is not None else UnreadableResponseError(NAME, response.status)
    message, code = text_at(response.body, "message"), name_at(response.body, "code")
    if response.status == TOO_MANY_REQUESTS:
        return _to_rate_limited_error(response, message)
    if code in _RECIPIENT_GONE_CODES:
        return RecipientGoneError(NAME, clean_message(message), status=response.status)
    return ChatError(NAME, response.status, message, code=f"discord_{code}" if code else None)


def _to_rate_limited_error(response: ApiResponse, message: str) -> RateLimitedError:
    wait = parse_retry_after(value_at(response.body, "retry_after"))
    if wait is None:
        wait = parse_retry_after(response.headers.get("retry-after"), at=response.received_at)
    return RateLimitedError(
        NAME, message, retry_after=wait, is_global=value_at(response.body, "global") is True
    )
