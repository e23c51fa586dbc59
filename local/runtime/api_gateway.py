"""The HTTP front: API Gateway's routes from the template, and the stack's own under /_local."""

from __future__ import annotations

import base64
import json
import re
import uuid
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from duecourse.adapters.http.problem import CONTENT_TYPE, problem
from duecourse.adapters.http.security_headers import SAFE_HEADERS
from duecourse.domain.access.bearer import challenge

from local.runtime.authorizers import (
    Authorizer,
    Doorkeeper,
    NotLetInError,
    authorizer_named,
    authorizers_of,
)
from local.runtime.caller_check import is_typed
from local.runtime.control_routes import Control, playground_file
from local.runtime.functions import InvocationError
from local.runtime.stack import Stack
from local.runtime.template import ACCOUNT, of_type, translated

_FUNCTION = re.compile(r"\$\{(\w+)\.Arn\}")


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    source_ip: str

    @property
    def path(self) -> str:
        return unquote(urlsplit(self.target).path)

    @property
    def raw_query(self) -> str:
        return urlsplit(self.target).query

    @property
    def query(self) -> dict[str, str]:
        """A name given twice has both values, with a comma between them, as API Gateway does it."""
        found: dict[str, str] = {}
        for name, said in parse_qsl(self.raw_query, keep_blank_values=True):
            found[name] = f"{found[name]},{said}" if name in found else said
        return found


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Route:
    method: str | None
    pattern: re.Pattern[str]
    function: str
    path: str
    authorizer: Authorizer | None = None

    @property
    def precision(self) -> tuple[int, bool]:
        """API Gateway prefers the most specific route: greedy ones come last, and of those with
        the same path the one that takes any method."""
        return -self.path.count("+}") * 1000 + len(self.path), self.method is not None


class Gateway:
    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._control = Control(stack)
        self._doorkeeper = Doorkeeper(stack.invoke, stack.clock)
        self._routes = _routes()
        self.live = stack.live

    def answer(self, request: Request) -> Reply:
        try:
            return self._answer(request)
        except ValueError:
            return refusal(400, "the request cannot be read")

    def _answer(self, request: Request) -> Reply:
        if request.path.startswith("/_local/"):
            if request.method == "GET" and (file := playground_file(request.path)):
                return _file(*file)
            status, body = self._control.answer(
                request.method, request.path, request.query, request.body
            )
            return _json(status, body)
        for route in self._routes:
            found = route.pattern.fullmatch(request.path)
            if found and route.method in (None, request.method):
                return self._invoke(route, request, found.groupdict())
        return refusal(404, f"no route {request.method} {request.path}")

    def _invoke(self, route: Route, request: Request, parameters: dict[str, str]) -> Reply:
        event = _event(route, request, parameters, self._stack.clock.now().timestamp())
        try:
            if route.authorizer is not None:
                known = self._doorkeeper.context(route.authorizer, event)
                event["requestContext"]["authorizer"] = {"lambda": known}
            # Whoever types to the console looks for the answer right away.
            reply = self._stack.invoke(
                route.function, event, and_what_follows=is_typed(request.path)
            )
        except NotLetInError as error:
            return _not_let_in(error, event["routeKey"])
        except InvocationError:
            return refusal(500, "the function failed")
        body = reply.get("body") or ""
        raw = base64.b64decode(body) if reply.get("isBase64Encoded") else body.encode()
        return Reply(reply["statusCode"], dict(reply.get("headers") or {}), raw)


def _routes() -> list[Route]:
    routes = []
    for api in of_type(translated(), "AWS::ApiGatewayV2::Api").values():
        if "Body" not in api:
            continue  # the WebSocket API has routes of its own
        authorizers = authorizers_of(api["Body"])
        for path, methods in api["Body"]["paths"].items():
            for method, operation in methods.items():
                integration = operation["x-amazon-apigateway-integration"]
                function = _FUNCTION.findall(integration["uri"]["Fn::Sub"])[-1]
                wanted = None if method.startswith("x-") else method.upper()
                name = authorizer_named(operation.get("security", ()))
                asked = authorizers[name] if name else None
                routes.append(Route(wanted, _pattern(path), function, path, asked))
    return sorted(routes, key=lambda route: route.precision, reverse=True)


def _pattern(path: str) -> re.Pattern[str]:
    greedy = re.sub(r"\{(\w+)\+\}", r"(?P<\1>.+)", path)
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", greedy), re.DOTALL)


def _event(
    route: Route, request: Request, parameters: dict[str, str], now: float
) -> dict[str, Any]:
    """The request in API Gateway's payload format 2.0; what is not text is base64."""
    is_text = not request.headers.get("content-type", "").startswith(
        ("application/x-www-form-urlencoded", "application/octet-stream")
    )
    try:
        body = request.body.decode() if is_text else None
    except UnicodeDecodeError:
        body = None
    encoded = base64.b64encode(request.body).decode()
    return {
        "version": "2.0",
        "routeKey": f"{route.method or 'ANY'} {route.path}",
        "rawPath": request.path,
        "rawQueryString": request.raw_query,
        "headers": request.headers,
        "queryStringParameters": request.query,
        "pathParameters": parameters,
        "requestContext": {
            "accountId": ACCOUNT,
            "apiId": "local",
            "domainName": "localhost",
            "requestId": str(uuid.uuid4()),
            "routeKey": f"{route.method or 'ANY'} {route.path}",
            "stage": "$default",
            "timeEpoch": int(now * 1000),
            "http": {
                "method": request.method,
                "path": request.path,
                "protocol": "HTTP/1.1",
                "sourceIp": request.source_ip,
                "userAgent": request.headers.get("user-agent", ""),
            },
        },
        "body": (encoded if body is None else body) if request.body else None,
        "isBase64Encoded": bool(request.body) and body is None,
    }


def _not_let_in(error: NotLetInError, route: str) -> Reply:
    reply = refusal(error.status, str(error))
    if error.status == HTTPStatus.UNAUTHORIZED:
        reply.headers["WWW-Authenticate"] = challenge(route)
    return reply


def refusal(status: int, detail: str) -> Reply:
    return _json(status, problem(status, detail))


def _file(kind: str, content: bytes) -> Reply:
    headers = {"content-type": kind, "cache-control": "no-cache", **SAFE_HEADERS}
    return Reply(200, headers, content)


def _json(status: int, body: Any) -> Reply:
    kind = CONTENT_TYPE if status >= 400 else "application/json"
    return Reply(status, {"content-type": kind, **SAFE_HEADERS}, json.dumps(body).encode())
