"""A client of the WebSocket API that keeps all messages, without a socket and threads."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Any

from local.runtime.api_gateway import Request
from local.runtime.stack import DEFAULT_TOKEN
from local.runtime.websocket import WebSocketClosedError
from local.runtime.websocket_api import WebSocketApi

_HEADERS = {
    "host": "localhost",
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec-websocket-version": "13",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "authorization": f"Bearer {DEFAULT_TOKEN}",
}


@dataclass
class Listener:
    """`opened_at` and `closed_at` are None until then. `pushed`: what it got, with the time.

    `subscriptions`: the messages by which it chose events, each with the time of the answer.
    """

    api: WebSocketApi
    now: Callable[[], datetime]
    id: str = ""
    opened_at: datetime | None = None
    closed_at: datetime | None = None
    pushed: list[tuple[datetime, str]] = field(default_factory=list)
    replies: list[str] = field(default_factory=list)
    is_filtered: bool = False

    def connect(self) -> bool:
        """Open the connection; return False if it is refused."""
        self.id = base64.urlsafe_b64encode(uuid.uuid4().bytes[:11]).decode()
        self.api.add_socket(self.id, self)
        status = self.api.shake_hands(self.id, self._request).status_code
        if status != HTTPStatus.SWITCHING_PROTOCOLS:
            self.api.remove_socket(self.id)
            return False
        self.opened_at = self.now()
        return True

    def say(self, text: str) -> None:
        if self.closed_at is None:
            self.replies.append(self.api.handle_message(self.id, self._request, text))

    def disconnect(self, *, is_clean: bool) -> None:
        """Close the connection. If it just breaks, the function is not told."""
        if self.closed_at is not None:
            return
        self.closed_at = self.now()
        if is_clean:
            self.api.invoke_disconnect(self.id, self._request)
        self.api.remove_socket(self.id)

    def send(self, text: str) -> None:
        """Receive a message, as the API's own sockets do."""
        if self.closed_at is not None:
            raise WebSocketClosedError
        self.pushed.append((self.now(), text))

    def close(self, *_reason: Any) -> None:
        self.closed_at = self.closed_at or self.now()

    @property
    def _request(self) -> Request:
        return Request("GET", "/live", dict(_HEADERS), b"", "127.0.0.1")
