"""Tell all who listen what has just happened."""

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

TIME_LIMIT = timedelta(seconds=4)  # for all listeners together: the next batch waits behind this
MAX_EVENT_AGE = timedelta(seconds=60)  # what is older would only hold up what happens now
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
    """What became of one listener: how much it was told and missed. `ended` says why it is a
    listener no more, `error` why it was told no more of this."""

    connection: Connection
    sent_count: int = 0
    missed_count: int = 0
    end_reason: str | None = None
    error: Exception | None = None


def broadcast(events: Iterable[LiveEvent], deps: BroadcastDeps) -> Sequence[BroadcastResult]:
    """Each listener is told what it wants to hear, in this order, as far as there is time for it.

    Where nobody listens, the events are not even read. One that is not there any more, or that may
    not listen any more, is let go of at once; whatever else fails concerns that listener alone.
    Raises what reading the connections or the tokens raises: then nobody was told anything.
    """
    connections = deps.connections.list_all()
    if not connections:
        return []
    told = [(event, encode_event(event)) for event in events]
    if not told:
        return []
    is_valid = _valid_token_hashes(connections, deps)
    deadline = deps.clock.now() + TIME_LIMIT

    def serve(n: int) -> BroadcastResult:
        try:
            return _send_to_connection(connections[n], told, deps, is_valid, deadline)
        except Exception as error:  # noqa: BLE001 - of one listener; it is told by the outcome
            return BroadcastResult(connections[n], error=error)

    return list(deps.fan_out(serve, range(len(connections))))


def _valid_token_hashes(connections: Sequence[Connection], deps: BroadcastDeps) -> frozenset[str]:
    shown = {connection.token_sha256 for connection in connections}
    return frozenset(sha256 for sha256 in shown if deps.tokens.find_by_hash(sha256))


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
    wanted = [text for event, text in encoded if connection.subscription.matches(event)]
    for count, text in enumerate(wanted):
        if deps.clock.now() >= deadline:
            return BroadcastResult(connection, count, missed_count=len(wanted) - count)
        try:
            deps.sender.send(connection.id, text)
        except ConnectionGoneError:
            if connection.is_connecting(deps.clock.now()):
                return BroadcastResult(connection, count, missed_count=len(wanted) - count)
            deps.connections.remove(connection.id)
            return BroadcastResult(connection, count, end_reason="gone")
    return BroadcastResult(connection, len(wanted))


def _drop_connection(connection: Connection, deps: BroadcastDeps, reason: str) -> BroadcastResult:
    """Closed as well: whoever is told nothing any more should know it."""
    deps.connections.remove(connection.id)
    with suppress(ConnectionGoneError):
        deps.sender.close(connection.id)
    return BroadcastResult(connection, end_reason=reason)
