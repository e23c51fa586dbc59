"""A channel with a loopback receiver as its platform, and a manual clock."""

from __future__ import annotations

from typing import Any

from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.errors import DuecourseError
from duecourse.ports.integrations import Channel, TokenSource

from tests.support.chat_cases import HELLO, HTTP_CLIENT, TOKENS, answer_json, send_error
from tests.support.fakes.clock import ManualClock
from tests.support.receiver import Receiver
from tests.unit.adapters.channels.all_platforms.platforms import (
    Platform,
    PlatformResponse,
    SentButton,
)


class PlatformHarness:
    def __init__(self, platform: Platform, receiver: Receiver, clock: ManualClock) -> None:
        self.platform = platform
        self.receiver = receiver
        self.clock = clock
        self.channel = self.channel_with(TOKENS)

    def channel_with(self, tokens: TokenSource, *, endpoint: str | None = None) -> Channel:
        endpoint = endpoint or self.receiver.url("")
        return self.platform.channel(HTTP_CLIENT, tokens, self.clock, endpoint=endpoint)

    def queue_responses(self, *responses: PlatformResponse) -> None:
        for response in responses:
            answer_json(self.receiver, response.status, response.body, **response.headers)

    def queue_success(self) -> None:
        answer_json(self.receiver, 200, self.platform.success_body)

    def send(self, message: ChatMessage = HELLO) -> Any:
        """Send the message and return the request body."""
        self.channel.send(self.platform.target, message, idempotency_key="k-1")
        return self.receiver.requests[-1].json

    def send_text(self, text: str) -> str:
        """Send the text and return it as the platform received it."""
        return str(self.send(ChatMessage(text))[self.platform.text_field])

    def send_buttons(self, message: ChatMessage) -> list[SentButton]:
        return self.platform.read_buttons(self.send(message))

    def error(self, channel: Channel | None = None) -> DuecourseError:
        return send_error(channel or self.channel, self.platform.target)
