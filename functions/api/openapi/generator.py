"""Generate the OpenAPI 3.1 document from the operations that the routes state.

This module is imported on the first request for the document.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from duecourse.adapters.channels.registry import PLATFORMS
from duecourse.adapters.http.problem import CONTENT_TYPE
from duecourse.domain.failures.classifier.fingerprint import FINGERPRINT_PATTERN
from duecourse.domain.limits.budget import NAME_PATTERN as BUDGET_NAME
from duecourse.domain.requests.task_request import NAME_FIELD
from duecourse.domain.tasks.ids import ID_OR_PREFIX
from duecourse.domain.validation.fields import Schema
from duecourse.version import __version__

from . import chat_webhook
from .examples import EXAMPLES
from .operation import NO_BODY, NO_TOKEN, Body, Operation, Tag, get_operation
from .route_table import list_registered_routes
from .schemas.registry import SCHEMAS
from .schemas.types import ref

API_DESCRIPTION = (
    "Tasks that run at their time, and what becomes of those that fail. Times are UTC; a time "
    "given without an offset is in the task's timezone. Errors are problems (RFC 9457). Fields "
    "and parameters that are not known are refused, and methods that a path does not have (405, "
    "with those it has in `Allow`). Each token has a scope: `read`, `write` or `admin`, and each "
    "may do what those before it may."
)
PATH_PARAMETERS: Mapping[str, Schema] = {
    "task_id": {
        "type": "string",
        "pattern": f"^{ID_OR_PREFIX.pattern}$",
        "description": "An id, or at least its first 8 characters.",
        "examples": [EXAMPLES["Task"]["short_id"]],
    },
    "name": {
        "type": "string",
        "pattern": r"^[a-z][a-z0-9_-]*\.(js|css|svg)$",
        "examples": ["main.js"],
    },
    "budget": {"type": "string", "pattern": f"^{BUDGET_NAME.pattern}$", "examples": ["default"]},
    "platform": {"type": "string", "examples": [*PLATFORMS]},
    "fingerprint": {
        "type": "string",
        "pattern": f"^{FINGERPRINT_PATTERN.pattern}$",
        "examples": [EXAMPLES["Pattern"]["fingerprint"]],
    },
    "policy": {"type": "string", "examples": ["agent"]},
    "provider": {"type": "string", "examples": ["anthropic"]},
    "subject": {
        **NAME_FIELD.schema,
        "description": "What tasks call it. Slashes may be written as they are.",
        "examples": ["octo/garden"],
    },
}
ERROR_DESCRIPTIONS = {
    HTTPStatus.UNAUTHORIZED: "No valid token.",
    HTTPStatus.FORBIDDEN: "The token's scope does not cover it.",
    HTTPStatus.NOT_FOUND: "There is nothing of that name.",
    HTTPStatus.CONFLICT: "It does not fit the present state, or what was given fits several.",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Something given is wrong: `errors` names each field.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests in too short a time: ask again later.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "An error of ours, which was logged.",
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
            "schemas": {name: _add_example(name, shape) for name, shape in SCHEMAS.items()},
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
    told: dict[str, Any] = {
        "operationId": f"{route.function.__module__.rpartition('.')[2]}.{route.function.__name__}",
        "tags": [operation.tag],
        "summary": summary.removesuffix("."),
        "description": _build_description(route, description),
        "parameters": _build_parameters(route),
        "responses": _build_responses(route),
    }
    if operation.body:
        told["requestBody"] = _build_request_body(operation.body)
    if not operation.is_token_required:
        told["security"] = []
    return {name: value for name, value in told.items() if value or name == "security"}


def _build_description(route: Route, description: str) -> str:
    scope = route.operation.scope
    needs = "Needs no token." if scope is NO_TOKEN else f"Needs the scope `{scope}`."
    told = [" ".join(description.split()), needs]
    return " ".join(sentence for sentence in told if sentence)


def _build_parameters(route: Route) -> list[dict[str, Any]]:
    operation = route.operation
    of_path = [
        {"name": name, "in": "path", "required": True, "schema": PATH_PARAMETERS[name]}
        for name in route.parameter_names
    ]
    readers = operation.query.readers if operation.query else {}
    of_query = [
        {"name": name, "in": "query", "allowEmptyValue": True, "schema": reader.schema}
        for name, reader in readers.items()
    ]
    of_head = [
        {"name": name, "in": "header", "schema": reader.schema}
        for name, reader in (operation.headers or {}).items()
    ]
    return [*of_path, *of_query, *of_head]


def _build_request_body(body: Body) -> dict[str, Any]:
    examples = {name: {"value": value} for name, value in body.examples.items()}
    content = {"application/json": {"schema": body.schema(), "examples": examples}}
    return {"required": body.is_required, "content": content}


def _build_responses(route: Route) -> dict[str, Any]:
    answers = {
        str(status.value): _build_response(status, schema, route.operation.content_types)
        for status, schema in route.operation.responses.items()
    }
    refusals = {
        str(status.value): {"$ref": f"#/components/responses/{status.name}"}
        for status in ERROR_DESCRIPTIONS
        if status in _error_statuses(route)
    }
    return {**answers, **refusals}


def _build_response(
    status: HTTPStatus, schema: Schema | None, content_types: Iterable[str]
) -> dict[str, Any]:
    if schema is NO_BODY:
        return {"description": status.phrase}
    content = {content_type: {"schema": schema} for content_type in content_types}
    return {"description": status.phrase, "content": content}


def _error_statuses(route: Route) -> set[HTTPStatus]:
    """Return the error statuses that follow from the route's inputs, and those it states."""
    operation, refused = route.operation, {*route.operation.error_statuses, *_COMMON_STATUSES}
    if operation.is_token_required:
        refused |= {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
    if route.parameter_names:
        refused.add(HTTPStatus.NOT_FOUND)
    if "task_id" in route.parameter_names:  # a prefix may fit several tasks
        refused.add(HTTPStatus.CONFLICT)
    return refused


def _build_error_response(status: HTTPStatus) -> dict[str, Any]:
    content = {CONTENT_TYPE: {"schema": ref("Problem")}}
    if status in _GATEWAY_STATUSES:
        content["application/json"] = {"schema": {"type": "object", "required": ["message"]}}
    return {"description": ERROR_DESCRIPTIONS[status], "content": content}


def _add_example(name: str, schema: Schema) -> Schema:
    return {**schema, "examples": [EXAMPLES[name]]} if name in EXAMPLES else schema
