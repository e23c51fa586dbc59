"""Every change over HTTP leaves a line in the audit log, with the name of the token.

A new task is the exception: it carries the name itself.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware
from duecourse.adapters.http.json_body import read_event
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.journal.audit_api import ApiChange

from ..openapi.operation import NO_TOKEN
from .audit_detail import detail_of
from .auth import asker_of, scope_needed

_CREATION = ("POST", "/tasks")
_OF_ONE_TASK = "/tasks/"
logger = Logger(service="api", child=True)


def note_changes(resolver: APIGatewayHttpResolver, call_next: NextMiddleware) -> Response[Any]:
    """A change that could not be noted has happened all the same: its answer is the one it has."""
    response: Response[Any] = call_next(resolver)
    if response.status_code < HTTPStatus.BAD_REQUEST and _is_change(resolver):
        try:
            stores.journal().note(_change(resolver, response))
        except Exception:
            logger.exception("a change is missing from the audit log")
    return response


def _is_change(resolver: APIGatewayHttpResolver) -> bool:
    asked = (resolver.request.method, resolver.request.route)
    return asked != _CREATION and scope_needed(resolver) not in (NO_TOKEN, Scope.READ)


def _change(resolver: APIGatewayHttpResolver, response: Response[Any]) -> ApiChange:
    event, route = resolver.current_event, resolver.request.route
    asker = asker_of(event.raw_event)
    answer = _object_in(response.body)
    asked = read_event(event.raw_event) if event.body else {}
    return ApiChange(
        id=stores.new_id(),
        at=stores.clock().now(),
        token=asker.name if asker else "",
        method=resolver.request.method,
        path=event.path,
        status=response.status_code,
        # In full: the path may hold only its beginning.
        task_id=answer.get("id") if route.startswith(_OF_ONE_TASK) else None,
        detail=detail_of(route, asked, answer),
    )


def _object_in(body: Any) -> dict[str, Any]:
    shown = json.loads(body) if isinstance(body, str) else body
    return shown if isinstance(shown, dict) else {}
