"""A new platform needs one entry in the registry; everything else derives from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

import pytest
from duecourse.adapters.channels.inbound import InboundResult
from duecourse.adapters.channels.platform import (
    ChannelLimits,
    Inbound,
    InboundDeps,
    Outbound,
    OutboundDeps,
    Platform,
    SecretKey,
)
from duecourse.adapters.channels.registry import PLATFORMS
from duecourse.adapters.channels.verification import require_match, require_secrets
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.ports.integrations import Keys

from tests.support.api_response import ApiResponse
from tests.support.platforms import has_no_effect, sent_texts
from tests.support.stack_client import StackClient, moto_stack

NAME, SECRET, TOKEN = "pigeon", "ring-7", "coop-key"


@dataclass
class PigeonChannel:
    """An invented platform that records the messages it sends."""

    sent: list[tuple[str, str]] = field(default_factory=list)
    tokens: Keys | None = None

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        del idempotency_key
        assert self.tokens is not None
        assert self.tokens.get(NAME) == TOKEN
        self.sent.append((target, content.text))

    def reply(self, message: Message, content: ChatMessage) -> None:
        self.send(message.reply_target, content, idempotency_key=message.dedup_key)

    def entry(self) -> Platform:
        return Platform(
            name=NAME,
            inbound=Inbound(
                make=lambda deps: PigeonInboundParser(deps),
                proof=SecretKey(variable="PIGEON_RING", local=SECRET),
            ),
            outbound=Outbound(
                make=self._outbound,
                token=SecretKey(variable="PIGEON_TOKEN"),
                limits=ChannelLimits(longest_text=40),
            ),
        )

    def _outbound(self, deps: OutboundDeps) -> PigeonChannel:
        self.tokens = deps.tokens
        return self


@dataclass(frozen=True)
class PigeonInboundParser:
    deps: InboundDeps

    def parse(self, request: RawRequest, *, now: datetime) -> InboundResult:
        expected = require_secrets(self.deps.proofs, NAME)
        require_match("ring", actual=request.header("x-ring"), expected=expected)
        body = request.json_object()
        sender_id, text = body["who"], body["text"]
        return InboundResult(
            Message(
                channel=NAME,
                sender_id=sender_id,
                reply_target=sender_id,
                text=text,
                dedup_key=body["n"],
                sent_at=now,
            )
        )


@pytest.fixture
def channel(monkeypatch: pytest.MonkeyPatch) -> PigeonChannel:
    pigeon_channel = PigeonChannel()
    monkeypatch.setitem(PLATFORMS, NAME, pigeon_channel.entry())
    monkeypatch.setenv("PIGEON_TOKEN", TOKEN)
    monkeypatch.setenv("CHAT_ACCESS", f"{NAME}:noah")
    return pigeon_channel


@pytest.fixture
def client(channel: PigeonChannel) -> Iterator[StackClient]:
    del channel  # registered before the stack starts
    with moto_stack() as running:
        yield running


def post_message(
    client: StackClient, text: str, *, ring: str = SECRET, who: str = "noah"
) -> ApiResponse:
    body = json.dumps({"who": who, "text": text, "n": text}).encode()
    headers = {"x-ring": ring}
    return client.call("POST", f"/webhooks/{NAME}", body, token=None, headers=headers)


def test_a_registered_platform_creates_tasks_and_sends_replies_and_reminders(
    client: StackClient, channel: PigeonChannel
) -> None:
    assert post_message(client, "/remind in 10 minutes olives").status == 200
    [task] = client.items(f"/tasks?channel={NAME}&sender_id=noah")
    assert (task["description"], task["reply_target"]) == ("olives", "noah")
    [(target, reply)] = channel.sent
    assert target == "noah"
    assert "olives" in reply
    client.advance("10m")
    assert channel.sent[-1] == ("noah", "Reminder: olives")
    assert sent_texts(client, NAME) == [text for _, text in channel.sent]


def test_a_registered_platform_verifies_requests(
    client: StackClient, channel: PigeonChannel
) -> None:
    assert post_message(client, "/remind in 10 minutes olives", ring="forged").status == 401
    assert has_no_effect(client)
    assert channel.sent == []


def test_a_registered_platform_is_closed_to_strangers(
    client: StackClient, channel: PigeonChannel
) -> None:
    assert post_message(client, "/remind in 10 minutes olives", who="ham").status == 200
    assert has_no_effect(client)
    assert channel.sent == []


def test_api_tasks_can_use_the_new_channel(client: StackClient, channel: PigeonChannel) -> None:
    client.create(channel=NAME, reply_target="noah", description="rain", due_at="2026-02-17T12:05Z")
    client.advance("5m")
    assert channel.sent == [("noah", "Reminder: rain")]


def test_a_platform_that_is_not_registered_is_unknown() -> None:
    with moto_stack() as client:
        assert post_message(client, "/tasks").status == 404
        response = client.call("POST", "/tasks", {"description": "x", "in": "5m", "channel": NAME})
        assert response.status == 422
