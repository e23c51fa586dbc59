"""Records what the channels sent, in a list readable over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from duecourse.adapters.channels.errors import token_refused
from duecourse.adapters.channels.slack.outbound import TOKEN_REFUSED_CODES
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.time.instant import to_text
from duecourse.ports.integrations import Channel

from local.runtime.call_interceptor import CallInterceptor
from local.runtime.clock import LocalClock
from local.testing.faults import InjectedError

TOKEN_REFUSED_STATUS = 401
REPLY_CONTEXT_LIFETIME = timedelta(minutes=15)  # of Discord; Slack's lasts for 30 minutes


@dataclass(frozen=True)
class SentMessage:
    """`key` is the idempotency key, empty for a reply."""

    channel: str
    target: str
    content: ChatMessage
    at: str
    key: str = ""

    def to_json(self) -> dict[str, Any]:
        fields = {"channel": self.channel, "target": self.target, "text": self.content.text}
        return {**fields, "at": self.at, "buttons": self.content.to_json()["buttons"]}


@dataclass
class Outbox:
    clock: LocalClock
    calls: CallInterceptor
    sent: list[SentMessage] = field(default_factory=list)

    def list_messages(self, channel: str | None, target: str | None) -> list[dict[str, Any]]:
        return [
            sent.to_json()
            for sent in self.sent
            if (channel or sent.channel) == sent.channel and (target or sent.target) == sent.target
        ]


@dataclass(frozen=True)
class OutboxChannel:
    """Sends through `inner`, if there is one, and then records the message.

    Faults can be injected. The outbox does not deduplicate. `has_buttons`: whether the channel
    shows them.
    """

    name: str
    outbox: Outbox
    inner: Channel | None = None
    has_buttons: bool = True

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        with self._intercept():
            if self.inner is not None:
                self.inner.send(target, content, idempotency_key=idempotency_key)
            self._record(target, content, idempotency_key)

    def reply(self, message: Message, content: ChatMessage) -> None:
        with self._intercept():
            if self.inner is not None:
                self.inner.reply(message, content)
            self._record(self._reply_target(message), content)

    @contextmanager
    def _intercept(self) -> Iterator[None]:
        """Intercept a send. An injected refusal of the token is raised as the real channels do."""
        try:
            with self.outbox.calls.intercept_send("channel.send"):
                yield
        except InjectedError as error:
            if error.status == TOKEN_REFUSED_STATUS or error.code in TOKEN_REFUSED_CODES:
                raise token_refused(self.name, str(error), status=TOKEN_REFUSED_STATUS) from error
            raise

    def _reply_target(self, message: Message) -> str:
        """Return where the reply arrives. The real channel decides it for itself."""
        is_expired = self.outbox.clock.now() - message.sent_at > REPLY_CONTEXT_LIFETIME
        can_use_context = message.reply_context and not is_expired
        return message.reply_target if can_use_context else message.late_reply_target

    def _record(self, target: str, content: ChatMessage, key: str = "") -> None:
        at = to_text(self.outbox.clock.now())
        visible_content = content if self.has_buttons else ChatMessage(content.text)
        self.outbox.sent.append(SentMessage(self.name, target, visible_content, at, key))
