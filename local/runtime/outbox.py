"""What the channels sent, in a list that can be read over HTTP: on a laptop, sending ends here."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.message import Message
from duecourse.domain.time.instant import to_text
from duecourse.ports.integrations import Channel

from local.runtime.call_interceptor import Calls
from local.runtime.clock import LocalClock


@dataclass(frozen=True)
class Sent:
    channel: str
    target: str
    saying: Saying
    at: str

    def to_json(self) -> dict[str, Any]:
        said = {"channel": self.channel, "target": self.target, "text": self.saying.text}
        return {**said, "at": self.at, "buttons": [asdict(one) for one in self.saying.buttons]}


@dataclass
class Outbox:
    clock: LocalClock
    calls: Calls
    sent: list[Sent] = field(default_factory=list)

    def items(self, channel: str | None, target: str | None) -> list[dict[str, Any]]:
        return [
            sent.to_json()
            for sent in self.sent
            if (channel or sent.channel) == sent.channel and (target or sent.target) == sent.target
        ]


@dataclass(frozen=True)
class OutboxChannel:
    """Keeps what is sent, once it was sent: to the platform as well, where `real` is given.

    A fault can strike it. Neither the console nor the list has a memory to drop repeats by.
    """

    name: str
    outbox: Outbox
    real: Channel | None = None

    def send(self, target: str, saying: Saying, *, key: str) -> None:
        with self.outbox.calls.around("channel.send"):
            if self.real is not None:
                self.real.send(target, saying, key=key)
            self._keep(target, saying)

    def answer(self, message: Message, saying: Saying) -> None:
        with self.outbox.calls.around("channel.send"):
            if self.real is not None:
                self.real.answer(message, saying)
            self._keep(message.reply_target, saying)

    def _keep(self, target: str, saying: Saying) -> None:
        at = to_text(self.outbox.clock.now())
        self.outbox.sent.append(Sent(self.name, target, saying, at))
