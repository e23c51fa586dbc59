"""API Gateway's WebSocket API: holds the connections and wakes the function for each of them."""

from __future__ import annotations

import base64
import json
import socket
import threading
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from duecourse.domain.errors import ConnectionGoneError
from websockets.datastructures import Headers
from websockets.frames import CloseCode
from websockets.http11 import Request as Handshake
from websockets.http11 import Response
from websockets.server import ServerProtocol

from local.runtime.call_interceptor import Calls
from local.runtime.clock import LocalClock
from local.runtime.functions import InvocationError
from local.runtime.websocket import WebSocket, WebSocketOverError

if TYPE_CHECKING:
    from local.runtime.api_gateway import Request

FUNCTION = "LiveFunction"
STAGE = "live"
_ROUTES = {"CONNECT": "$connect", "DISCONNECT": "$disconnect", "MESSAGE": "$default"}
Invoke = Callable[[str, Any], Any]


class Live:
    """Also the pusher of the local stack, where API Gateway's is asked over HTTP."""

    def __init__(self, invoke: Invoke, clock: LocalClock, calls: Calls) -> None:
        self._invoke = invoke
        self._clock = clock
        self._calls = calls
        self._changed = threading.Condition()
        self._open: dict[str, WebSocket] = {}
        self._let_in: set[str] = set()
        self._is_closed = False

    def serve(self, sock: socket.socket, request: Request, first: bytes) -> None:
        """Until either side ends it. `first` is what came after the request already."""
        connection_id = base64.urlsafe_b64encode(uuid.uuid4().bytes[:11]).decode()
        with WebSocket(sock) as websocket:
            # What is pushed as soon as the function knows of it must find it here.
            self._keep(connection_id, websocket)
            try:
                response = self._answer(connection_id, request)
                websocket.shake_hands(response)
                if response.status_code == HTTPStatus.SWITCHING_PROTOCOLS:
                    self._note(connection_id)
                    self._listen(connection_id, websocket, request, first)
            except OSError:
                self._hang_up(connection_id, request)
            finally:
                self._let_go(connection_id)

    def push(self, connection_id: str, text: str) -> None:
        with self._calls.around("live.push"):
            try:
                self._found(connection_id).send(text)
            except WebSocketOverError:
                raise ConnectionGoneError(connection_id) from None

    def close(self, connection_id: str) -> None:
        self._found(connection_id).end()

    def broadcast(self, text: str) -> int:
        """To all, past the function; says to how many. Nobody who does not read holds it up."""
        told = 0
        for websocket in list(self._open.values()):
            try:
                websocket.send(text)
                told += 1
            except WebSocketOverError:
                continue
        return told

    def wait_for(self, count: int, timeout: float) -> bool:
        """Until so many were let in and have not left, as far as the function knows."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self._let_in) == count, timeout)

    def end_all(self) -> None:
        """The function is told nothing of it: its world ends, too."""
        with self._changed:
            ended, self._open = self._open, {}
            self._let_in.clear()
            self._changed.notify_all()
        for websocket in ended.values():
            websocket.end(CloseCode.GOING_AWAY)

    def shut(self) -> None:
        """As `end_all`, and nobody comes in any more."""
        self._is_closed = True
        self.end_all()

    # --- one connection -----------------------------------------------------------------------

    def _answer(self, connection_id: str, request: Request) -> Response:
        protocol = ServerProtocol()
        response = protocol.accept(Handshake(request.target, Headers(request.headers)))
        if response.status_code != HTTPStatus.SWITCHING_PROTOCOLS:
            return response
        if self._is_closed:
            return protocol.reject(HTTPStatus.SERVICE_UNAVAILABLE, "the stack is stopping\n")
        try:
            event = self._connect(connection_id, request)
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

    def _listen(
        self, connection_id: str, websocket: WebSocket, request: Request, first: bytes
    ) -> None:
        for message in websocket.messages(first):
            if not self._is_open(connection_id):
                return
            try:
                websocket.send(self._reply(connection_id, request, message))
            except WebSocketOverError:
                break
        websocket.cut()
        self._hang_up(connection_id, request)

    def _reply(self, connection_id: str, request: Request, message: str | bytes) -> str:
        is_text = isinstance(message, str)
        body = message if isinstance(message, str) else base64.b64encode(message).decode()
        event = self._event("MESSAGE", connection_id, request)
        try:
            reply = self._invoke(FUNCTION, {**event, "body": body, "isBase64Encoded": not is_text})
            return str(reply["body"])
        except InvocationError:
            told = {"message": "Internal server error", "connectionId": connection_id}
            return json.dumps({**told, "requestId": event["requestContext"]["requestId"]})

    def _hang_up(self, connection_id: str, request: Request) -> None:
        """Tell the function, at best, that it has ended."""
        if not self._is_open(connection_id):
            return
        with suppress(InvocationError):  # the next push finds out
            self._invoke(FUNCTION, self._event("DISCONNECT", connection_id, request))

    def _keep(self, connection_id: str, websocket: WebSocket) -> None:
        with self._changed:
            self._open[connection_id] = websocket

    def _note(self, connection_id: str) -> None:
        with self._changed:
            if connection_id in self._open:
                self._let_in.add(connection_id)
                self._changed.notify_all()

    def _let_go(self, connection_id: str) -> None:
        with self._changed:
            self._open.pop(connection_id, None)
            self._let_in.discard(connection_id)
            self._changed.notify_all()

    def _is_open(self, connection_id: str) -> bool:
        return connection_id in self._open and not self._is_closed

    def _found(self, connection_id: str) -> WebSocket:
        if (websocket := self._open.get(connection_id)) is None:
            raise ConnectionGoneError(connection_id)
        return websocket

    # --- what the function is told ------------------------------------------------------------

    def _connect(self, connection_id: str, request: Request) -> dict[str, Any]:
        event = self._event("CONNECT", connection_id, request)
        event |= {"headers": request.headers, "multiValueHeaders": _listed(request.headers)}
        if request.query:  # API Gateway leaves them out where there are none
            event |= {
                "queryStringParameters": request.query,
                "multiValueQueryStringParameters": _listed(request.query),
            }
        return event

    def _event(self, kind: str, connection_id: str, request: Request) -> dict[str, Any]:
        now = int(self._clock.now().timestamp() * 1000)
        return {
            "requestContext": {
                "routeKey": _ROUTES[kind],
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


def _listed(values: Mapping[str, str]) -> dict[str, list[str]]:
    return {name: [value] for name, value in values.items()}
