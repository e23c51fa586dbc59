"""A cache of the open connections with a TTL of one second, which limits reads on a busy stack."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from duecourse.domain.events.connection import Connection, Subscription
from duecourse.ports.chat import Connections
from duecourse.ports.runtime import Clock

CACHE_TTL = timedelta(seconds=1)


class CachedConnections:
    """Caches `list_all`. Changes made through this object clear the cache at once."""

    def __init__(self, connections: Connections, clock: Clock) -> None:
        self._connections = connections
        self._clock = clock
        self._cached: tuple[Sequence[Connection], datetime] | None = None

    def add(self, connection: Connection) -> None:
        self._connections.add(connection)
        self._cached = None

    def update_subscription(self, connection_id: str, subscription: Subscription) -> bool:
        is_known = self._connections.update_subscription(connection_id, subscription)
        self._cached = None
        return is_known

    def remove(self, connection_id: str) -> None:
        self._connections.remove(connection_id)
        self._cached = None

    def list_all(self) -> Sequence[Connection]:
        now = self._clock.now()
        if self._cached is None or now - self._cached[1] >= CACHE_TTL:
            self._cached = self._connections.list_all(), now
        return self._cached[0]
