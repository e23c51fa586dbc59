"""The local gateway emulates API Gateway authorizers: when they are called, what is cached."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from local.runtime.authorizers import (
    MAX_CACHED,
    AuthorizationError,
    Authorizer,
    CachingAuthorizer,
    authorizer_name,
    parse_authorizers,
)
from local.runtime.clock import LocalClock
from local.runtime.functions import InvocationError
from local.runtime.template import load_template, resources_of_type
from tests.support.builders.moments import NOW
from tests.support.stack_client import StackClient

CACHE_TTL = timedelta(seconds=30)
TOKEN = Authorizer("Token", "AuthorizerFunction", ("authorization",), CACHE_TTL)
ANY_HEADER = Authorizer("AnyHeader", "AuthorizerFunction", (), timedelta(0))


class FakeFunction:
    """Stands in for the authorizer function and records its events."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.response: Any = {"isAuthorized": True, "context": {"name": "ada"}}

    def __call__(self, name: str, event: Any) -> Any:
        assert name == "AuthorizerFunction"
        self.events.append(event)
        if isinstance(self.response, Exception):
            raise self.response
        return self.response


class StoppedClock(LocalClock):
    def __init__(self) -> None:
        super().__init__(is_manual=True)
        self.at = NOW

    def now(self) -> Any:
        return self.at


@pytest.fixture
def function() -> FakeFunction:
    return FakeFunction()


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def authorizer_cache(function: FakeFunction, clock: StoppedClock) -> CachingAuthorizer:
    return CachingAuthorizer(function, clock)


def event(**headers: str) -> dict[str, Any]:
    http = {"method": "GET", "path": "/tasks"}
    return {"headers": headers, "requestContext": {"http": http}, "body": "b"}


def test_the_authorizers_of_the_template_are_parsed() -> None:
    apis = resources_of_type(load_template(), "AWS::ApiGatewayV2::Api").values()
    [api] = [resource for resource in apis if "Body" in resource]  # the other API is for WebSockets
    assert parse_authorizers(api["Body"]) == {"Token": TOKEN, "AnyHeader": ANY_HEADER}


@pytest.mark.parametrize(
    ("security", "name"), [([], None), ([{"NONE": []}], None), ([{"Token": []}], "Token")]
)
def test_an_operation_has_an_authorizer_or_is_open(security: Any, name: str | None) -> None:
    assert authorizer_name(security) == name


def test_the_context_of_the_authorizer_is_returned(
    authorizer_cache: CachingAuthorizer, function: FakeFunction
) -> None:
    assert authorizer_cache.authorize(TOKEN, event(authorization="x")) == {"name": "ada"}
    [authorizer_event] = function.events
    assert (authorizer_event["type"], authorizer_event["identitySource"]) == ("REQUEST", ["x"])
    assert "body" not in authorizer_event


@pytest.mark.parametrize("headers", [{}, {"authorization": ""}, {"cookie": "x"}])
def test_without_its_header_the_authorizer_is_not_called(
    authorizer_cache: CachingAuthorizer, function: FakeFunction, headers: dict[str, str]
) -> None:
    with pytest.raises(AuthorizationError) as error:
        authorizer_cache.authorize(TOKEN, event(**headers))
    assert (error.value.status, function.events) == (401, [])


def test_a_response_is_cached_by_header_for_its_ttl(
    authorizer_cache: CachingAuthorizer, function: FakeFunction, clock: StoppedClock
) -> None:
    for header in ("x", "x", "y", "y", "x"):
        authorizer_cache.authorize(TOKEN, event(authorization=header))
    assert len(function.events) == 2
    clock.at += CACHE_TTL - timedelta(milliseconds=1)
    authorizer_cache.authorize(TOKEN, event(authorization="x"))
    assert len(function.events) == 2
    clock.at += timedelta(milliseconds=1)
    authorizer_cache.authorize(TOKEN, event(authorization="x"))
    assert len(function.events) == 3


def test_an_authorizer_without_identity_headers_is_called_each_time(
    authorizer_cache: CachingAuthorizer, function: FakeFunction
) -> None:
    for _ in range(3):
        authorizer_cache.authorize(ANY_HEADER, event())
    assert len(function.events) == 3


def test_each_authorizer_has_its_own_cache(
    authorizer_cache: CachingAuthorizer, function: FakeFunction
) -> None:
    other_authorizer = Authorizer("Other", TOKEN.function, TOKEN.headers, TOKEN.ttl)
    for authorizer in (TOKEN, other_authorizer):
        authorizer_cache.authorize(authorizer, event(authorization="x"))
    assert len(function.events) == 2


def test_a_full_cache_evicts_the_oldest_response(
    authorizer_cache: CachingAuthorizer, function: FakeFunction
) -> None:
    for n in range(MAX_CACHED + 1):
        authorizer_cache.authorize(TOKEN, event(authorization=str(n)))
    for n in (MAX_CACHED, 1):
        authorizer_cache.authorize(TOKEN, event(authorization=str(n)))
    assert len(function.events) == MAX_CACHED + 1
    authorizer_cache.authorize(TOKEN, event(authorization="0"))
    assert len(function.events) == MAX_CACHED + 2


@pytest.mark.parametrize(
    ("response", "status"),
    [
        ({"isAuthorized": False}, 403),
        ({"isAuthorized": False, "context": {"name": "ada"}}, 403),
        ({"isAuthorized": "true"}, 500),
        ({"context": {"name": "ada"}}, 500),
        (None, 500),
        ([], 500),
        (InvocationError("boom"), 500),
    ],
)
def test_any_other_response_refuses_the_request(
    authorizer_cache: CachingAuthorizer, function: FakeFunction, response: Any, status: int
) -> None:
    function.response = response
    with pytest.raises(AuthorizationError) as error:
        authorizer_cache.authorize(TOKEN, event(authorization="x"))
    assert error.value.status == status


def test_a_failed_authorizer_is_called_again(
    authorizer_cache: CachingAuthorizer, function: FakeFunction
) -> None:
    success, function.response = function.response, InvocationError("boom")
    with pytest.raises(AuthorizationError):
        authorizer_cache.authorize(TOKEN, event(authorization="x"))
    function.response = success
    assert authorizer_cache.authorize(TOKEN, event(authorization="x")) == {"name": "ada"}


# --- in the stack -----------------------------------------------------------------------------


def record_invocations(client: StackClient) -> list[str]:
    """Record which functions behind the gateway are invoked from now on."""
    invoked: list[str] = []

    def record(function: str) -> None:
        if function in {"authorizer", "api", "webhook"}:
            invoked.append(function)

    client.stack.functions.on_invoke = record
    return invoked


def test_the_authorizer_is_called_before_the_function_and_then_cached(
    client: StackClient,
) -> None:
    invoked = record_invocations(client)
    for _ in range(2):
        assert client.call("GET", "/tasks").status == 200
    assert invoked == ["authorizer", "api", "api"]
    client.advance("30s")
    invoked.clear()
    assert client.call("GET", "/tasks").status == 200
    assert invoked == ["authorizer", "api"]


def test_without_a_header_no_function_is_invoked(client: StackClient) -> None:
    invoked = record_invocations(client)
    response = client.call("GET", "/tasks", token=None)
    assert (response.status, response.body["title"], invoked) == (401, "Unauthorized", [])


def test_health_and_webhooks_need_no_authorizer(client: StackClient) -> None:
    invoked = record_invocations(client)
    assert client.call("GET", "/health").status == 200
    assert client.call("POST", "/webhooks/nowhere", {}).status == 404
    assert "authorizer" not in invoked


def test_a_crashed_authorizer_is_a_500_and_the_function_is_not_invoked(
    client: StackClient,
) -> None:
    invoked = record_invocations(client)
    client.add_fault(function="authorizer", call="secretsmanager.GetSecretValue", kind="crash")
    response = client.call("GET", "/tasks")
    assert (response.status, invoked) == (500, ["authorizer"])
    assert client.call("GET", "/tasks").status == 200
