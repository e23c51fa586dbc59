"""Let in somebody who wants to listen to live events."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from duecourse.domain.events.connection import Connection, connected
from duecourse.domain.events.handshake import ForeignOriginError, Knock, NotLetInError
from duecourse.ports.chat import Connections
from duecourse.ports.integrations import ApiTokens


def connect_live(
    knock: Knock,
    *,
    connections: Connections,
    tokens: ApiTokens,
    origins: Collection[str],
    now: datetime,
) -> Connection:
    """They hear of everything that happens from now on, or of what they ask for later.

    Raises ForeignOriginError, NotLetInError, and what reading the tokens raises: whoever cannot be
    known is not let in.
    """
    if not knock.is_from(origins):
        raise ForeignOriginError
    token = tokens.find(knock.secret) if knock.secret else None
    if token is None:
        raise NotLetInError
    connection = connected(knock.connection_id, token, now=now)
    if not connection.may_listen:
        raise NotLetInError
    connections.add(connection)
    return connection
