"""Accept a WebSocket connection for live events."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from duecourse.domain.events.connection import (
    MAX_CONNECTIONS_PER_TOKEN,
    Connection,
    create_connection,
)
from duecourse.domain.events.handshake import (
    ConnectRequest,
    ForeignOriginError,
    TooManyConnectionsError,
    UnauthorizedError,
)
from duecourse.ports.chat import Connections
from duecourse.ports.integrations import ApiTokens


def connect(
    request: ConnectRequest,
    *,
    connections: Connections,
    tokens: ApiTokens,
    allowed_origins: Collection[str],
    now: datetime,
) -> Connection:
    """Store the connection. It receives all events until it subscribes to some.

    Raises ForeignOriginError, UnauthorizedError, TooManyConnectionsError, and whatever reading the
    tokens raises: a caller that cannot be authenticated is refused. Clients that connect at the
    same moment may exceed the limit by a few.
    """
    if not request.is_allowed_origin(allowed_origins):
        raise ForeignOriginError
    token = tokens.find(request.secret) if request.secret else None
    if token is None:
        raise UnauthorizedError
    connection = create_connection(request.connection_id, token, now=now)
    if not connection.can_listen:
        raise UnauthorizedError
    if _count_of_token(connection, connections.list_all(), now) >= MAX_CONNECTIONS_PER_TOKEN:
        raise TooManyConnectionsError(token.name, MAX_CONNECTIONS_PER_TOKEN)
    connections.add(connection)
    return connection


def _count_of_token(new: Connection, known: Sequence[Connection], now: datetime) -> int:
    """Return how many other open connections have the token of `new`."""
    others = [one for one in known if one.id != new.id and not one.has_expired(now)]
    return sum(one.token_sha256 == new.token_sha256 for one in others)
