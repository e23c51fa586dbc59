"""A platform needs one entry in the registry: the rest of the system derives from it."""

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
from duecourse.adapters.channels.verification import require_match, require_secret
from duecourse.adapters.http.raw_request import RawRequest
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.ports.integrations import Keys

from tests.support.api_response import ApiResponse
from tests.support.platforms import has_no_effect, sent_texts
from tests.support.stack_client import StackClient, running_stack

NAME, PROOF, TOKEN = "pigeon", "ring-7", "coop-key"


@dataclass
class PigeonPost:
    """Both sides of the platform: who writes to us, and what was carried to people."""

    carried: list[tuple[str, str]] = field(default_factory=list)
    tokens: Keys | None = None

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        del idempotency_key
        assert self.tokens is not None
        assert self.tokens.get(NAME) == TOKEN
        self.carried.append((target, content.text))

    def reply(self, message: Message, content: ChatMessage) -> None:
        self.send(message.reply_target, content, idempotency_key=message.dedup_key)

    def entry(self) -> Platform:
        return Platform(
            name=NAME,
            inbound=Inbound(
                make=lambda deps: PigeonIncoming(deps),
                proof=SecretKey(variable="PIGEON_RING", local=PROOF),
            ),
            outbound=Outbound(
                make=self._outbound,
                token=SecretKey(variable="PIGEON_TOKEN"),
                limits=ChannelLimits(longest_text=40),
            ),
        )

    def _outbound(self, deps: OutboundDeps) -> PigeonPost:
        self.tokens = deps.tokens
        return self


@dataclass(frozen=True)
class PigeonIncoming:
    deps: InboundDeps

    def parse(self, request: RawRequest, *, now: datetime) -> InboundResult:
        expected = require_secret(self.deps.proofs, NAME)
        require_match("ring", actual=request.header("x-ring"), expected=expected)
        said = request.json_object()
        who, text = said["who"], said["text"]
        return InboundResult(
            Message(
                channel=NAME,
                sender_id=who,
                reply_target=who,
                text=text,
                dedup_key=said["n"],
                sent_at=now,
            )
        )


@pytest.fixture
def pigeons(monkeypatch: pytest.MonkeyPatch) -> PigeonPost:
    post = PigeonPost()
    monkeypatch.setitem(PLATFORMS, NAME, post.entry())
    monkeypatch.setenv("PIGEON_TOKEN", TOKEN)
    return post


@pytest.fixture
def client(pigeons: PigeonPost) -> Iterator[StackClient]:
    del pigeons  # registered before the stack starts
    with running_stack() as running:
        yield running


def fly(client: StackClient, text: str, *, ring: str = PROOF) -> ApiResponse:
    body = json.dumps({"who": "noah", "text": text, "n": text}).encode()
    headers = {"x-ring": ring}
    return client.call("POST", f"/webhooks/{NAME}", body, token=None, headers=headers)


def test_a_registered_platform_makes_a_task_is_answered_and_reminded(
    client: StackClient, pigeons: PigeonPost
) -> None:
    assert fly(client, "/remind in 10 minutes olives").status == 200
    [task] = client.items(f"/tasks?channel={NAME}&sender_id=noah")
    assert (task["description"], task["reply_target"]) == ("olives", "noah")
    [(target, answer)] = pigeons.carried
    assert target == "noah"
    assert "olives" in answer
    client.advance("10m")
    assert pigeons.carried[-1] == ("noah", "Reminder: olives")
    assert sent_texts(client, NAME) == [text for _, text in pigeons.carried]


def test_its_proof_is_asked_for(client: StackClient, pigeons: PigeonPost) -> None:
    assert fly(client, "/remind in 10 minutes olives", ring="forged").status == 401
    assert has_no_effect(client)
    assert pigeons.carried == []


def test_programs_may_name_it_as_a_channel(client: StackClient, pigeons: PigeonPost) -> None:
    client.create(channel=NAME, reply_target="noah", description="rain", due_at="2026-02-17T12:05Z")
    client.advance("5m")
    assert pigeons.carried == [("noah", "Reminder: rain")]


def test_a_platform_that_is_not_registered_is_unknown() -> None:
    with running_stack() as client:
        assert fly(client, "/tasks").status == 404
        refused = client.call("POST", "/tasks", {"description": "x", "in": "5m", "channel": NAME})
        assert refused.status == 422
