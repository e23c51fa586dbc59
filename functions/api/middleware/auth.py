"""Authorization: the authorizer names the caller, and each route states the scope it needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from duecourse.adapters.http.problem import problem
from duecourse.domain.access.bearer import auth_challenge
from duecourse.domain.access.scope import Scope

from ..http.responses import problem_response
from ..openapi.operation import NO_TOKEN, find_operation
from ..openapi.route_table import current_route, list_registered_routes

_READING = frozenset({"GET", "HEAD"})
_PARAMETER = re.compile(r"<\w+>")


@dataclass(frozen=True)
class Caller:
    name: str
    scope: Scope


def required_scope(resolver: APIGatewayHttpResolver) -> Scope | None:
    """Return the scope that the route of this request needs; NO_TOKEN for an open route.

    An unknown route needs a token too, unless its path is that of an open route: for those, the
    authorizer does not run.
    """
    route = current_route(resolver)
    operation = find_operation(route.func) if route else None
    if operation is not None and operation.is_token_required:
        return operation.scope
    if _open_paths(resolver).fullmatch(resolver.current_event.path):
        return NO_TOKEN
    return Scope.READ if resolver.request.method in _READING else Scope.WRITE


@cache
def _open_paths(resolver: APIGatewayHttpResolver) -> re.Pattern[str]:
    """Match the paths of open routes exactly. Powertools itself accepts a trailing newline."""
    operations = [
        (route.path, find_operation(route.func)) for route in list_registered_routes(resolver)
    ]
    paths = [
        path for path, found in operations if found is not None and not found.is_token_required
    ]
    return re.compile("|".join(_PARAMETER.sub("[^/]+", re.escape(path)) for path in paths))


def caller_from_event(event: Mapping[str, Any]) -> Caller | None:
    """Return the caller that the authorizer named, else None."""
    context: Any = event
    for name in ("requestContext", "authorizer", "lambda"):
        context = context.get(name) if isinstance(context, Mapping) else None
    if not isinstance(context, Mapping) or context.get("scope") not in list(Scope):
        return None
    return Caller(str(context["name"]), Scope(context["scope"])) if context.get("name") else None


def require_scope(resolver: APIGatewayHttpResolver, call_next: NextMiddleware) -> Response[Any]:
    """Refuse a caller without the needed scope, also before a route that does not exist."""
    event = resolver.current_event
    needed = required_scope(resolver)
    if needed is NO_TOKEN:
        return call_next(resolver)
    caller = caller_from_event(event.raw_event)
    if caller is None:
        return _unauthorized(event.raw_event.get("routeKey", ""))
    if not caller.scope.covers(needed):
        return _forbidden(caller, needed)
    return call_next(resolver)


def _unauthorized(route: str) -> Response[str]:
    detail = "a valid bearer token is required"
    response = problem_response(problem(HTTPStatus.UNAUTHORIZED, detail))
    response.headers["WWW-Authenticate"] = auth_challenge(route)
    return response


def _forbidden(caller: Caller, required: Scope) -> Response[str]:
    detail = (
        f"this operation needs the scope {required}, "
        f"but the token {caller.name} has the scope {caller.scope}"
    )
    return problem_response(problem(HTTPStatus.FORBIDDEN, detail))
