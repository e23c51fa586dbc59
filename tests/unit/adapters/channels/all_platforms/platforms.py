"""How each chat platform accepts and rejects a message, and its request format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from duecourse.adapters.channels.discord.outbound import DiscordChannel
from duecourse.adapters.channels.slack.outbound import SlackChannel
from duecourse.adapters.channels.telegram.outbound import TelegramChannel
from duecourse.ports.integrations import Channel

from tests.support.chat_cases import SECOND, TOKEN

SentButton = tuple[str, str]  # label and command


@dataclass(frozen=True)
class PlatformResponse:
    """One response of a platform. `error_text` is the part that our error quotes."""

    status: int
    body: Mapping[str, Any]
    error_text: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.status} {self.error_text}"


@dataclass(frozen=True, kw_only=True)
class Platform:
    """One chat platform: example responses, limits and how its requests are read.

    `token_refused` are about the bot's token. `other_errors` are not caused by the recipient
    either; each has the code of our error.
    `escaped_mention` is how a `mention` is sent so that it notifies nobody.
    """

    name: str
    channel: Callable[..., Channel]
    target: str
    other_target: str
    url: str
    success_body: Mapping[str, Any]
    make_error: Callable[[int, str], PlatformResponse]
    error_statuses: tuple[int, ...]
    make_rate_limit: Callable[[float], PlatformResponse]
    recipient_gone: tuple[PlatformResponse, ...]
    token_refused: tuple[PlatformResponse, ...]
    other_errors: tuple[tuple[PlatformResponse, str | None], ...]
    text_field: str
    max_text: int
    read_buttons: Callable[[Any], list[SentButton]]
    max_buttons: int
    max_command: int
    max_label: int
    mention: str
    escaped_mention: str
    send_interval: timedelta

    def __str__(self) -> str:
        return self.name


# --- Telegram ---------------------------------------------------------------------------------


def telegram_error(status: int, error_text: str, **parameters: Any) -> PlatformResponse:
    body = {"ok": False, "error_code": status, "description": error_text, "parameters": parameters}
    return PlatformResponse(status, body, error_text)


def _telegram_rate_limit(seconds: float) -> PlatformResponse:
    return telegram_error(429, "Too Many Requests", retry_after=seconds)


def _telegram_buttons(body: Any) -> list[SentButton]:
    rows = body.get("reply_markup", {}).get("inline_keyboard", [])
    return [(button["text"], button["callback_data"]) for row in rows for button in row]


TELEGRAM = Platform(
    name="telegram",
    channel=TelegramChannel,
    target="-1001:77",
    other_target="43",
    url=f"https://api.telegram.org/bot{TOKEN}/sendMessage",
    success_body={"ok": True, "result": {"message_id": 1}},
    make_error=telegram_error,
    error_statuses=(400, 401, 403, 404, 500),
    make_rate_limit=_telegram_rate_limit,
    recipient_gone=(
        telegram_error(403, "Forbidden: bot was blocked by the user"),
        telegram_error(403, "Forbidden: user is deactivated"),
        telegram_error(403, "Forbidden: bot was kicked from the supergroup chat"),
        telegram_error(403, "Forbidden: bot can't initiate conversation with a user"),
        telegram_error(400, "Bad Request: chat not found"),
        telegram_error(400, "Bad Request: group chat was deactivated"),
        telegram_error(400, "Bad Request: not enough rights to send text messages to the chat"),
    ),
    token_refused=(telegram_error(401, "Unauthorized"), telegram_error(404, "Not Found")),
    other_errors=(
        (telegram_error(400, "Bad Request: message text is empty"), None),
        (telegram_error(500, "Internal Server Error"), None),
        (telegram_error(502, "Bad Gateway"), None),
    ),
    text_field="text",
    max_text=4_096,
    read_buttons=_telegram_buttons,
    max_buttons=20,
    max_command=64,
    max_label=60,
    mention="@joe",
    escaped_mention="@\u2060joe",
    send_interval=SECOND,
)


# --- Slack ------------------------------------------------------------------------------------


def slack_error(status: int, error_text: str) -> PlatformResponse:
    return PlatformResponse(status, {"ok": False, "error": error_text}, error_text)


def _slack_rate_limit(seconds: float) -> PlatformResponse:
    body = {"ok": False, "error": "ratelimited"}
    return PlatformResponse(429, body, headers={"Retry-After": str(seconds)})


def _slack_buttons(body: Any) -> list[SentButton]:
    rows = (block for block in body.get("blocks", []) if block["type"] == "actions")
    return [(button["text"]["text"], button["value"]) for row in rows for button in row["elements"]]


SLACK = Platform(
    name="slack",
    channel=SlackChannel,
    target="C1:17.5",
    other_target="C2",
    url="https://slack.com/api/chat.postMessage",
    success_body={"ok": True, "ts": "1.2"},
    make_error=slack_error,
    error_statuses=(200, 400, 500),
    make_rate_limit=_slack_rate_limit,
    recipient_gone=(
        slack_error(200, "channel_not_found"),
        slack_error(200, "is_archived"),
        slack_error(200, "user_disabled"),
        slack_error(200, "user_not_found"),
        slack_error(200, "not_in_channel"),
        slack_error(200, "restricted_action"),
    ),
    token_refused=(
        slack_error(200, "invalid_auth"),
        slack_error(200, "token_revoked"),
        slack_error(200, "account_inactive"),
        slack_error(200, "not_authed"),
        slack_error(401, "anything"),
        slack_error(403, "anything"),
    ),
    other_errors=(
        (slack_error(200, "internal_error"), "internal_error"),
        (slack_error(200, "other"), "other"),
        (slack_error(503, "service_unavailable"), "service_unavailable"),
    ),
    text_field="text",
    max_text=4_000,
    read_buttons=_slack_buttons,
    max_buttons=25,
    max_command=2_000,
    max_label=75,
    mention="<!channel>",
    escaped_mention="&lt;!channel&gt;",
    send_interval=SECOND,
)


# --- Discord ----------------------------------------------------------------------------------


def discord_error(status: int, error_text: str, code: int = 0) -> PlatformResponse:
    return PlatformResponse(status, {"message": error_text, "code": code}, error_text)


def _discord_rate_limit(seconds: float) -> PlatformResponse:
    body = {"message": "slow down", "retry_after": seconds, "global": False}
    return PlatformResponse(429, body, "slow down")


def _discord_buttons(body: Any) -> list[SentButton]:
    rows = body.get("components", [])
    return [(button["label"], button["custom_id"]) for row in rows for button in row["components"]]


DISCORD = Platform(
    name="discord",
    channel=DiscordChannel,
    target="42",
    other_target="43",
    url="https://discord.com/api/v10/channels/42/messages",
    success_body={"id": "1"},
    make_error=discord_error,
    error_statuses=(400, 401, 403, 500),
    make_rate_limit=_discord_rate_limit,
    recipient_gone=(
        discord_error(403, "Missing Access", 50001),
        discord_error(403, "Missing Permissions", 50013),
        discord_error(403, "Cannot send messages to this user", 50007),
        discord_error(404, "Unknown Channel", 10003),
        discord_error(400, "Cannot do that here", 50024),
        discord_error(403, "No server in common", 50278),
    ),
    token_refused=(discord_error(401, "401: Unauthorized"),),
    other_errors=(
        (discord_error(400, "Invalid Form Body", 50035), "discord_50035"),
        (discord_error(500, "500: Internal Server Error"), "discord_0"),
        (PlatformResponse(502, {}, "no words"), None),
    ),
    text_field="content",
    max_text=2_000,
    read_buttons=_discord_buttons,
    max_buttons=25,
    max_command=100,
    max_label=80,
    mention="@everyone",
    escaped_mention=r"\@everyone",
    send_interval=timedelta(0),
)

PLATFORMS = (TELEGRAM, SLACK, DISCORD)
