"""Refuse unknown query parameters on routes that take none."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.middlewares import NextMiddleware

from ..http.query import Query
from ..openapi.operation import find_operation
from ..openapi.route_table import current_route

NO_PARAMETERS = Query({})


def reject_unknown_parameters(
    resolver: APIGatewayHttpResolver, call_next: NextMiddleware
) -> Response[Any]:
    route = current_route(resolver)
    operation = find_operation(route.func) if route else None
    # Health checks may add parameters to bypass caches.
    if operation is not None and operation.query is None and operation.is_token_required:
        NO_PARAMETERS.read(resolver.current_event)
    return call_next(resolver)
