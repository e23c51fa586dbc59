"""The HTTP API: programs and operators in. Here errors become responses, and nowhere in routes."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.http.problem import CONTENT_TYPE, problem, problem_of
from duecourse.domain.errors import DuecourseError

from . import (
    audit,
    breakers,
    budgets,
    dead_letters,
    errors,
    policies,
    retries,
    stats,
    subjects,
    tasks,
    verdicts,
)
from .access import is_allowed

ROUTES = (
    audit,
    breakers,
    budgets,
    dead_letters,
    errors,
    policies,
    retries,
    stats,
    subjects,
    tasks,
    verdicts,
)
OPEN_PATHS = frozenset({"/health"})
logger = Logger(service="api")
app = APIGatewayHttpResolver()


def _require_token(resolver: APIGatewayHttpResolver, call_next: NextMiddleware) -> Response[Any]:
    event = resolver.current_event
    if event.path in OPEN_PATHS or is_allowed(event.headers.get("authorization")):
        return call_next(resolver)
    return _unauthorized()


def _unauthorized() -> Response[Any]:
    refusal = _reply(problem(HTTPStatus.UNAUTHORIZED, "a valid bearer token is required"))
    refusal.headers["WWW-Authenticate"] = "Bearer"
    return refusal


app.use([_require_token])
for _routes in ROUTES:
    app.include_router(_routes.router)


@app.exception_handler(DuecourseError)  # type: ignore[untyped-decorator]
def _refused(error: DuecourseError) -> Response[str]:
    return _reply(problem_of(error))


@app.not_found
def _no_route(_error: NotFoundError) -> Response[Any]:
    """Without a token, whether a route exists is nobody's business."""
    event = app.current_event
    if not is_allowed(event.headers.get("authorization")):
        return _unauthorized()
    return _reply(problem(HTTPStatus.NOT_FOUND, f"no route {event.http_method} {event.path}"))


@app.exception_handler(Exception)  # type: ignore[untyped-decorator]
def _unexpected(_error: Exception) -> Response[str]:
    logger.exception("unexpected error")
    detail = "something went wrong here; it was logged"
    return _reply(problem(HTTPStatus.INTERNAL_SERVER_ERROR, detail))


def _reply(body: dict[str, Any]) -> Response[str]:
    return Response(body["status"], CONTENT_TYPE, json.dumps(body))


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    return app.resolve(event, context)
