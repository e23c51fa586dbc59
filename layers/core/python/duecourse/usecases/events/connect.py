"""Accept a WebSocket connection for live events."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from duecourse.domain.events.connection import Connection, create_connection
from duecourse.domain.events.handshake import ConnectRequest, ForeignOriginError, UnauthorizedError
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

    Raises ForeignOriginError or UnauthorizedError, and whatever reading the tokens raises: a caller
    that cannot be authenticated is refused.
    """
    if not request.is_allowed_origin(allowed_origins):
        raise ForeignOriginError
    token = tokens.find(request.secret) if request.secret else None
    if token is None:
        raise UnauthorizedError
    connection = create_connection(request.connection_id, token, now=now)
    if not connection.can_listen:
        raise UnauthorizedError
    connections.add(connection)
    return connection
