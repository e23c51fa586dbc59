"""The local stack's WebSocket connections as one container sees them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from duecourse.domain.errors import ConnectionGoneError


@dataclass(frozen=True)
class ContainerSender:
    """`gone_error` is the container's own class of ConnectionGoneError, which its code catches."""

    sender: Any
    gone_error: type[Exception]

    def send(self, connection_id: str, text: str) -> None:
        with self._as_own_error(connection_id):
            self.sender.send(connection_id, text)

    def close(self, connection_id: str) -> None:
        with self._as_own_error(connection_id):
            self.sender.close(connection_id)

    @contextmanager
    def _as_own_error(self, connection_id: str) -> Iterator[None]:
        try:
            yield
        except ConnectionGoneError:
            raise self.gone_error(connection_id) from None
