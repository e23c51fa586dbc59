"""Slack's Web API, and the short-lived addresses that commands and presses are answered at."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
from duecourse.adapters.channels.size_limits import fitted, pressable
from duecourse.adapters.channels.slack import HOOK_HOSTS, LIMITS, NAME
from duecourse.adapters.http.json_response import name_at
from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import DuecourseError, RecipientGoneError
from duecourse.domain.failures.retry_after import read_wait
from duecourse.ports.integrations import Keys, Patcher
from duecourse.ports.runtime import Clock

ENDPOINT = "https://slack.com/api"
HOOKS = tuple(f"https://{host}/" for host in HOOK_HOSTS)
LONGEST_SECTION = 3_000
_FLOODS = frozenset({"ratelimited", "rate_limited"})
_GONE = frozenset(
    {
        "channel_not_found",
        "is_archived",
        "user_not_found",
        "user_disabled",
        "user_not_visible",
        "not_in_channel",
        "cannot_dm_bot",
        "messages_tab_disabled",
        "restricted_action",
        "restricted_action_read_only_channel",
        "restricted_action_thread_only_channel",
        "restricted_action_non_threadable_channel",
    }
)


class SlackChannel:
    def __init__(
        self,
        poster: Patcher,
        tokens: Keys,
        clock: Clock,
        *,
        endpoint: str = ENDPOINT,
        hooks: Collection[str] = HOOKS,
    ) -> None:
        self._api = ChatApi(NAME, poster, tokens, clock, Pace(clock, rest=LIMITS.rest))
        self._endpoint = endpoint
        self._hooks = tuple(hooks)

    def send(self, target: str, saying: Saying, *, key: str) -> None:
        del key  # Slack has no memory to drop repeats by
        self._say(target, saying, by=self._api.deadline())

    def answer(self, message: Message, saying: Saying) -> None:
        """Only whoever said it sees the answer, as long as Slack takes it there."""
        by, hook = self._api.deadline(), message.answer_to.get("response_url", "")
        if not hook.startswith(self._hooks) or not self._is_answered(hook, saying, by=by):
            self._say(message.reply_target, saying, by=by)

    def _say(self, target: str, saying: Saying, *, by: datetime) -> None:
        token = self._api.token()
        channel, _, thread = target.partition(":")
        place = {"channel": channel, **({"thread_ts": thread} if thread else {})}
        request = Request(
            url=f"{self._endpoint}/chat.postMessage",
            headers={"Authorization": f"Bearer {token}"},
            body={**place, **_said(saying), "unfurl_links": False, "unfurl_media": False},
            lane=channel,
            secrets=(token,),
        )
        self._api.ask(request, _trouble, by=by)

    def _is_answered(self, hook: str, saying: Saying, *, by: datetime) -> bool:
        """False once the address has been used too often, or for too long."""
        body = {**_said(saying), "response_type": "ephemeral", "replace_original": False}
        secret = hook.rpartition("/")[2]
        request = Request(url=hook, body=body, lane=hook, secrets=(secret,))
        try:
            self._api.ask(request, _hook_trouble, by=by)
        except ChatError as error:
            if error.status == TOO_MANY or error.status >= 500:
                raise
            return False
        return True


def _said(saying: Saying) -> dict[str, Any]:
    """With buttons, the text beside them is what notifications show."""
    said: dict[str, Any] = {
        "text": fitted(saying.text, LIMITS.longest_text, escaped),
        "mrkdwn": False,
    }
    if buttons := _buttons(saying):
        section = {"type": "section", "text": _plain(fitted(saying.text, LONGEST_SECTION))}
        said["blocks"] = [section, {"type": "actions", "elements": buttons}]
    return said


def escaped(text: str) -> str:
    """Mentions, links and dates of Slack's all stand in <angle brackets>."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain(text: str) -> dict[str, Any]:
    """Slack escapes such a text itself: nothing in it is markup."""
    return {"type": "plain_text", "text": text, "emoji": False}


def _buttons(saying: Saying) -> list[dict[str, Any]]:
    return [
        {"type": "button", "action_id": f"say-{n}", "text": _plain(one.label), "value": one.says}
        for n, one in enumerate(pressable(saying.buttons, LIMITS))
    ]


def _trouble(reply: Reply) -> DuecourseError | None:
    """Slack says no with the status of a yes."""
    if reply.is_yes and reply.said is not None and reply.said.get("ok") is True:
        return None
    code = name_at(reply.said, "error")
    if reply.status == TOO_MANY or code in _FLOODS:
        return _flood(reply, code)
    if reply.is_yes and code is None:
        return UnreadableError(NAME, reply.status)
    if code in _GONE:
        return RecipientGoneError(NAME, words(str(code)), status=reply.status)
    return ChatError(NAME, reply.status, code or "", code=code)


def _hook_trouble(reply: Reply) -> DuecourseError | None:
    """A plain `ok` will do here."""
    if reply.is_yes and not _says_no(reply.said):
        return None
    if reply.status == TOO_MANY:
        return _flood(reply, None)
    code = name_at(reply.said, "error")
    return ChatError(NAME, reply.status, code or "", code=code)


def _says_no(said: Mapping[str, Any] | None) -> bool:
    return said is not None and said.get("ok") is False


def _flood(reply: Reply, code: str | None) -> FloodError:
    return FloodError(
        NAME, code or "", wait=read_wait(reply.headers.get("retry-after"), at=reply.at)
    )
