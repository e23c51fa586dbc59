"""Send through Slack's Web API, and reply through short-lived response URLs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
from duecourse.adapters.channels.size_limits import select_buttons, truncate_text
from duecourse.adapters.channels.slack import LIMITS, NAME, RESPONSE_URL_HOSTS
from duecourse.adapters.http.json_response import name_at
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import DuecourseError, RecipientGoneError
from duecourse.domain.failures.retry_after import parse_retry_after
from duecourse.ports.integrations import HttpPatchClient, TokenSource
from duecourse.ports.runtime import Clock

ENDPOINT = "https://slack.com/api"
_DIRECT_MESSAGES_PREFIX = "D"  # of the id of a channel that one person shares with the bot
RESPONSE_URL_PREFIXES = tuple(f"https://{host}/" for host in RESPONSE_URL_HOSTS)
MAX_SECTION_LENGTH = 3_000
_RATE_LIMIT_CODES = frozenset({"ratelimited", "rate_limited"})
TOKEN_REFUSED_CODES = frozenset(
    {
        "invalid_auth",
        "not_authed",
        "token_revoked",
        "token_expired",
        "account_inactive",  # of the bot
        "not_allowed_token_type",
        "missing_scope",
        "access_denied",
        "team_access_not_granted",
        "org_login_required",
        "two_factor_setup_required",
        "ekm_access_denied",
        "enterprise_is_restricted",
    }
)
_TOKEN_REFUSED_STATUSES = (401, 403)
_RECIPIENT_GONE_CODES = frozenset(
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
        http_client: HttpPatchClient,
        tokens: TokenSource,
        clock: Clock,
        *,
        endpoint: str = ENDPOINT,
        response_url_prefixes: Collection[str] = RESPONSE_URL_PREFIXES,
    ) -> None:
        self._api = ChatApiClient(
            NAME, http_client, tokens, clock, RateLimiter(clock, min_interval=LIMITS.rest)
        )
        self._endpoint = endpoint
        self._response_url_prefixes = tuple(response_url_prefixes)

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        del idempotency_key  # Slack does not deduplicate messages
        self._post_message(target, content, deadline=self._api.deadline())

    def reply(self, message: Message, content: ChatMessage) -> None:
        """Reply to the response URL, or in the channel if the message was written for all to see.

        Only the sender sees what a response URL gets. Without one, or if it has expired, the reply
        is a direct message.
        """
        by, hook = self._api.deadline(), message.reply_context.get("response_url", "")
        if hook.startswith(self._response_url_prefixes) and self._try_reply(
            hook, content, deadline=by
        ):
            return

        def send(target: str, content: ChatMessage) -> None:
            self._post_message(target, content, deadline=by)

        send_private_reply(send, message, content, target=_late_reply_target(message))

    def _post_message(self, target: str, content: ChatMessage, *, deadline: datetime) -> None:
        token = self._api.get_token()
        channel, _, thread = target.partition(":")
        place = {"channel": channel, **({"thread_ts": thread} if thread else {})}
        request = ApiRequest(
            url=f"{self._endpoint}/chat.postMessage",
            headers={"Authorization": f"Bearer {token}"},
            body={**place, **_to_body(content), "unfurl_links": False, "unfurl_media": False},
            rate_limit_key=channel,
            secrets=(token,),
        )
        self._api.call(request, _parse_error, deadline=deadline)

    def _try_reply(self, response_url: str, content: ChatMessage, *, deadline: datetime) -> bool:
        """Return False if the URL has expired or was used too often."""
        body = {**_to_body(content), "response_type": "ephemeral", "replace_original": False}
        secret = response_url.rpartition("/")[2]
        request = ApiRequest(
            url=response_url, body=body, rate_limit_key=response_url, secrets=(secret,)
        )
        try:
            self._api.call(request, _parse_response_url_error, deadline=deadline)
        except ChatError as error:
            if error.status == TOO_MANY_REQUESTS or error.status >= 500:
                raise
            return False
        return True


def _late_reply_target(message: Message) -> str:
    """Return where the reply goes without a response URL.

    A press that an older version queued has no `private_target`, although others read its channel.
    """
    is_direct = message.reply_target.startswith(_DIRECT_MESSAGES_PREFIX)
    if message.private_target is None and message.is_private and not is_direct:
        return message.sender_id
    return message.late_reply_target


def _to_body(content: ChatMessage) -> dict[str, Any]:
    """Return the message's fields. With blocks, `text` is what notifications show."""
    body: dict[str, Any] = {
        "text": truncate_text(content.text, LIMITS.longest_text, escape_markup),
        "mrkdwn": False,
    }
    if buttons := _buttons(content):
        section = {
            "type": "section",
            "text": _plain_text(truncate_text(content.text, MAX_SECTION_LENGTH)),
        }
        body["blocks"] = [section, {"type": "actions", "elements": buttons}]
    return body


def escape_markup(text: str) -> str:
    """Escape `&`, `<` and `>`: Slack writes mentions, links and dates in angle brackets."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _plain_text(text: str) -> dict[str, Any]:
    """Return a plain_text object. Slack does not parse markup in it."""
    return {"type": "plain_text", "text": text, "emoji": False}


def _buttons(content: ChatMessage) -> list[dict[str, Any]]:
    return [
        {
            "type": "button",
            "action_id": f"say-{n}",
            "text": _plain_text(one.label),
            "value": one.command,
        }
        for n, one in enumerate(select_buttons(content.buttons, LIMITS))
    ]


def _parse_error(response: ApiResponse) -> DuecourseError | None:
    """Return the error in a response. Slack reports errors with status 200 and `ok: false`."""
    if response.is_success and response.body is not None and response.body.get("ok") is True:
        return None
    code = name_at(response.body, "error")
    if response.status == TOO_MANY_REQUESTS or code in _RATE_LIMIT_CODES:
        return _to_rate_limited_error(response, code)
    if response.is_success and code is None:
        return UnreadableResponseError(NAME, response.status)
    if code in _RECIPIENT_GONE_CODES:
        return RecipientGoneError(NAME, clean_message(str(code)), status=response.status)
    if code in TOKEN_REFUSED_CODES or response.status in _TOKEN_REFUSED_STATUSES:
        return token_refused(NAME, code or "", status=response.status)
    return ChatError(NAME, response.status, code or "", code=code)


def _parse_response_url_error(response: ApiResponse) -> DuecourseError | None:
    """Return the error in a response URL's reply, where a plain `ok` means success."""
    if response.is_success and not _is_refusal(response.body):
        return None
    if response.status == TOO_MANY_REQUESTS:
        return _to_rate_limited_error(response, None)
    code = name_at(response.body, "error")
    return ChatError(NAME, response.status, code or "", code=code)


def _is_refusal(body: Mapping[str, Any] | None) -> bool:
    return body is not None and body.get("ok") is False


def _to_rate_limited_error(response: ApiResponse, code: str | None) -> RateLimitedError:
    return RateLimitedError(
        NAME,
        code or "",
        retry_after=parse_retry_after(response.headers.get("retry-after"), at=response.received_at),
    )
