"""The HTTP API: API Gateway's routes from the template, and the local stack's own under /_local."""

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
from duecourse.adapters.http.security_headers import SECURITY_HEADERS
from duecourse.domain.access.bearer import auth_challenge

from local.runtime.authorizers import (
    AuthorizationError,
    Authorizer,
    CachingAuthorizer,
    authorizer_name,
    parse_authorizers,
)
from local.runtime.caller_check import is_typed
from local.runtime.control_routes import ControlRoutes, read_playground_file
from local.runtime.functions import InvocationError, ThrottledInvocationError
from local.runtime.stack import Stack
from local.runtime.template import ACCOUNT, function_id, load_template, resources_of_type

_FUNCTION_ALIAS = re.compile(r"\$\{(\w+)\}/invocations")


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
        """Return the parameters. Repeated names are joined by commas, as API Gateway does."""
        found: dict[str, str] = {}
        for name, value in parse_qsl(self.raw_query, keep_blank_values=True):
            found[name] = f"{found[name]},{value}" if name in found else value
        return found


@dataclass(frozen=True)
class Response:
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
    def specificity(self) -> tuple[int, bool]:
        """Return the sort key for matching.

        Like API Gateway: greedy paths match last, and for the same path an explicit method comes
        before ANY.
        """
        return -self.path.count("+}") * 1000 + len(self.path), self.method is not None


class Gateway:
    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._control = ControlRoutes(stack)
        self._authorizer = CachingAuthorizer(stack.invoke, stack.clock)
        self._routes = _load_routes()
        self.websocket_api = stack.websocket_api

    def handle(self, request: Request) -> Response:
        try:
            return self._route_request(request)
        except ValueError:
            return problem_response(400, "the request cannot be read")

    def _route_request(self, request: Request) -> Response:
        if request.path.startswith("/_local/"):
            if request.method == "GET" and (file := read_playground_file(request.path)):
                return _file_response(*file)
            status, body = self._control.handle(
                request.method, request.path, request.query, request.body
            )
            return _json_response(status, body)
        for route in self._routes:
            found = route.pattern.fullmatch(request.path)
            if found and route.method in (None, request.method):
                return self._invoke(route, request, found.groupdict())
        return problem_response(404, f"no route {request.method} {request.path}")

    def _invoke(self, route: Route, request: Request, parameters: dict[str, str]) -> Response:
        event = _to_event(route, request, parameters, self._stack.clock.now().timestamp())
        try:
            if route.authorizer is not None:
                context = self._authorizer.authorize(route.authorizer, event)
                event["requestContext"]["authorizer"] = {"lambda": context}
            # A person at the console expects the reply right away.
            reply = self._stack.invoke(
                route.function, event, wait_until_idle=is_typed(request.path)
            )
        except AuthorizationError as error:
            return _authorization_response(error, event["routeKey"])
        except ThrottledInvocationError:
            return problem_response(503, "the function is at its concurrency limit")
        except InvocationError:
            return problem_response(500, "the function failed")
        body = reply.get("body") or ""
        raw = base64.b64decode(body) if reply.get("isBase64Encoded") else body.encode()
        return Response(reply["statusCode"], dict(reply.get("headers") or {}), raw)


def _load_routes() -> list[Route]:
    routes = []
    for api in resources_of_type(load_template(), "AWS::ApiGatewayV2::Api").values():
        if "Body" not in api:
            continue  # the WebSocket API has its own routes
        authorizers = parse_authorizers(api["Body"])
        for path, methods in api["Body"]["paths"].items():
            for method, operation in methods.items():
                integration = operation["x-amazon-apigateway-integration"]
                [alias] = _FUNCTION_ALIAS.findall(integration["uri"]["Fn::Sub"])
                http_method = None if method.startswith("x-") else method.upper()
                name = authorizer_name(operation.get("security", ()))
                authorizer = authorizers[name] if name else None
                function = function_id(alias)
                routes.append(Route(http_method, _compile_path(path), function, path, authorizer))
    return sorted(routes, key=lambda route: route.specificity, reverse=True)


def _compile_path(path: str) -> re.Pattern[str]:
    greedy = re.sub(r"\{(\w+)\+\}", r"(?P<\1>.+)", path)
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", greedy), re.DOTALL)


def _to_event(
    route: Route, request: Request, parameters: dict[str, str], now: float
) -> dict[str, Any]:
    """Return the event in API Gateway's payload format 2.0. Bodies that are not text are base64."""
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


def _authorization_response(error: AuthorizationError, route: str) -> Response:
    reply = problem_response(error.status, str(error))
    if error.status == HTTPStatus.UNAUTHORIZED:
        reply.headers["WWW-Authenticate"] = auth_challenge(route)
    return reply


def problem_response(status: int, detail: str) -> Response:
    return _json_response(status, problem(status, detail))


def _file_response(content_type: str, content: bytes) -> Response:
    headers = {"content-type": content_type, "cache-control": "no-cache", **SECURITY_HEADERS}
    return Response(200, headers, content)


def _json_response(status: int, body: Any) -> Response:
    kind = CONTENT_TYPE if status >= 400 else "application/json"
    return Response(status, {"content-type": kind, **SECURITY_HEADERS}, json.dumps(body).encode())
