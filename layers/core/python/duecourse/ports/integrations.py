"""Whom the use cases tell and ask outside, with the guarantees they rely on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from duecourse.domain.access.tokens import ApiToken
    from duecourse.domain.chat.chat_message import ChatMessage
    from duecourse.domain.chat.message import Message
    from duecourse.domain.events.event import LiveEvent
    from duecourse.domain.http.exchange import HttpResponse
    from duecourse.domain.tasks.outcome_marker import Outcome
    from duecourse.domain.tasks.task import Task


class Channel(Protocol):
    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        """Deliver it or raise: an error that knows its code, status or retry_after says so by
        attributes of that name. `key` is the same for every attempt at one occurrence."""

    def reply(self, message: Message, content: ChatMessage) -> None:
        """Deliver it to whoever said the message, as the platform wants such a message answered;
        raises as `send` does."""


class HttpClient(Protocol):
    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout: timedelta
    ) -> HttpResponse:
        """POST once and follow no redirect; the whole of it takes no longer than the timeout.

        Raises NotSentError where nothing can have arrived, NoAnswerError where it may have.
        """


class HttpPatchClient(HttpClient, Protocol):
    def patch(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout: timedelta
    ) -> HttpResponse:
        """As `post`, but what is there already is changed."""


class Invoker(Protocol):
    def invoke(self, function: str, payload: bytes, *, timeout: timedelta) -> bytes:
        """Call the function once, wait for its end, and give back the JSON that it answered.

        Raises where it failed: an error that knows its type, code, status or retry_after says so by
        attributes of that name, and by `effect` whether the function may have done its work.
        """


class EventBus(Protocol):
    def publish(self, events: Sequence[LiveEvent]) -> None:
        """Tell all of them in this order, each at least once, or raise UnpublishedError, which says
        how many were told. Telling any of them again is harmless, as each has its id."""


class Keys(Protocol):
    def get(self, name: str) -> str | None:
        """The secret of that name; None where there is none. Kept for some minutes."""


class ApiTokens(Protocol):
    def find(self, secret: str) -> ApiToken | None:
        """Whose secret it is; None where it is nobody's, or has expired. Kept for half a minute.

        Raises UnusableTokensError where what is kept says nothing for sure.
        """

    def find_by_hash(self, sha256: str) -> ApiToken | None:
        """The token with that hash, with the guarantees of `find`."""


class ConnectionSender(Protocol):
    def send(self, connection_id: str, text: str) -> None:
        """Send it to whoever listens there, after all that was sent before.

        Raises ConnectionGoneError where nobody does, and soon: a slow listener holds up nobody.
        """

    def close(self, connection_id: str) -> None:
        """Send nobody there anything any more. Raises ConnectionGoneError where nobody is."""


@dataclass(frozen=True, kw_only=True)
class ProviderRequest:
    """What a provider is asked: the person's own words, and beside them what was learnt.

    `instruction` is the system prompt's. The answer must be there by the `deadline`. For the review
    of a specification, `earlier_attempts` counts the attempts at the task that is reviewed.
    """

    description: str
    guidance: Sequence[str]
    system_prompt: str
    attempt: int
    idempotency_key: str
    payload: Mapping[str, Any]
    deadline: datetime
    earlier_attempts: int = 0


@dataclass(frozen=True)
class ProviderReply:
    """`cost` in micro-dollars; None where the provider does not say."""

    text: str
    cost: int | None = None
    model: str | None = None


class Provider(Protocol):
    @property
    def payload_keys(self) -> Collection[str]:
        """The keys of a payload that are the provider's own."""

    def call(self, request: ProviderRequest) -> ProviderReply:
        """Carry it out, or raise: an error that knows its type, code, status, retry_after, cost or
        model says so by attributes of that name."""

    def estimate_max_cost(self, request: ProviderRequest) -> int | None:
        """In micro-dollars, never less than it will cost; None where that is not known."""

    def check(self, payload: Mapping[str, Any]) -> None:
        """Raises ValueError for a payload it could make nothing of."""


class Verifier(Protocol):
    def verify(self, task: Task, *, deadline: datetime) -> Outcome:
        """What the task's verifier says of its work, or raises where it cannot be asked."""
