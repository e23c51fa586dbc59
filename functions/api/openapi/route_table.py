"""The routes that are registered with an app."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.api_gateway import Route

from .operation import find_operation


def list_registered_routes(app: APIGatewayHttpResolver) -> list[Route]:
    # Powertools has no public list; its version is pinned.
    return [*app._static_routes, *app._dynamic_routes]


def require_operations(app: APIGatewayHttpResolver) -> None:
    """Raise LookupError if a route states no operation, and so no scope that it needs."""
    for route in list_registered_routes(app):
        if find_operation(route.func) is None:
            raise LookupError(
                f"{route.method} {route.path} needs @describe_operation(Operation(…))"
            )


def current_route(app: APIGatewayHttpResolver) -> Route | None:
    """Return the route of the current request."""
    return app.context.get("_route")
