"""Send live events to the subscribed WebSocket connections."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from duecourse.domain.errors import ConnectionGoneError
from duecourse.domain.events.connection import Connection
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.events.protocol import encode_event
from duecourse.ports.chat import Connections
from duecourse.ports.integrations import ApiTokens, ConnectionSender
from duecourse.ports.runtime import Clock, FanOut

TIME_LIMIT = timedelta(seconds=4)  # for all connections together: the next batch waits for this one
MAX_EVENT_AGE = timedelta(seconds=60)  # older events would delay the current ones
_EncodedEvents = Sequence[tuple[LiveEvent, str]]


@dataclass(frozen=True)
class BroadcastDeps:
    connections: Connections
    tokens: ApiTokens
    sender: ConnectionSender
    fan_out: FanOut
    clock: Clock


@dataclass(frozen=True)
class BroadcastResult:
    """What happened for one connection.

    `missed_count`: events not sent for lack of time. `end_reason`: why the connection was removed.
    `error`: why sending stopped.
    """

    connection: Connection
    sent_count: int = 0
    missed_count: int = 0
    end_reason: str | None = None
    error: Exception | None = None


def broadcast(events: Iterable[LiveEvent], deps: BroadcastDeps) -> Sequence[BroadcastResult]:
    """Send each connection the events it subscribed to, in order, until TIME_LIMIT is over.

    Without connections, `events` is not consumed. A closed connection, or one without a valid
    token, is removed; any other error concerns that connection only. Raises if the connections or
    tokens cannot be read; then nothing was sent.
    """
    connections = deps.connections.list_all()
    if not connections:
        return []
    messages = [(event, encode_event(event)) for event in events]
    if not messages:
        return []
    is_valid = _valid_token_hashes(connections, deps)
    deadline = deps.clock.now() + TIME_LIMIT

    def serve(n: int) -> BroadcastResult:
        try:
            return _send_to_connection(connections[n], messages, deps, is_valid, deadline)
        except Exception as error:  # noqa: BLE001 - it is part of the result
            return BroadcastResult(connections[n], error=error)

    return list(deps.fan_out(serve, range(len(connections))))


def _valid_token_hashes(connections: Sequence[Connection], deps: BroadcastDeps) -> frozenset[str]:
    hashes = {connection.token_sha256 for connection in connections}
    return frozenset(sha256 for sha256 in hashes if deps.tokens.find_by_hash(sha256))


def _send_to_connection(
    connection: Connection,
    encoded: _EncodedEvents,
    deps: BroadcastDeps,
    valid_token_hashes: frozenset[str],
    deadline: datetime,
) -> BroadcastResult:
    if connection.has_expired(deps.clock.now()):
        return _drop_connection(connection, deps, "expired")
    if connection.token_sha256 not in valid_token_hashes or not connection.can_listen:
        return _drop_connection(connection, deps, "token no longer valid")
    texts = [text for event, text in encoded if connection.subscription.matches(event)]
    for count, text in enumerate(texts):
        if deps.clock.now() >= deadline:
            return BroadcastResult(connection, count, missed_count=len(texts) - count)
        try:
            deps.sender.send(connection.id, text)
        except ConnectionGoneError:
            if connection.is_connecting(deps.clock.now()):
                return BroadcastResult(connection, count, missed_count=len(texts) - count)
            deps.connections.remove(connection.id)
            return BroadcastResult(connection, count, end_reason="gone")
    return BroadcastResult(connection, len(texts))


def _drop_connection(connection: Connection, deps: BroadcastDeps, reason: str) -> BroadcastResult:
    """Remove the connection and close it, so that its client notices."""
    deps.connections.remove(connection.id)
    with suppress(ConnectionGoneError):
        deps.sender.close(connection.id)
    return BroadcastResult(connection, end_reason=reason)
