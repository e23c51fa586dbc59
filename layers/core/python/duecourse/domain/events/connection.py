"""Somebody who listens to live events: by which token, until when, and to which of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import ApiToken
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.tasks.event import EventType

MAX_CONNECTION_TIME = timedelta(hours=2)  # API Gateway ends every connection then
# API Gateway takes nothing for a connection until it was let in: until then it seems to be gone.
CONNECT_GRACE_PERIOD = timedelta(seconds=10)


@dataclass(frozen=True, kw_only=True, slots=True)
class Subscription:
    """What somebody wants to hear of; a field left out lets everything through.

    A type may be a family, such as `task:`; a task may be named by the beginning of its id. What is
    about nobody's task is not heard by whoever asks for those of a channel or a sender.
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
        """Without what was left out."""
        told = {**asdict(self), "types": list(self.types)}
        return {name: value for name, value in told.items() if value}


SUBSCRIPTION_FIELDS = tuple(one.name for one in fields(Subscription))  # by name


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """`token_sha256` is all that is kept of the token: by it, one that was revoked is noticed."""

    id: str
    token_name: str
    token_sha256: str
    scope: Scope
    connected_at: datetime
    expires_at: datetime
    subscription: Subscription = field(default_factory=Subscription)

    @property
    def can_listen(self) -> bool:
        """A token sees the tasks of all senders, here as over HTTP."""
        return self.scope.covers(Scope.READ)

    def has_expired(self, now: datetime) -> bool:
        return now >= self.expires_at

    def is_connecting(self, now: datetime) -> bool:
        return now < self.connected_at + CONNECT_GRACE_PERIOD


def create_connection(connection_id: str, token: ApiToken, *, now: datetime) -> Connection:
    """It ends with its token, if that is the first to end."""
    ends = now + MAX_CONNECTION_TIME
    return Connection(
        id=connection_id,
        token_name=token.name,
        token_sha256=token.sha256,
        scope=token.scope,
        connected_at=now,
        expires_at=min(ends, token.expires_at or ends),
    )
