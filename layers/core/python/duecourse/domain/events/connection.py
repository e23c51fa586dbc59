"""A WebSocket connection that receives live events: its token, lifetime and subscription."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import ApiToken
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.tasks.event import EventType

MAX_CONNECTION_TIME = timedelta(hours=2)  # API Gateway's limit
# Every event is sent to every connection, so the connections of one token delay all others.
MAX_CONNECTIONS_PER_TOKEN = 50
# Until a connection is accepted, API Gateway refuses to send to it, as if it were gone.
CONNECT_GRACE_PERIOD = timedelta(seconds=10)


@dataclass(frozen=True, kw_only=True, slots=True)
class Subscription:
    """The events a client wants. An empty field matches everything.

    A type may be a family, such as `task:`. `task_id` may be the first characters of an id. With
    `channel` or `sender_id`, events that belong to no task are left out.
    """

    types: tuple[str, ...] = ()
    task_id: str | None = None
    channel: str | None = None
    sender_id: str | None = None

    def matches(self, event: LiveEvent) -> bool:
        return (
            self._matches_type(event.type)
            and event.task_id.startswith(self.task_id or "")
            and self.channel in (None, event.owner and event.owner.channel)
            and self.sender_id in (None, event.owner and event.owner.sender_id)
        )

    def _matches_type(self, kind: EventType) -> bool:
        return not self.types or kind in self.types or kind.family in self.types

    def to_json(self) -> dict[str, Any]:
        """Return the subscription without its empty fields."""
        values = {**asdict(self), "types": list(self.types)}
        return {name: value for name, value in values.items() if value}


SUBSCRIPTION_FIELDS = tuple(one.name for one in fields(Subscription))


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """An open connection. Only the hash of its token is stored, to detect a revoked token."""

    id: str
    token_name: str
    token_sha256: str
    scope: Scope
    connected_at: datetime
    expires_at: datetime
    subscription: Subscription = field(default_factory=Subscription)

    @property
    def can_listen(self) -> bool:
        """Whether the token may read. It sees the tasks of all senders, as over HTTP."""
        return self.scope.covers(Scope.READ)

    def has_expired(self, now: datetime) -> bool:
        return now >= self.expires_at

    def is_connecting(self, now: datetime) -> bool:
        return now < self.connected_at + CONNECT_GRACE_PERIOD


def create_connection(connection_id: str, token: ApiToken, *, now: datetime) -> Connection:
    """Return a new connection. It expires after MAX_CONNECTION_TIME or with its token."""
    ends = now + MAX_CONNECTION_TIME
    return Connection(
        id=connection_id,
        token_name=token.name,
        token_sha256=token.sha256,
        scope=token.scope,
        connected_at=now,
        expires_at=min(ends, token.expires_at or ends),
    )
