"""Who may do what: the authorizer says who asks, and here is said what each route needs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from duecourse.adapters.http.problem import problem
from duecourse.domain.authorization import challenge
from duecourse.domain.scope import Scope

from .reply import problem_reply

OPEN_PATHS = frozenset({"/", "/health"})
_OPEN_FILE = re.compile(r"/assets/[^/]+")
# Beyond single tasks: what stops or lets through the work of many.
_OPERATORS = ("/breakers", "/budgets", "/dead-letters", "/patterns", "/subjects")
_DRY_RUNS = frozenset({"/explain"})


@dataclass(frozen=True)
class Asker:
    name: str
    scope: Scope


def scope_needed(method: str, route: str) -> Scope:
    """`route` is the route's own path, such as /budgets/{budget}: not what somebody wrote."""
    if method in {"GET", "HEAD"} or route in _DRY_RUNS:
        return Scope.READ
    return Scope.ADMIN if route.startswith(_OPERATORS) else Scope.WRITE


def is_open(path: str) -> bool:
    """Needs no token. What the dashboard shows needs one; the files that it consists of do not."""
    return path in OPEN_PATHS or _OPEN_FILE.fullmatch(path) is not None


def asker_of(event: Mapping[str, Any]) -> Asker | None:
    """As the authorizer says, and nobody else; None where it says nothing that can be used."""
    told: Any = event
    for name in ("requestContext", "authorizer", "lambda"):
        told = told.get(name) if isinstance(told, Mapping) else None
    if not isinstance(told, Mapping) or told.get("scope") not in list(Scope):
        return None
    return Asker(str(told["name"]), Scope(told["scope"])) if told.get("name") else None


def require_scope(resolver: APIGatewayHttpResolver, call_next: NextMiddleware) -> Response[Any]:
    """Also before a route that does not exist: without a token, that is nobody's business."""
    event = resolver.current_event
    if is_open(event.path):
        return call_next(resolver)
    asker = asker_of(event.raw_event)
    if asker is None:
        return _unauthorized(event.raw_event.get("routeKey", ""))
    needed = scope_needed(resolver.request.method, resolver.request.route)
    if not asker.scope.covers(needed):
        return _forbidden(asker, needed)
    return call_next(resolver)


def _unauthorized(route: str) -> Response[str]:
    refusal = problem_reply(problem(HTTPStatus.UNAUTHORIZED, "a valid bearer token is required"))
    refusal.headers["WWW-Authenticate"] = challenge(route)
    return refusal


def _forbidden(asker: Asker, needed: Scope) -> Response[str]:
    detail = f"this needs the scope {needed}: the token {asker.name} has the scope {asker.scope}"
    return problem_reply(problem(HTTPStatus.FORBIDDEN, detail))
