"""Who listens, kept for a second: where nobody does, the busiest stack asks once a second."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from duecourse.domain.events.connection import Connection, Subscription
from duecourse.ports.chat import Connections
from duecourse.ports.runtime import Clock

KEPT = timedelta(seconds=1)


class KeptConnections:
    """What is changed here is known here at once."""

    def __init__(self, connections: Connections, clock: Clock) -> None:
        self._connections = connections
        self._clock = clock
        self._found: tuple[Sequence[Connection], datetime] | None = None

    def add(self, connection: Connection) -> None:
        self._connections.add(connection)
        self._found = None

    def change(self, connection_id: str, subscription: Subscription) -> bool:
        is_known = self._connections.change(connection_id, subscription)
        self._found = None
        return is_known

    def remove(self, connection_id: str) -> None:
        self._connections.remove(connection_id)
        self._found = None

    def all(self) -> Sequence[Connection]:
        now = self._clock.now()
        if self._found is None or now - self._found[1] >= KEPT:
            self._found = self._connections.all(), now
        return self._found[0]
