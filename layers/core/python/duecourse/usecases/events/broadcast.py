"""Tell all who listen what has just happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from duecourse.domain.errors import ConnectionGoneError
from duecourse.domain.events.connection import Connection
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.events.protocol import pushed
from duecourse.ports.chat import Connections
from duecourse.ports.integrations import ApiTokens, Pusher
from duecourse.ports.runtime import Clock, FanOut

TIME_LIMIT = timedelta(seconds=4)  # for all listeners together: the next batch waits behind this
NEWS_FOR = timedelta(seconds=60)  # what is older would only hold up what happens now
_Told = Sequence[tuple[LiveEvent, str]]


@dataclass(frozen=True)
class Audience:
    connections: Connections
    tokens: ApiTokens
    pusher: Pusher
    fan_out: FanOut
    clock: Clock


@dataclass(frozen=True)
class Heard:
    """What became of one listener: how much it was told and missed. `ended` says why it is a
    listener no more, `error` why it was told no more of this."""

    connection: Connection
    count: int = 0
    missed: int = 0
    ended: str | None = None
    error: Exception | None = None


def push_live(events: Iterable[LiveEvent], audience: Audience) -> Sequence[Heard]:
    """Each listener is told what it wants to hear, in this order, as far as there is time for it.

    Where nobody listens, the events are not even read. One that is not there any more, or that may
    not listen any more, is let go of at once; whatever else fails concerns that listener alone.
    Raises what reading the connections or the tokens raises: then nobody was told anything.
    """
    connections = audience.connections.all()
    if not connections:
        return []
    told = [(event, pushed(event)) for event in events]
    if not told:
        return []
    is_valid = _valid_tokens(connections, audience)
    deadline = audience.clock.now() + TIME_LIMIT

    def serve(n: int) -> Heard:
        try:
            return _served(connections[n], told, audience, is_valid, deadline)
        except Exception as error:  # noqa: BLE001 - of one listener; it is told by the outcome
            return Heard(connections[n], error=error)

    return list(audience.fan_out(serve, range(len(connections))))


def _valid_tokens(connections: Sequence[Connection], audience: Audience) -> frozenset[str]:
    shown = {connection.token_sha256 for connection in connections}
    return frozenset(sha256 for sha256 in shown if audience.tokens.hashed(sha256))


def _served(
    connection: Connection,
    told: _Told,
    audience: Audience,
    is_valid: frozenset[str],
    deadline: datetime,
) -> Heard:
    if connection.has_expired(audience.clock.now()):
        return _let_go(connection, audience, "expired")
    if connection.token_sha256 not in is_valid or not connection.may_listen:
        return _let_go(connection, audience, "token no longer valid")
    wanted = [text for event, text in told if connection.subscription.wants(event)]
    for count, text in enumerate(wanted):
        if audience.clock.now() >= deadline:
            return Heard(connection, count, missed=len(wanted) - count)
        try:
            audience.pusher.push(connection.id, text)
        except ConnectionGoneError:
            if connection.may_be_getting_in(audience.clock.now()):
                return Heard(connection, count, missed=len(wanted) - count)
            audience.connections.remove(connection.id)
            return Heard(connection, count, ended="gone")
    return Heard(connection, len(wanted))


def _let_go(connection: Connection, audience: Audience, ended: str) -> Heard:
    """Closed as well: whoever is told nothing any more should know it."""
    audience.connections.remove(connection.id)
    with suppress(ConnectionGoneError):
        audience.pusher.close(connection.id)
    return Heard(connection, ended=ended)
