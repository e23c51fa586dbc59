"""Live events over a WebSocket, reconnecting whenever API Gateway ends the connection.

As with the API, the token is sent only to the configured server.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from duecourse.domain.http.url import parse_url
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.sync.client import ClientConnection, connect

from local.cli.client.problem import rejected_token_text
from local.cli.client.server import Server, server_from_env
from local.cli.errors import CommandFailedError, UsageError

URL_VARIABLE = "DUECOURSE_LIVE_URL"
TIMEOUT = 10.0  # seconds
PING_AFTER = 5 * 60.0  # seconds; API Gateway closes a connection after ten idle minutes
MAX_RECONNECT_DELAY = 30.0  # seconds
_CONTROL_TYPES = ("subscribed", "pong")


@dataclass(frozen=True, slots=True)
class EventFeed:
    server: Server

    @property
    def url(self) -> str:
        scheme = "wss" if self.server.url.is_encrypted else "ws"
        return f"{scheme}://{self.server.url.authority}{self.server.url.path}"

    def events(
        self, subscription: Mapping[str, Any], on_disconnect: Callable[[], None]
    ) -> Iterator[Any]:
        """Yield events forever, calling `on_disconnect` when events may have been missed.

        Raises CommandFailedError if the first connection fails, or if the server rejects the token.
        """
        tries, is_known = 0, False
        while True:
            try:
                with self._connect() as websocket:
                    tries, is_known = 0, True
                    if subscription:
                        websocket.send(json.dumps({"action": "subscribe", **subscription}))
                    yield from _read_events(websocket)
            except InvalidStatus as error:
                raise CommandFailedError(self._refusal_text(error.response.status_code)) from None
            except (OSError, WebSocketException):
                if not is_known:
                    raise CommandFailedError(
                        f"cannot connect to {self.url}", hint=self.server.hint
                    ) from None
            on_disconnect()
            time.sleep(min(2.0**tries - 1, MAX_RECONNECT_DELAY))
            tries += 1

    def _connect(self) -> ClientConnection:
        return connect(
            self.url,
            additional_headers={"Authorization": f"Bearer {self.server.token}"},
            proxy=None,
            open_timeout=TIMEOUT,
            close_timeout=1,
        )

    def _refusal_text(self, status: int) -> str:
        if status == 401:
            return rejected_token_text(self.url, self.server)
        if status == 429:
            return "This token has too many open connections: close some, or use another token"
        return f"{self.url} answered {status}; check {URL_VARIABLE}"


def feed_from_env(env: Mapping[str, str]) -> EventFeed:
    """Return the feed. Raises UsageError for invalid settings."""
    server = server_from_env(env)
    configured = env.get(URL_VARIABLE)
    if configured is None and not server.is_local:
        raise UsageError(f"{URL_VARIABLE} must be set: it is the stack's output LiveUrl")
    text = configured or f"{server.url.scheme.replace('http', 'ws')}://{server.url.authority}/live"
    scheme, _, rest = text.partition("://")
    if scheme not in ("ws", "wss"):
        raise UsageError(f"{URL_VARIABLE} must begin with wss://")
    try:
        live = replace(server, url=parse_url(f"{scheme.replace('ws', 'http')}://{rest}"))
    except ValueError as error:
        raise UsageError(f"{URL_VARIABLE} {error}") from None
    if not (live.url.is_encrypted or live.is_local):
        raise UsageError(
            f"{URL_VARIABLE} must begin with wss://; ws:// works only for this machine"
        )
    return EventFeed(live)


def _read_events(websocket: ClientConnection) -> Iterator[Any]:
    while True:
        try:
            message = json.loads(websocket.recv(timeout=PING_AFTER))
        except TimeoutError:
            websocket.send('{"action": "ping"}')
            continue
        except ValueError:
            raise CommandFailedError(
                f"received an event that is not JSON; check {URL_VARIABLE}"
            ) from None
        kind = message.get("type") if isinstance(message, dict) else None
        if kind == "error":
            raise UsageError(str(message.get("detail", {}).get("message")))
        if kind not in _CONTROL_TYPES:
            yield message
