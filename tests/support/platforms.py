"""Requests of the chat platforms, in their documented form and signed."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from duecourse.adapters.http.raw_request import RawRequest

from tests.support.api_response import ApiResponse
from tests.support.stack_client import StackClient, moto_stack

Payload = dict[str, Any]
SECRETS = {"telegram": "a-telegram-secret", "slack": "8f742231b10e8888abcd99yyyzzz85a5"}
DISCORD_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
DISCORD_PUBLIC_KEY = DISCORD_KEY.public_key().public_bytes_raw().hex()
KEYS = {**SECRETS, "discord": DISCORD_PUBLIC_KEY}
ENVIRONMENT = {
    "TELEGRAM_SECRET_TOKEN": KEYS["telegram"],
    "SLACK_SIGNING_SECRET": KEYS["slack"],
    "DISCORD_PUBLIC_KEY": KEYS["discord"],
}
# Everybody may use the platforms, and the members of these two teams are at home.
OPEN_ACCESS = {
    "CHAT_ACCESS": "*",
    "CHAT_ACTION_ACCESS": "*",
    "HOME_TEAMS": "slack:T0001,discord:1200000000000000003",
}
FORM = "application/x-www-form-urlencoded"
SIGNATURE_HEADER = {
    "telegram": "x-telegram-bot-api-secret-token",
    "slack": "x-slack-signature",
    "discord": "x-signature-ed25519",
}
TIMESTAMP_HEADER = {"slack": "x-slack-request-timestamp", "discord": "x-signature-timestamp"}
every_platform = pytest.mark.parametrize("platform", sorted(SIGNATURE_HEADER))
every_timed_platform = pytest.mark.parametrize("platform", sorted(TIMESTAMP_HEADER))


@dataclass(frozen=True)
class PlatformRequest:
    """One webhook request of a platform."""

    platform: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    def without_header(self, header: str) -> PlatformRequest:
        return replace(self, headers={k: v for k, v in self.headers.items() if k != header})

    def with_header(self, name: str, value: str) -> PlatformRequest:
        return replace(self, headers={**self.headers, name: value})

    def to_raw_request(self) -> RawRequest:
        return RawRequest(self.headers, self.body)


def sign_request(
    platform: str, body: Any, *, at: datetime, kind: str = "application/json"
) -> PlatformRequest:
    """Return the signed request. A body other than bytes is encoded as JSON."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    timestamp = str(int(at.timestamp()))
    headers = {
        "telegram": {"x-telegram-bot-api-secret-token": KEYS["telegram"]},
        "slack": slack_headers(raw, timestamp),
        "discord": discord_headers(raw, timestamp),
    }[platform]
    return PlatformRequest(platform, raw, {"content-type": kind, **headers})


def sign_form(fields: Mapping[str, str], *, at: datetime) -> PlatformRequest:
    return sign_request("slack", urlencode(fields).encode(), at=at, kind=FORM)


def sign_press(payload: Payload, *, at: datetime) -> PlatformRequest:
    return sign_form({"payload": json.dumps(payload)}, at=at)


def slack_headers(body: bytes, timestamp: str, *, secret: str = SECRETS["slack"]) -> dict[str, str]:
    digest = hmac.new(secret.encode(), b"v0:%b:%b" % (timestamp.encode(), body), hashlib.sha256)
    return {
        "x-slack-request-timestamp": timestamp,
        "x-slack-signature": f"v0={digest.hexdigest()}",
    }


def discord_headers(
    body: bytes, timestamp: str, *, key: Ed25519PrivateKey = DISCORD_KEY
) -> dict[str, str]:
    signature = key.sign(timestamp.encode() + body).hex()
    return {"x-signature-timestamp": timestamp, "x-signature-ed25519": signature}


# --- Telegram ---------------------------------------------------------------------------------

ADA = {"id": 111, "is_bot": False, "first_name": "Ada", "username": "ada", "language_code": "en"}
PRIVATE = {"id": 111, "first_name": "Ada", "username": "ada", "type": "private"}
GROUP = {"id": -222, "title": "Tea", "type": "group"}
FORUM = {"id": -1001234567890, "title": "Tea forum", "type": "supergroup", "is_forum": True}


def telegram_message(text: str | None = "/tasks", /, **fields: Any) -> Payload:
    content = {} if text is None else {"text": text}
    message = {"message_id": 1365, "from": ADA, "chat": PRIVATE, "date": 1_771_329_600}
    return {**message, **content, **fields}


def telegram_update(message: Payload | None = None, *, update_id: int = 10_000) -> Payload:
    return {"update_id": update_id, "message": message or telegram_message()}


def telegram_press(data: str = "/cancel a1b2c3d4", **fields: Any) -> Payload:
    bot = {"id": 999, "is_bot": True, "first_name": "Duecourse", "username": "DuecourseBot"}
    press = {
        "id": "4382171900",
        "from": ADA,
        "message": telegram_message("Reminder: tea", **{"from": bot}),
        "chat_instance": "-77",
        "data": data,
    }
    return {"update_id": 10_001, "callback_query": {**press, **fields}}


# --- Slack ------------------------------------------------------------------------------------


def slack_command(text: str = "in 10 minutes tea", **fields: str) -> dict[str, str]:
    return {
        "token": "an-old-token",
        "team_id": "T0001",
        "team_domain": "example",
        "channel_id": "C0TEA",
        "channel_name": "test",
        "user_id": "U0ADA",
        "user_name": "ada",
        "command": "/remind",
        "text": text,
        "response_url": "https://hooks.slack.com/commands/T0001/1234/5678",
        "trigger_id": "4711.1001.c0ffee01",
        "api_app_id": "A0DUE",
        **fields,
    }


def slack_message(text: Any = "remind in 10 minutes tea", /, **fields: Any) -> Payload:
    """Return a message in the direct channel with the bot."""
    return {
        "type": "message",
        "channel": "D0ADA",
        "user": "U0ADA",
        "text": text,
        "ts": "1771329600.000100",
        "event_ts": "1771329600.000100",
        "channel_type": "im",
        **fields,
    }


def slack_mention(text: str = "<@U0DUE> tasks", **fields: Any) -> Payload:
    mention = {"type": "app_mention", "channel": "C0TEA"}
    message = slack_message(text, **{**mention, **fields})
    return {name: value for name, value in message.items() if name != "channel_type"}


def slack_event(event: Payload | None = None, *, event_id: str = "Ev0001") -> Payload:
    return {
        "token": "an-old-token",
        "team_id": "T0001",
        "api_app_id": "A0DUE",
        "event": slack_message() if event is None else event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": 1_771_329_600,
        "authorizations": [{"team_id": "T0001", "user_id": "U0DUE", "is_bot": True}],
    }


def slack_press(value: str = "/cancel a1b2c3d4", **fields: Any) -> Payload:
    container = {"type": "message", "message_ts": "1771329500.000200", "channel_id": "C0TEA"}
    button = {"type": "button", "action_id": "b0", "block_id": "block", "value": value}
    return {
        "type": "block_actions",
        "team": {"id": "T0001", "domain": "example"},
        "user": {"id": "U0ADA", "username": "ada", "team_id": "T0001"},
        "api_app_id": "A0DUE",
        "container": {**container, "is_ephemeral": False},
        "trigger_id": "4712.1001.c0ffee02",
        "channel": {"id": "C0TEA", "name": "tea"},
        "message": {"bot_id": "B0DUE", "type": "message", "text": "Reminder: tea"},
        "response_url": "https://hooks.slack.com/actions/T0001/90/12",
        "actions": [{**button, "action_ts": "1771329600.840180"}],
        **fields,
    }


# --- Discord ----------------------------------------------------------------------------------

WHEN = {"type": 3, "name": "when", "value": "in 10 minutes"}
WHAT = {"type": 3, "name": "what", "value": "tea"}


def discord_interaction(kind: int, data: Payload, **fields: Any) -> Payload:
    """Return an interaction in a channel of a guild."""
    return {
        "type": kind,
        "id": "1200000000000000001",
        "application_id": "1200000000000000002",
        "token": "b3BlbnMgYSBkb29y",
        "version": 1,
        "guild_id": "1200000000000000003",
        "channel_id": "1200000000000000004",
        "member": {"user": {"id": "1200000000000000005", "username": "ada"}, "roles": []},
        "locale": "en-GB",
        "guild_locale": "en-US",
        "data": data,
        **fields,
    }


def discord_command(name: str = "remind", *options: Payload, **fields: Any) -> Payload:
    data = {"id": "1200000000000000006", "name": name, "type": 1, "options": list(options)}
    return discord_interaction(2, data, **fields)


def discord_press(custom_id: str = "/cancel a1b2c3d4", **fields: Any) -> Payload:
    data = {"custom_id": custom_id, "component_type": 2}
    return discord_interaction(3, data, **{"id": "1200000000000000007", **fields})


def as_direct_message(interaction: Payload) -> Payload:
    """Return it as sent from a direct message, which has neither guild nor member."""
    fields = {k: v for k, v in interaction.items() if k not in {"guild_id", "member"}}
    return {**fields, "user": interaction["member"]["user"]}


PING = {"id": "1", "application_id": "1200000000000000002", "type": 1, "token": "t", "version": 1}


# --- to a running stack -----------------------------------------------------------------------


@contextmanager
def stack_with_platforms(
    monkeypatch: pytest.MonkeyPatch, **environment: str
) -> Iterator[StackClient]:
    for name, value in {**ENVIRONMENT, **OPEN_ACCESS, **environment}.items():
        monkeypatch.setenv(name, value)
    with moto_stack() as running:
        yield running


def post(client: StackClient, request: PlatformRequest) -> ApiResponse:
    target = f"/webhooks/{request.platform}"
    return client.call("POST", target, request.body, token=None, headers=request.headers)


def a_command_request(
    client: StackClient, platform: str, *, age: timedelta = timedelta(0)
) -> PlatformRequest:
    """Return a valid request that creates a task, signed `age` ago by the stack's clock."""
    body = {
        "telegram": telegram_update(telegram_message("/remind in 10 minutes tea")),
        "slack": slack_event(),
        "discord": discord_command("remind", WHEN, WHAT),
    }[platform]
    return sign_request(platform, body, at=client.stack.clock.now() - age)


def sent_texts(client: StackClient, channel: str) -> list[str]:
    """Return the texts that the channel sent, oldest first."""
    return [message["text"] for message in client.items(f"/_local/outbox?channel={channel}")]


def has_no_effect(client: StackClient) -> bool:
    return client.outbox() == [] and client.items("/tasks") == []
