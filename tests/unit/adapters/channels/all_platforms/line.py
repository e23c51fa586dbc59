"""A channel, with a receiver in the place of its platform, and a clock that nobody waits for."""

from __future__ import annotations

from typing import Any

from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.errors import DuecourseError
from duecourse.ports.integrations import Channel, Keys

from tests.support.chat_cases import HELLO, HTTP_CLIENT, TOKENS, answer_json, send_error
from tests.support.fakes.clock import ManualClock
from tests.support.receiver import Receiver
from tests.unit.adapters.channels.all_platforms.platforms import Platform, Pressable, Said


class Line:
    def __init__(self, platform: Platform, receiver: Receiver, clock: ManualClock) -> None:
        self.platform = platform
        self.receiver = receiver
        self.clock = clock
        self.channel = self.channel_with(TOKENS)

    def channel_with(self, tokens: Keys, *, endpoint: str | None = None) -> Channel:
        endpoint = endpoint or self.receiver.url("")
        return self.platform.channel(HTTP_CLIENT, tokens, self.clock, endpoint=endpoint)

    def will_say(self, *answers: Said) -> None:
        for said in answers:
            answer_json(self.receiver, said.status, said.body, **said.headers)

    def will_agree(self) -> None:
        answer_json(self.receiver, 200, self.platform.yes)

    def send(self, saying: ChatMessage = HELLO) -> Any:
        """The body that the platform was sent."""
        self.channel.send(self.platform.target, saying, idempotency_key="k-1")
        return self.receiver.requests[-1].json

    def text_of(self, text: str) -> str:
        """As the platform was sent it."""
        return str(self.send(ChatMessage(text))[self.platform.text_in])

    def buttons_of(self, saying: ChatMessage) -> list[Pressable]:
        return self.platform.buttons_in(self.send(saying))

    def error(self, channel: Channel | None = None) -> DuecourseError:
        return send_error(channel or self.channel, self.platform.target)
