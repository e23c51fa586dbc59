"""Interfaces to outside systems: chat platforms, HTTP, Lambda, event bus, secrets, providers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from duecourse.domain.access.key_rotation import KeyOrKeys
    from duecourse.domain.access.tokens import ApiToken
    from duecourse.domain.chat.chat_message import ChatMessage
    from duecourse.domain.chat.message import Message
    from duecourse.domain.events.event import LiveEvent
    from duecourse.domain.http.exchange import HttpResponse
    from duecourse.domain.tasks.outcome_marker import Outcome
    from duecourse.domain.tasks.task import Task


class Channel(Protocol):
    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        """Deliver `content` to `target`, or raise.

        The error carries `code`, `status` and `retry_after` as attributes where they are known.
        Every attempt at one occurrence has the same `idempotency_key`.
        """

    def reply(self, message: Message, content: ChatMessage) -> None:
        """Answer `message` in the way its platform expects. Raises as `send` does."""


class Topic(Protocol):
    def publish(self, *, subject: str, text: str) -> None:
        """Send `text` to every subscriber, or raise as `Channel.send` does.

        `subject` must be printable ASCII of less than 100 characters.
        """


class HttpClient(Protocol):
    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout: timedelta
    ) -> HttpResponse:
        """POST once, without following redirects. `timeout` covers the whole exchange.

        Raises NotSentError if nothing can have arrived, NoResponseError if the request may have.
        """


class HttpPatchClient(HttpClient, Protocol):
    def patch(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout: timedelta
    ) -> HttpResponse:
        """PATCH with the guarantees of `post`."""


class Invoker(Protocol):
    def invoke(self, function: str, payload: bytes, *, timeout: timedelta) -> bytes:
        """Invoke the function once, wait until it ends, and return the JSON it answered.

        Raises if the function failed. The error carries `type`, `code`, `status` and `retry_after`
        as attributes where they are known, and in `effect` whether the function may have done its
        work.
        """


class EventBus(Protocol):
    def publish(self, events: Sequence[LiveEvent]) -> None:
        """Publish all events in this order, each at least once.

        Raises PublishError, which says how many were published. Publishing an event again is
        harmless: consumers drop duplicates by its id.
        """


class Keys(Protocol):
    def get(self, name: str) -> str | None:
        """Return the secret called `name`, or None. Values are cached for some minutes."""


class TokenSource(Keys, Protocol):
    def refresh(self) -> None:
        """Read the secret again on the next use, unless it was read some seconds ago.

        For a value that turned out to be missing or wrong: an operator may have replaced it.
        """


class RotatingKeys(Protocol):
    def get(self, name: str) -> KeyOrKeys | None:
        """Return the secret called `name`: one, or several while it is being replaced."""


class NamedSecrets(Protocol):
    """Secrets that tasks may use. Nobody else's can be read."""

    def __contains__(self, name: object) -> bool: ...

    def __iter__(self) -> Iterator[str]:
        """Yield the names, without reading any secret."""

    def __getitem__(self, name: str) -> str:
        """Return the text of the secret. Values are cached for some minutes.

        Raises if it cannot be read.
        """


class ApiTokens(Protocol):
    def find(self, secret: str) -> ApiToken | None:
        """Return the token that has this secret; None if it is unknown or expired.

        Tokens are cached for half a minute. Raises InvalidTokensError if the stored tokens are
        invalid.
        """

    def find_by_hash(self, sha256: str) -> ApiToken | None:
        """Return the token with that hash, with the guarantees of `find`."""


class TokenList(Protocol):
    def list_all(self) -> Sequence[ApiToken]:
        """Return all tokens, expired ones too. Raises InvalidTokensError."""


class ConnectionSender(Protocol):
    def send(self, connection_id: str, text: str) -> None:
        """Send `text` to the connection, after everything sent to it before.

        Raises ConnectionGoneError if the connection is closed. Fails fast on a slow client, so that
        one client cannot delay the others.
        """

    def close(self, connection_id: str) -> None:
        """Close the connection. Raises ConnectionGoneError if it is closed already."""


@dataclass(frozen=True, kw_only=True)
class ProviderRequest:
    """One call to a provider.

    `description` is the person's own text, `guidance` the hints from earlier failures, `deadline`
    the latest time for the reply. `earlier_attempts` is used for the review of a specification
    only: it counts the attempts at the task under review.
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
    """A provider's reply. `cost` is in micro-dollars; None if the provider does not report it."""

    text: str
    cost: int | None = None
    model: str | None = None


class Provider(Protocol):
    @property
    def payload_keys(self) -> Collection[str]:
        """Return the payload keys that belong to this provider."""

    def call(self, request: ProviderRequest) -> ProviderReply:
        """Make the call, or raise.

        The error carries `type`, `code`, `status`, `retry_after`, `cost` and `model` as attributes
        where they are known.
        """

    def estimate_max_cost(self, request: ProviderRequest) -> int | None:
        """Return an upper bound of the cost in micro-dollars; None if it is unknown."""

    def check(self, payload: Mapping[str, Any]) -> None:
        """Raise ValueError for a payload that the provider cannot use."""


class Verifier(Protocol):
    def verify(self, task: Task, *, deadline: datetime) -> Outcome:
        """Ask the task's verifier about its work and return the outcome. Raises if it cannot be
        asked."""
