"""The HTTP API: programs and operators in. Routes are in routes.py, errors in problems.py."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.domain.errors import DuecourseError

from .access import is_allowed
from .problems import problem, problem_of
from .routes import router

OPEN_PATHS = frozenset({"/health"})
logger = Logger(service="api")
app = APIGatewayHttpResolver()


def _require_token(resolver: APIGatewayHttpResolver, call_next: NextMiddleware) -> Response[Any]:
    event = resolver.current_event
    if event.path in OPEN_PATHS or is_allowed(event.headers.get("authorization")):
        return call_next(resolver)
    return _unauthorized()


def _unauthorized() -> Response[Any]:
    refusal = problem(HTTPStatus.UNAUTHORIZED, "a valid bearer token is required")
    refusal.headers["WWW-Authenticate"] = "Bearer"
    return refusal


app.use([_require_token])
app.include_router(router)


@app.exception_handler(DuecourseError)  # type: ignore[untyped-decorator]
def _refused(error: DuecourseError) -> Response[str]:
    return problem_of(error)


@app.not_found
def _no_route(_error: NotFoundError) -> Response[Any]:
    """Without a token, whether a route exists is nobody's business."""
    event = app.current_event
    if not is_allowed(event.headers.get("authorization")):
        return _unauthorized()
    return problem(HTTPStatus.NOT_FOUND, f"no route {event.http_method} {event.path}")


@app.exception_handler(Exception)  # type: ignore[untyped-decorator]
def _unexpected(_error: Exception) -> Response[str]:
    logger.exception("unexpected error")
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, "something went wrong here; it was logged")


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    return app.resolve(event, context)
