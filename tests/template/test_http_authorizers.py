"""The authorizers of the HTTP API: which routes have none, and how long responses are cached."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from duecourse.adapters.aws.api_tokens import CACHE_TTL
from duecourse.domain.access.bearer import BROWSER_ROUTES

from local.runtime.authorizers import authorizer_name, parse_authorizers
from local.runtime.template import resources_of_type

FILE_ROUTES = {f"{method} {path}" for method in ("GET", "HEAD") for path in ("/", "/assets/{name}")}
OPEN_ROUTES = {"GET /health", "POST /webhooks/{platform}", *FILE_ROUTES}


def _body(template: dict[str, Any]) -> dict[str, Any]:
    apis = resources_of_type(template, "AWS::ApiGatewayV2::Api").values()
    [http] = [api for api in apis if "Body" in api]  # the WebSocket API checks tokens itself
    return dict(http["Body"])


def authorizers_by_route(template: dict[str, Any]) -> dict[str, str | None]:
    """Return the name of each route's authorizer, or None."""
    return {
        f"{method.upper()} {path}": authorizer_name(operation.get("security", ()))
        for path, methods in _body(template)["paths"].items()
        for method, operation in methods.items()
    }


def test_every_route_has_an_authorizer_except_health_webhooks_and_files(
    template: dict[str, Any],
) -> None:
    authorizers = authorizers_by_route(template)

    assert {route for route, name in authorizers.items() if name is None} == OPEN_ROUTES
    assert {route for route, name in authorizers.items() if name == "AnyHeader"} == BROWSER_ROUTES


def test_a_revoked_token_is_refused_within_a_minute(template: dict[str, Any]) -> None:
    for authorizer in parse_authorizers(_body(template)).values():
        assert authorizer.ttl + CACHE_TTL <= timedelta(minutes=1), authorizer.name


def test_the_authorizer_for_basic_authentication_is_not_cached(template: dict[str, Any]) -> None:
    """Cached by the header alone, a response would apply to other routes too."""
    assert parse_authorizers(_body(template))["AnyHeader"].ttl == timedelta(0)
