"""How each chat platform says yes and no, and where it looks for what it is told."""

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

Pressable = tuple[str, str]  # what a button is called, and what it says


@dataclass(frozen=True)
class Said:
    """One answer of a platform. `words` are those in it that an error repeats."""

    status: int
    body: Mapping[str, Any]
    words: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.status} {self.words}"


@dataclass(frozen=True, kw_only=True)
class Platform:
    """`no` is said with a status and in words, a `flood` with the seconds to wait.

    `ours` is what goes wrong without the recipient's fault, each with the code that we give it.
    `harmless` is how a `mention` is sent, for it to call nobody.
    """

    name: str
    channel: Callable[..., Channel]
    target: str
    elsewhere: str
    url: str
    yes: Mapping[str, Any]
    no: Callable[[int, str], Said]
    statuses_of_a_no: tuple[int, ...]
    flood: Callable[[float], Said]
    gone: tuple[Said, ...]
    ours: tuple[tuple[Said, str | None], ...]
    text_in: str
    longest_text: int
    buttons_in: Callable[[Any], list[Pressable]]
    most_buttons: int
    longest_command: int
    longest_label: int
    mention: str
    harmless: str
    rest: timedelta

    def __str__(self) -> str:
        return self.name


# --- Telegram ---------------------------------------------------------------------------------


def telegram_no(status: int, words: str, **parameters: Any) -> Said:
    body = {"ok": False, "error_code": status, "description": words, "parameters": parameters}
    return Said(status, body, words)


def _telegram_flood(seconds: float) -> Said:
    return telegram_no(429, "Too Many Requests", retry_after=seconds)


def _telegram_buttons(body: Any) -> list[Pressable]:
    rows = body.get("reply_markup", {}).get("inline_keyboard", [])
    return [(one["text"], one["callback_data"]) for row in rows for one in row]


TELEGRAM = Platform(
    name="telegram",
    channel=TelegramChannel,
    target="-1001:77",
    elsewhere="43",
    url=f"https://api.telegram.org/bot{TOKEN}/sendMessage",
    yes={"ok": True, "result": {"message_id": 1}},
    no=telegram_no,
    statuses_of_a_no=(400, 401, 403, 404, 500),
    flood=_telegram_flood,
    gone=(
        telegram_no(403, "Forbidden: bot was blocked by the user"),
        telegram_no(403, "Forbidden: user is deactivated"),
        telegram_no(403, "Forbidden: bot was kicked from the supergroup chat"),
        telegram_no(403, "Forbidden: bot can't initiate conversation with a user"),
        telegram_no(400, "Bad Request: chat not found"),
        telegram_no(400, "Bad Request: group chat was deactivated"),
        telegram_no(400, "Bad Request: not enough rights to send text messages to the chat"),
    ),
    ours=(
        (telegram_no(401, "Unauthorized"), "invalid_token"),
        (telegram_no(404, "Not Found"), "invalid_token"),
        (telegram_no(400, "Bad Request: message text is empty"), None),
        (telegram_no(500, "Internal Server Error"), None),
        (telegram_no(502, "Bad Gateway"), None),
    ),
    text_in="text",
    longest_text=4_096,
    buttons_in=_telegram_buttons,
    most_buttons=20,
    longest_command=64,
    longest_label=60,
    mention="@joe",
    harmless="@\u2060joe",
    rest=SECOND,
)


# --- Slack ------------------------------------------------------------------------------------


def slack_no(status: int, words: str) -> Said:
    return Said(status, {"ok": False, "error": words}, words)


def _slack_flood(seconds: float) -> Said:
    body = {"ok": False, "error": "ratelimited"}
    return Said(429, body, headers={"Retry-After": str(seconds)})


def _slack_buttons(body: Any) -> list[Pressable]:
    rows = (block for block in body.get("blocks", []) if block["type"] == "actions")
    return [(one["text"]["text"], one["value"]) for row in rows for one in row["elements"]]


SLACK = Platform(
    name="slack",
    channel=SlackChannel,
    target="C1:17.5",
    elsewhere="C2",
    url="https://slack.com/api/chat.postMessage",
    yes={"ok": True, "ts": "1.2"},
    no=slack_no,
    statuses_of_a_no=(200, 400, 500),
    flood=_slack_flood,
    gone=(
        slack_no(200, "channel_not_found"),
        slack_no(200, "is_archived"),
        slack_no(200, "user_disabled"),
        slack_no(200, "user_not_found"),
        slack_no(200, "not_in_channel"),
        slack_no(200, "restricted_action"),
    ),
    ours=(
        (slack_no(200, "invalid_auth"), "invalid_auth"),
        (slack_no(200, "token_revoked"), "token_revoked"),
        (slack_no(200, "account_inactive"), "account_inactive"),
        (slack_no(200, "not_authed"), "not_authed"),
        (slack_no(200, "internal_error"), "internal_error"),
        (slack_no(200, "other"), "other"),
        (slack_no(503, "service_unavailable"), "service_unavailable"),
    ),
    text_in="text",
    longest_text=4_000,
    buttons_in=_slack_buttons,
    most_buttons=25,
    longest_command=2_000,
    longest_label=75,
    mention="<!channel>",
    harmless="&lt;!channel&gt;",
    rest=SECOND,
)


# --- Discord ----------------------------------------------------------------------------------


def discord_no(status: int, words: str, code: int = 0) -> Said:
    return Said(status, {"message": words, "code": code}, words)


def _discord_flood(seconds: float) -> Said:
    body = {"message": "slow down", "retry_after": seconds, "global": False}
    return Said(429, body, "slow down")


def _discord_buttons(body: Any) -> list[Pressable]:
    rows = body.get("components", [])
    return [(one["label"], one["custom_id"]) for row in rows for one in row["components"]]


DISCORD = Platform(
    name="discord",
    channel=DiscordChannel,
    target="42",
    elsewhere="43",
    url="https://discord.com/api/v10/channels/42/messages",
    yes={"id": "1"},
    no=discord_no,
    statuses_of_a_no=(400, 401, 403, 500),
    flood=_discord_flood,
    gone=(
        discord_no(403, "Missing Access", 50001),
        discord_no(403, "Missing Permissions", 50013),
        discord_no(403, "Cannot send messages to this user", 50007),
        discord_no(404, "Unknown Channel", 10003),
        discord_no(400, "Cannot do that here", 50024),
        discord_no(403, "No server in common", 50278),
    ),
    ours=(
        (discord_no(401, "401: Unauthorized"), "invalid_token"),
        (discord_no(400, "Invalid Form Body", 50035), "discord_50035"),
        (discord_no(500, "500: Internal Server Error"), "discord_0"),
        (Said(502, {}, "no words"), None),
    ),
    text_in="content",
    longest_text=2_000,
    buttons_in=_discord_buttons,
    most_buttons=25,
    longest_command=100,
    longest_label=80,
    mention="@everyone",
    harmless=r"\@everyone",
    rest=timedelta(0),
)

PLATFORMS = (TELEGRAM, SLACK, DISCORD)
