"""The HTTP API's doors: which are open to all, and how long a token is still taken."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from duecourse.adapters.aws.api_tokens import CACHE_TTL
from duecourse.domain.access.bearer import BROWSER_ROUTES

from local.runtime.authorizers import authorizer_name, parse_authorizers
from local.runtime.template import resources_of_type

FILES = {f"{method} {path}" for method in ("GET", "HEAD") for path in ("/", "/assets/{name}")}
OPEN = {"GET /health", "POST /webhooks/{platform}", *FILES}


def _body(template: dict[str, Any]) -> dict[str, Any]:
    apis = resources_of_type(template, "AWS::ApiGatewayV2::Api").values()
    [http] = [api for api in apis if "Body" in api]  # the WebSocket API asks for itself
    return dict(http["Body"])


def _asked(template: dict[str, Any]) -> dict[str, str | None]:
    """By route, the authorizer that is asked first."""
    return {
        f"{method.upper()} {path}": authorizer_name(operation.get("security", ()))
        for path, methods in _body(template)["paths"].items()
        for method, operation in methods.items()
    }


def test_every_route_asks_who_it_is_but_health_chat_and_files(template: dict[str, Any]) -> None:
    asked = _asked(template)

    assert {route for route, name in asked.items() if name is None} == OPEN
    assert {route for route, name in asked.items() if name == "AnyHeader"} == BROWSER_ROUTES


def test_a_revoked_token_is_refused_within_a_minute(template: dict[str, Any]) -> None:
    for authorizer in parse_authorizers(_body(template)).values():
        assert authorizer.ttl + CACHE_TTL <= timedelta(minutes=1), authorizer.name


def test_what_takes_passwords_keeps_no_answer(template: dict[str, Any]) -> None:
    """Kept by the header alone, it would count on other routes as well."""
    assert parse_authorizers(_body(template))["AnyHeader"].ttl == timedelta(0)
