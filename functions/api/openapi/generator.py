"""Generate the OpenAPI 3.1 document from the operations that the routes state.

This module is imported on the first request for the document.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from duecourse.adapters.http.problem import CONTENT_TYPE
from duecourse.domain.validation.fields import Schema
from duecourse.version import __version__

from . import chat_webhook
from .examples import EXAMPLES
from .operation import NO_BODY, NO_TOKEN, Body, Operation, Tag, get_operation
from .parameters import PATH_PARAMETERS, describe_parameter
from .route_table import list_registered_routes
from .schemas.registry import SCHEMAS
from .schemas.types import ref

API_DESCRIPTION = (
    "Schedules tasks, runs them on time and retries those that fail. Times are in UTC; a time in a "
    "request without an offset is in the task's `timezone`. Errors have the form of RFC 9457 "
    "(`application/problem+json`). Unknown fields and query parameters are refused with 422. A "
    "method that a path does not have is refused with 405; `Allow` lists those it has. Each token "
    "has a scope, `read`, `write` or `admin`, and each scope includes the ones before it."
)
ERROR_DESCRIPTIONS = {
    HTTPStatus.UNAUTHORIZED: "The token is missing or invalid.",
    HTTPStatus.FORBIDDEN: "The token's scope does not allow this operation.",
    HTTPStatus.NOT_FOUND: "There is nothing with this id or name.",
    HTTPStatus.CONFLICT: "The current state does not allow this, the id prefix matches several "
    "tasks, or another request changed it at the same time.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "The request is invalid: `errors` lists each wrong field.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests: try again later.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "An internal error, which was logged.",
}
# API Gateway may send these itself, in its own format.
_GATEWAY_STATUSES = (
    HTTPStatus.UNAUTHORIZED,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
)
_COMMON_STATUSES = (
    HTTPStatus.UNPROCESSABLE_ENTITY,
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.INTERNAL_SERVER_ERROR,
)
_ROUTE_PARAMETER = re.compile(r"<(\w+)>")
_PATH_PARAMETER = re.compile(r"{(\w+)}")


@dataclass(frozen=True)
class Route:
    method: str
    path: str
    function: Callable[..., Any]
    operation: Operation

    @property
    def parameter_names(self) -> list[str]:
        return _PATH_PARAMETER.findall(self.path)


def list_routes(app: APIGatewayHttpResolver) -> list[Route]:
    """Return all routes by path, the chat webhook included.

    Raises KeyError for a route that states no operation.
    """
    found = [
        Route(
            chat_webhook.METHOD,
            chat_webhook.PATH,
            chat_webhook.receive_message,
            chat_webhook.OPERATION,
        )
    ]
    for route in list_registered_routes(app):
        if route.method == "HEAD":
            continue  # described with GET
        operation = get_operation(route.func)
        path = operation.path or _ROUTE_PARAMETER.sub(r"{\1}", route.path)
        found.append(Route(route.method, path, route.func, operation))
    return sorted(found, key=lambda route: (route.path, route.method))


def build_document(app: APIGatewayHttpResolver) -> dict[str, Any]:
    routes = list_routes(app)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Duecourse", "version": __version__, "description": API_DESCRIPTION},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "tags": [{"name": str(tag)} for tag in Tag],
        "paths": _build_paths(routes),
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {name: _add_example(name, schema) for name, schema in SCHEMAS.items()},
            "responses": {
                status.name: _build_error_response(status) for status in ERROR_DESCRIPTIONS
            },
        },
    }


def _build_paths(routes: Iterable[Route]) -> dict[str, Any]:
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _build_operation(route)
    return paths


def _build_operation(route: Route) -> dict[str, Any]:
    operation = route.operation
    summary, _, description = inspect.cleandoc(route.function.__doc__ or "").partition("\n\n")
    document: dict[str, Any] = {
        "operationId": f"{route.function.__module__.rpartition('.')[2]}.{route.function.__name__}",
        "tags": [operation.tag],
        "summary": summary.removesuffix("."),
        "description": _build_description(route, description),
        "parameters": _build_parameters(route),
        "responses": _build_responses(route),
    }
    if operation.body:
        document["requestBody"] = _build_request_body(operation.body)
    if not operation.is_token_required:
        document["security"] = []
    return {name: value for name, value in document.items() if value or name == "security"}


def _build_description(route: Route, description: str) -> str:
    scope = route.operation.scope
    needs = "Needs no token." if scope is NO_TOKEN else f"Needs the scope `{scope}`."
    sentences = [" ".join(description.split()), needs]
    return " ".join(sentence for sentence in sentences if sentence)


def _build_parameters(route: Route) -> list[dict[str, Any]]:
    operation = route.operation
    path_parameters = [
        {"name": name, "in": "path", "required": True, "schema": PATH_PARAMETERS[name]}
        for name in route.parameter_names
    ]
    readers = operation.query.readers if operation.query else {}
    query_parameters = [
        {
            "name": name,
            "in": "query",
            "allowEmptyValue": True,
            "schema": describe_parameter(name, reader.schema),
        }
        for name, reader in readers.items()
    ]
    header_parameters = [
        {"name": name, "in": "header", "schema": describe_parameter(name, reader.schema)}
        for name, reader in (operation.headers or {}).items()
    ]
    return [*path_parameters, *query_parameters, *header_parameters]


def _build_request_body(body: Body) -> dict[str, Any]:
    examples = {name: {"value": value} for name, value in body.examples.items()}
    content = {"application/json": {"schema": body.schema(), "examples": examples}}
    return {"required": body.is_required, "content": content}


def _build_responses(route: Route) -> dict[str, Any]:
    successes = {
        str(status.value): _build_response(status, schema, route.operation.content_types)
        for status, schema in route.operation.responses.items()
    }
    errors = {
        str(status.value): {"$ref": f"#/components/responses/{status.name}"}
        for status in ERROR_DESCRIPTIONS
        if status in _error_statuses(route)
    }
    return {**successes, **errors}


def _build_response(
    status: HTTPStatus, schema: Schema | None, content_types: Iterable[str]
) -> dict[str, Any]:
    if schema is NO_BODY:
        return {"description": status.phrase}
    content = {content_type: {"schema": schema} for content_type in content_types}
    return {"description": status.phrase, "content": content}


def _error_statuses(route: Route) -> set[HTTPStatus]:
    """Return the error statuses that follow from the route's inputs, and those it states."""
    operation, statuses = route.operation, {*route.operation.error_statuses, *_COMMON_STATUSES}
    if operation.is_token_required:
        statuses |= {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
    if route.parameter_names:
        statuses.add(HTTPStatus.NOT_FOUND)
    if "task_id" in route.parameter_names:  # a prefix may match several tasks
        statuses.add(HTTPStatus.CONFLICT)
    return statuses


def _build_error_response(status: HTTPStatus) -> dict[str, Any]:
    content = {CONTENT_TYPE: {"schema": ref("Problem")}}
    if status in _GATEWAY_STATUSES:
        content["application/json"] = {"schema": {"type": "object", "required": ["message"]}}
    return {"description": ERROR_DESCRIPTIONS[status], "content": content}


def _add_example(name: str, schema: Schema) -> Schema:
    return {**schema, "examples": [EXAMPLES[name]]} if name in EXAMPLES else schema
