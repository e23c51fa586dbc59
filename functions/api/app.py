"""The HTTP API. Errors become responses here, not in the routes."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.http.problem import problem, problem_from_error
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.domain.errors import DuecourseError

from .http.responses import problem_response
from .http.transport import add_transport_headers
from .middleware.audit import audit_changes
from .middleware.auth import require_scope
from .middleware.query_params import reject_unknown_parameters
from .openapi.route_table import list_registered_routes, require_operations
from .routes import (
    audit,
    breakers,
    budgets,
    dashboard,
    dead_letters,
    errors,
    meta,
    now,
    patterns,
    policies,
    retries,
    senders,
    stats,
    subjects,
    task_decisions,
    task_history,
    tasks,
)

ROUTERS = (
    audit.router,
    breakers.router,
    budgets.router,
    dead_letters.router,
    errors.router,
    meta.router,
    now.router,
    dashboard.router,
    patterns.router,
    policies.router,
    retries.router,
    senders.router,
    stats.router,
    subjects.router,
    task_history.router,
    tasks.router,
    task_decisions.router,
)
logger = Logger(service="api")
metrics = Metrics(service="api")
app = APIGatewayHttpResolver()

app.use([require_scope, audit_changes, reject_unknown_parameters])
for _router in ROUTERS:
    app.include_router(_router)
require_operations(app)


@app.exception_handler(DuecourseError)  # type: ignore[untyped-decorator]
def _handle_known_error(error: DuecourseError) -> Response[str]:
    return problem_response(problem_from_error(error))


@app.not_found
def _handle_not_found(_error: NotFoundError) -> Response[Any]:
    event = app.current_event
    detail = f"no route {event.http_method} {event.path}"
    methods = _allowed_methods(event.path)
    if not methods:
        return problem_response(problem(HTTPStatus.NOT_FOUND, detail))
    response = problem_response(problem(HTTPStatus.METHOD_NOT_ALLOWED, detail))
    response.headers["Allow"] = ", ".join(methods)
    return response


def _allowed_methods(path: str) -> list[str]:
    return sorted({route.method for route in list_registered_routes(app) if route.rule.match(path)})


@app.exception_handler(Exception)  # type: ignore[untyped-decorator]
def _handle_unexpected_error(_error: Exception) -> Response[str]:
    logger.exception("unexpected_error")
    detail = "internal error; the details are in the log"
    return problem_response(problem(HTTPStatus.INTERNAL_SERVER_ERROR, detail))


@logger.inject_lambda_context
@reports_unreadable(logger, metrics, has_to_flush=True)
def handler(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
    return add_transport_headers(app.resolve(event, context), event)
