"""The console channel: what it sends lands in a list that can be read over HTTP."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from duecourse.domain.instant import to_text

from local.calls import Calls
from local.clock import LocalClock


@dataclass(frozen=True)
class Sent:
    channel: str
    target: str
    text: str
    at: str


@dataclass
class Outbox:
    clock: LocalClock
    calls: Calls
    sent: list[Sent] = field(default_factory=list)

    def send(self, target: str, text: str, *, key: str) -> None:
        del key  # a console has no memory to drop repeats by
        with self.calls.around("channel.send"):
            self.sent.append(Sent("console", target, text, to_text(self.clock.now())))

    def items(self, channel: str | None, target: str | None) -> list[dict[str, str]]:
        return [
            asdict(sent)
            for sent in self.sent
            if (channel or sent.channel) == sent.channel and (target or sent.target) == sent.target
        ]
