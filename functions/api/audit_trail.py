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
from duecourse import parts
from duecourse.domain.access import Scope
from duecourse.domain.api_change import ApiChange

from .access import asker_of, scope_needed

_CREATION = ("POST", "/tasks")
_OF_ONE_TASK = "/tasks/"
logger = Logger(service="api", child=True)


def note_changes(resolver: APIGatewayHttpResolver, call_next: NextMiddleware) -> Response[Any]:
    """A change that could not be noted has happened all the same: its answer is the one it has."""
    response: Response[Any] = call_next(resolver)
    if response.status_code < HTTPStatus.BAD_REQUEST and _is_change(resolver):
        try:
            parts.journal().note(_change(resolver, response))
        except Exception:
            logger.exception("a change is missing from the audit log")
    return response


def _is_change(resolver: APIGatewayHttpResolver) -> bool:
    asked = (resolver.request.method, resolver.request.route)
    return asked != _CREATION and scope_needed(*asked) is not Scope.READ


def _change(resolver: APIGatewayHttpResolver, response: Response[Any]) -> ApiChange:
    asker = asker_of(resolver.current_event.raw_event)
    return ApiChange(
        id=parts.new_id(),
        at=parts.clock().now(),
        token=asker.name if asker else "",
        method=resolver.request.method,
        path=resolver.current_event.path,
        status=response.status_code,
        task_id=_task_id(resolver.request.route, response.body),
    )


def _task_id(route: str, body: Any) -> str | None:
    """In full: the path may hold only its beginning."""
    if not route.startswith(_OF_ONE_TASK):
        return None
    shown = json.loads(body) if isinstance(body, str) else body
    return shown.get("id") if isinstance(shown, dict) else None
