"""API Gateway's WebSocket API: keeps the connections and invokes the function for each event."""

from __future__ import annotations

import base64
import json
import socket
import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Protocol

from duecourse.domain.errors import ConnectionGoneError
from websockets.datastructures import Headers
from websockets.frames import CloseCode
from websockets.http11 import Request as Handshake
from websockets.http11 import Response
from websockets.server import ServerProtocol

from local.runtime.call_interceptor import CallInterceptor
from local.runtime.clock import LocalClock
from local.runtime.functions import InvocationError
from local.runtime.websocket import WebSocket, WebSocketClosedError

if TYPE_CHECKING:
    from local.runtime.api_gateway import Request

FUNCTION = "LiveFunction"
STAGE = "live"
_ROUTE_KEYS = {"CONNECT": "$connect", "DISCONNECT": "$disconnect", "MESSAGE": "$default"}
Invoke = Callable[[str, Any], Any]


class ClientSocket(Protocol):
    """The API's end of a connection: a WebSocket, or the client of a simulation."""

    def send(self, text: str) -> None:
        """Send a message to the client. Raises WebSocketClosedError."""

    def close(self, code: CloseCode = ..., reason: str = ...) -> None: ...


class WebSocketApi:
    """Also the local stack's ConnectionSender; deployed, that calls API Gateway over HTTP."""

    def __init__(self, invoke: Invoke, clock: LocalClock, calls: CallInterceptor) -> None:
        self._invoke = invoke
        self._clock = clock
        self._calls = calls
        self._condition = threading.Condition()
        self._sockets: dict[str, ClientSocket] = {}
        self._connected: set[str] = set()
        self._is_closed = False

    def serve(self, sock: socket.socket, request: Request, initial_data: bytes) -> None:
        """Serve a connection until either side closes it.

        `initial_data` was received together with the request.
        """
        connection_id = base64.urlsafe_b64encode(uuid.uuid4().bytes[:11]).decode()
        with WebSocket(sock) as websocket:
            # Registered first: the function may send to it as soon as it knows the id.
            self.add_socket(connection_id, websocket)
            try:
                response = self.shake_hands(connection_id, request)
                websocket.send_handshake(response)
                if response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
                    self._mark_connected(connection_id)
                    self._handle_messages(connection_id, websocket, request, initial_data)
            except OSError:
                self.invoke_disconnect(connection_id, request)
            finally:
                self.remove_socket(connection_id)

    def send(self, connection_id: str, text: str) -> None:
        with self._calls.intercept("live.push"):
            try:
                self._get_socket(connection_id).send(text)
            except WebSocketClosedError:
                raise ConnectionGoneError(connection_id) from None

    def close(self, connection_id: str) -> None:
        self._get_socket(connection_id).close()

    def broadcast(self, text: str) -> int:
        """Send to all connections, bypassing the function, and return how many received it.

        A client that does not read does not delay the others.
        """
        received_count = 0
        for websocket in list(self._sockets.values()):
            try:
                websocket.send(text)
                received_count += 1
            except WebSocketClosedError:
                continue
        return received_count

    def wait_for_connections(self, count: int, timeout: float) -> bool:
        """Wait until the function knows exactly `count` connections. Return False on timeout."""
        with self._condition:
            return self._condition.wait_for(lambda: len(self._connected) == count, timeout)

    def close_all(self) -> None:
        """Close all connections without invoking the function: its state is being reset, too."""
        with self._condition:
            ended, self._sockets = self._sockets, {}
            self._connected.clear()
            self._condition.notify_all()
        for websocket in ended.values():
            websocket.close(CloseCode.GOING_AWAY)

    def shut_down(self) -> None:
        """Close all connections and reject new ones."""
        self._is_closed = True
        self.close_all()

    # --- one connection -----------------------------------------------------------------------

    def shake_hands(self, connection_id: str, request: Request) -> Response:
        """Invoke the connect route, and return the response to the client's handshake."""
        protocol = ServerProtocol()
        response = protocol.accept(Handshake(request.target, Headers(request.headers)))
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            return response
        if self._is_closed:
            return protocol.reject(HTTPStatus.SERVICE_UNAVAILABLE, "the stack is stopping\n")
        try:
            event = self._to_connect_event(connection_id, request)
        except ValueError:
            return protocol.reject(HTTPStatus.BAD_REQUEST, "the request cannot be read\n")
        try:
            reply = self._invoke(FUNCTION, event)
        except InvocationError:
            return protocol.reject(HTTPStatus.INTERNAL_SERVER_ERROR, "the function failed\n")
        if reply["statusCode"] != HTTPStatus.OK:
            return protocol.reject(reply["statusCode"], f"{reply.get('body') or ''}\n")
        response.headers.update(reply.get("headers") or {})
        return response

    def _handle_messages(
        self, connection_id: str, websocket: WebSocket, request: Request, initial_data: bytes
    ) -> None:
        for message in websocket.messages(initial_data):
            if not self._is_open(connection_id):
                return
            try:
                websocket.send(self.handle_message(connection_id, request, message))
            except WebSocketClosedError:
                break
        websocket.abort()
        self.invoke_disconnect(connection_id, request)

    def handle_message(self, connection_id: str, request: Request, message: str | bytes) -> str:
        """Invoke the function with a message of the client, and return the reply."""
        is_text = isinstance(message, str)
        body = message if isinstance(message, str) else base64.b64encode(message).decode()
        event = self._to_event("MESSAGE", connection_id, request)
        try:
            reply = self._invoke(FUNCTION, {**event, "body": body, "isBase64Encoded": not is_text})
            return str(reply["body"])
        except InvocationError:
            error = {"message": "Internal server error", "connectionId": connection_id}
            return json.dumps({**error, "requestId": event["requestContext"]["requestId"]})

    def invoke_disconnect(self, connection_id: str, request: Request) -> None:
        """Invoke the function's disconnect route, if the connection is still registered."""
        if not self._is_open(connection_id):
            return
        with suppress(InvocationError):  # the next send notices it
            self._invoke(FUNCTION, self._to_event("DISCONNECT", connection_id, request))

    def add_socket(self, connection_id: str, websocket: ClientSocket) -> None:
        with self._condition:
            self._sockets[connection_id] = websocket

    def _mark_connected(self, connection_id: str) -> None:
        with self._condition:
            if connection_id in self._sockets:
                self._connected.add(connection_id)
                self._condition.notify_all()

    def remove_socket(self, connection_id: str) -> None:
        with self._condition:
            self._sockets.pop(connection_id, None)
            self._connected.discard(connection_id)
            self._condition.notify_all()

    def _is_open(self, connection_id: str) -> bool:
        return connection_id in self._sockets and not self._is_closed

    def _get_socket(self, connection_id: str) -> ClientSocket:
        if (websocket := self._sockets.get(connection_id)) is None:
            raise ConnectionGoneError(connection_id)
        return websocket

    # --- events for the function -----------------------------------------------------------------

    def _to_connect_event(self, connection_id: str, request: Request) -> dict[str, Any]:
        event = self._to_event("CONNECT", connection_id, request)
        event |= {"headers": request.headers, "multiValueHeaders": _to_multi_value(request.headers)}
        if request.query:  # API Gateway omits them if there are none
            event |= {
                "queryStringParameters": request.query,
                "multiValueQueryStringParameters": _to_multi_value(request.query),
            }
        return event

    def _to_event(self, kind: str, connection_id: str, request: Request) -> dict[str, Any]:
        now = int(self._clock.now().timestamp() * 1000)
        return {
            "requestContext": {
                "routeKey": _ROUTE_KEYS[kind],
                "eventType": kind,
                "messageDirection": "IN",
                "connectionId": connection_id,
                "connectedAt": now,
                "requestTimeEpoch": now,
                "requestId": str(uuid.uuid4()),
                "domainName": "localhost",
                "apiId": "local",
                "stage": STAGE,
                "identity": {"sourceIp": request.source_ip},
            },
            "isBase64Encoded": False,
        }


def _to_multi_value(values: Mapping[str, str]) -> dict[str, list[str]]:
    return {name: [value] for name, value in values.items()}
