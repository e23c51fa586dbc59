"""Answer AWS calls of other processes, such as functions in containers, from the local stack.

A web page must not reach the tables and secrets through a visitor's browser. So each call needs a
known Host, no Origin, and the header of a signature, which a browser sends to another website only
with its permission. The signature itself is not verified: a container has credentials of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from http import HTTPStatus
from urllib.parse import unquote

from duecourse.app import queues
from duecourse.domain.errors import ConnectionGoneError

from local.runtime.api_gateway import Request, Response
from local.runtime.moto_backend import MotoBackend
from local.runtime.stack import Stack
from local.runtime.websocket_api import STAGE

CONTAINER_HOST = "host.docker.internal"  # this machine, as containers call it
SERVICES = ("dynamodb", "events", "secretsmanager", "sqs")
_WEBSOCKET_SERVICE = "execute-api"
_SIGNATURE = re.compile(
    r"AWS4-HMAC-SHA256 Credential=[^/,\s]+/[0-9]{8}/[a-z0-9-]+/([a-z0-9-]+)/aws4_request\b"
)
_CONNECTION = re.compile(rf"/{STAGE}/@connections/([^/?]+)")
_LOCAL_HOSTS = ("127.0.0.1", "localhost")


class ForbiddenCallError(Exception):
    pass


def check_call(headers: Mapping[str, str], *, hosts: Collection[str]) -> str:
    """Return the service that the call is signed for. Raises ForbiddenCallError."""
    host = headers.get("host", "").rpartition(":")[0] or headers.get("host", "")
    if host not in (*_LOCAL_HOSTS, CONTAINER_HOST, *hosts):
        raise ForbiddenCallError("the Host header must name this machine")
    if "origin" in headers:
        raise ForbiddenCallError("a web page may not call this")
    signature = _SIGNATURE.match(headers.get("authorization", ""))
    if signature is None:
        raise ForbiddenCallError("the call is not signed as the AWS SDKs do")
    return signature[1]


class AwsGateway:
    def __init__(self, stack: Stack, backend: MotoBackend, *, hosts: Collection[str] = ()) -> None:
        """`hosts` are further names of this machine in a Host header."""
        self._stack = stack
        self._backend = backend
        self._hosts = hosts

    def handle(self, request: Request) -> Response:
        try:
            service = check_call(request.headers, hosts=self._hosts)
        except ForbiddenCallError as error:
            return error_response(HTTPStatus.FORBIDDEN, "AccessDeniedException", str(error))
        if service == _WEBSOCKET_SERVICE:
            return self._call_connection(request)
        if service not in SERVICES:
            return error_response(
                HTTPStatus.BAD_REQUEST, "UnknownService", f"the local stack has no {service}"
            )
        return self._stack.scheduler.call(lambda: self._call_service(service, request))

    def _call_service(self, service: str, request: Request) -> Response:
        status, headers, body = self._backend.answer(
            service, request.method, request.target, request.headers, request.body
        )
        self._stack.calls.change_count += 1  # it may have written
        queues.event_bus.cache_clear()  # it may have changed a rule
        return Response(status, headers, body)

    def _call_connection(self, request: Request) -> Response:
        """Send a message to a WebSocket of the local stack, or close it."""
        found = _CONNECTION.fullmatch(request.target)
        if found is None or request.method not in ("POST", "DELETE"):
            return error_response(HTTPStatus.NOT_FOUND, "NotFoundException", "unknown path")
        sockets, connection_id = self._stack.websocket_api, unquote(found[1])
        try:
            if request.method == "DELETE":
                sockets.close(connection_id)
            else:
                sockets.send(connection_id, request.body.decode("utf-8", "replace"))
        except ConnectionGoneError:
            return error_response(HTTPStatus.GONE, "GoneException", "the connection is closed")
        return Response(HTTPStatus.OK, {"content-type": "application/json"}, b"")


def error_response(status: int, code: str, message: str) -> Response:
    headers = {"content-type": "application/x-amz-json-1.0", "x-amzn-errortype": code}
    return Response(status, headers, json.dumps({"__type": code, "message": message}).encode())
