"""Write every change made over HTTP to the audit log, with the name of its token.

Creating a task is not logged: the task itself carries the name.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from duecourse.adapters.http.json_body import parse_event_body
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.journal.audit_api import ApiChange

from ..openapi.operation import NO_TOKEN
from .audit_detail import describe_change
from .auth import caller_from_event, required_scope

_CREATE_ROUTE = ("POST", "/tasks")
_TASK_PATH_PREFIX = "/tasks/"
logger = Logger(service="api", child=True)


def audit_changes(resolver: APIGatewayHttpResolver, call_next: NextMiddleware) -> Response[Any]:
    """Log a successful change. An error in logging does not change the response."""
    response: Response[Any] = call_next(resolver)
    if response.status_code < HTTPStatus.BAD_REQUEST and _is_change(resolver):
        try:
            stores.journal().record_change(_to_api_change(resolver, response))
        except Exception:
            logger.exception("audit_entry_lost")
    return response


def _is_change(resolver: APIGatewayHttpResolver) -> bool:
    route = (resolver.request.method, resolver.request.route)
    return route != _CREATE_ROUTE and required_scope(resolver) not in (NO_TOKEN, Scope.READ)


def _to_api_change(resolver: APIGatewayHttpResolver, response: Response[Any]) -> ApiChange:
    event, route = resolver.current_event, resolver.request.route
    caller = caller_from_event(event.raw_event)
    response_body = _parse_object(response.body)
    request_body = parse_event_body(event.raw_event) if event.body else {}
    return ApiChange(
        id=stores.new_id(),
        at=stores.clock().now(),
        token_name=caller.name if caller else "",
        method=resolver.request.method,
        path=event.path,
        status=response.status_code,
        # The full id; the path may hold only a prefix.
        task_id=response_body.get("id") if route.startswith(_TASK_PATH_PREFIX) else None,
        detail=describe_change(route, request_body, response_body),
    )


def _parse_object(body: Any) -> dict[str, Any]:
    parsed = json.loads(body) if isinstance(body, str) else body
    return parsed if isinstance(parsed, dict) else {}
