"""Discord's API, to channels as the bot, and to commands and presses by their own tokens."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from duecourse import __version__
from duecourse.adapters.channels.api_client import ChatApi, Reply, Request
from duecourse.adapters.channels.discord import EPHEMERAL, LIMITS, NAME
from duecourse.adapters.channels.discord.markdown import escaped
from duecourse.adapters.channels.errors import (
    TOO_MANY,
    ChatError,
    FloodError,
    UnreadableError,
    words,
)
from duecourse.adapters.channels.rate_limiter import Pace
from duecourse.adapters.channels.size_limits import fitted, pressable, rows
from duecourse.adapters.http.json_response import at, name_at, text_at
from duecourse.domain.chat.chat_message import Button, Saying
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import DuecourseError, RecipientGoneError
from duecourse.domain.failures.retry_after import read_wait
from duecourse.ports.integrations import Keys, Patcher
from duecourse.ports.runtime import Clock

ENDPOINT = "https://discord.com/api/v10"
_AGENT = {"User-Agent": f"DiscordBot (duecourse, {__version__})"}  # others are turned away
_ID = re.compile(r"\d{1,20}", re.ASCII)
_IN_A_ROW = 5
_ROW, _BUTTON, _GREY = 1, 2, 2
_NO_EMBEDS = 4
_LONGEST_NONCE = 25
_WRONG_TOKEN = 401
_OVER = (401, 404)
_GONE = frozenset(
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
        self, poster: Patcher, tokens: Keys, clock: Clock, *, endpoint: str = ENDPOINT
    ) -> None:
        self._api = ChatApi(NAME, poster, tokens, clock, Pace(clock))
        self._endpoint = endpoint

    def send(self, target: str, saying: Saying, *, key: str) -> None:
        self._say(target, saying, key=key, by=self._api.deadline())

    def answer(self, message: Message, saying: Saying) -> None:
        """In place of what was shown at once for a command; beside the button of a press."""
        by = self._api.deadline()
        if not message.answer_to or not self._is_answered(message.answer_to, saying, by=by):
            self._say(message.reply_target, saying, key=message.key, by=by)

    def _say(self, target: str, saying: Saying, *, key: str, by: datetime) -> None:
        if not _ID.fullmatch(target):
            raise RecipientGoneError(NAME, "the target is no channel's id")
        token = self._api.token()
        request = Request(
            url=f"{self._endpoint}/channels/{target}/messages",
            headers={"Authorization": f"Bot {token}", **_AGENT},
            body={**_said(saying), "nonce": _nonce(target, key), "enforce_nonce": True},
            lane=target,
            secrets=(token,),
        )
        self._api.ask(request, _trouble, by=by)

    def _is_answered(self, to: Mapping[str, str], saying: Saying, *, by: datetime) -> bool:
        """False once the interaction is over: it lasts a quarter of an hour."""
        application, token = to.get("application_id", ""), to.get("interaction_token", "")
        is_press = bool(to.get("is_press"))
        hook = f"{self._endpoint}/webhooks/{quote(application, safe='')}/{quote(token, safe='')}"
        request = Request(
            url=hook if is_press else f"{hook}/messages/@original",
            headers=_AGENT,
            body=_said(saying, flags=EPHEMERAL if is_press else 0),
            lane=hook,
            secrets=(token,),
            is_change=not is_press,
        )
        try:
            self._api.ask(request, _trouble, by=by)
        except RecipientGoneError:
            return False
        except ChatError as error:
            if error.status not in _OVER:
                raise
            return False
        return True


def _said(saying: Saying, *, flags: int = 0) -> dict[str, Any]:
    said: dict[str, Any] = {
        "content": fitted(saying.text, LIMITS.longest_text, escaped),
        "allowed_mentions": {"parse": []},
        "flags": _NO_EMBEDS | flags,
    }
    if components := _components(saying.buttons):
        said["components"] = components
    return said


def _components(buttons: tuple[Button, ...]) -> list[dict[str, Any]]:
    return [
        {"type": _ROW, "components": [_button(one) for one in row]}
        for row in rows(pressable(buttons, LIMITS), _IN_A_ROW)
    ]


def _button(button: Button) -> dict[str, Any]:
    return {"type": _BUTTON, "style": _GREY, "label": button.label, "custom_id": button.says}


def _nonce(target: str, key: str) -> str:
    """The same for a repeat, which Discord then drops for some minutes."""
    return hashlib.sha256(f"{target}:{key}".encode()).hexdigest()[:_LONGEST_NONCE]


def _trouble(reply: Reply) -> DuecourseError | None:
    if reply.is_yes:
        return None if reply.said is not None else UnreadableError(NAME, reply.status)
    said, code = text_at(reply.said, "message"), name_at(reply.said, "code")
    if reply.status == TOO_MANY:
        return _flood(reply, said)
    if code in _GONE:
        return RecipientGoneError(NAME, words(said), status=reply.status)
    if reply.status == _WRONG_TOKEN:
        return ChatError(NAME, reply.status, f"{said} (is the token right?)", code="invalid_token")
    return ChatError(NAME, reply.status, said, code=f"discord_{code}" if code else None)


def _flood(reply: Reply, said: str) -> FloodError:
    wait = read_wait(at(reply.said, "retry_after"))
    if wait is None:
        wait = read_wait(reply.headers.get("retry-after"), at=reply.at)
    return FloodError(NAME, said, wait=wait, is_for_all=at(reply.said, "global") is True)
