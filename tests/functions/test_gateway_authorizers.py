"""The local gateway plays API Gateway's authorizers: when they are asked, and what is kept."""

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

KEPT = timedelta(seconds=30)
TOKEN = Authorizer("Token", "AuthorizerFunction", ("authorization",), KEPT)
ANY_HEADER = Authorizer("AnyHeader", "AuthorizerFunction", (), timedelta(0))


class Function:
    """Stands for the authorizer's function, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.answer: Any = {"isAuthorized": True, "context": {"name": "ada"}}

    def __call__(self, name: str, event: Any) -> Any:
        assert name == "AuthorizerFunction"
        self.asked.append(event)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class StoppedClock(LocalClock):
    def __init__(self) -> None:
        super().__init__(is_manual=True)
        self.at = NOW

    def now(self) -> Any:
        return self.at


@pytest.fixture
def function() -> Function:
    return Function()


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def doorkeeper(function: Function, clock: StoppedClock) -> CachingAuthorizer:
    return CachingAuthorizer(function, clock)


def event(**headers: str) -> dict[str, Any]:
    http = {"method": "GET", "path": "/tasks"}
    return {"headers": headers, "requestContext": {"http": http}, "body": "b"}


def test_the_templates_authorizers_are_understood() -> None:
    apis = resources_of_type(load_template(), "AWS::ApiGatewayV2::Api").values()
    [api] = [one for one in apis if "Body" in one]  # the other one is for WebSockets
    assert parse_authorizers(api["Body"]) == {"Token": TOKEN, "AnyHeader": ANY_HEADER}


@pytest.mark.parametrize(
    ("security", "name"), [([], None), ([{"NONE": []}], None), ([{"Token": []}], "Token")]
)
def test_an_operation_names_its_authorizer_or_is_open(security: Any, name: str | None) -> None:
    assert authorizer_name(security) == name


def test_what_the_authorizer_says_is_passed_on(
    doorkeeper: CachingAuthorizer, function: Function
) -> None:
    assert doorkeeper.authorize(TOKEN, event(authorization="x")) == {"name": "ada"}
    [asked] = function.asked
    assert (asked["type"], asked["identitySource"]) == ("REQUEST", ["x"])
    assert "body" not in asked


@pytest.mark.parametrize("headers", [{}, {"authorization": ""}, {"cookie": "x"}])
def test_without_its_header_nobody_is_even_asked(
    doorkeeper: CachingAuthorizer, function: Function, headers: dict[str, str]
) -> None:
    with pytest.raises(AuthorizationError) as refused:
        doorkeeper.authorize(TOKEN, event(**headers))
    assert (refused.value.status, function.asked) == (401, [])


def test_an_answer_is_kept_for_its_time_and_by_its_header(
    doorkeeper: CachingAuthorizer, function: Function, clock: StoppedClock
) -> None:
    for header in ("x", "x", "y", "y", "x"):
        doorkeeper.authorize(TOKEN, event(authorization=header))
    assert len(function.asked) == 2
    clock.at += KEPT - timedelta(milliseconds=1)
    doorkeeper.authorize(TOKEN, event(authorization="x"))
    assert len(function.asked) == 2
    clock.at += timedelta(milliseconds=1)
    doorkeeper.authorize(TOKEN, event(authorization="x"))
    assert len(function.asked) == 3


def test_one_that_knows_nobody_by_anything_is_asked_each_time(
    doorkeeper: CachingAuthorizer, function: Function
) -> None:
    for _ in range(3):
        doorkeeper.authorize(ANY_HEADER, event())
    assert len(function.asked) == 3


def test_what_one_authorizer_said_is_not_what_another_says(
    doorkeeper: CachingAuthorizer, function: Function
) -> None:
    other = Authorizer("Other", TOKEN.function, TOKEN.headers, TOKEN.ttl)
    for authorizer in (TOKEN, other):
        doorkeeper.authorize(authorizer, event(authorization="x"))
    assert len(function.asked) == 2


def test_of_too_many_answers_the_oldest_is_let_go(
    doorkeeper: CachingAuthorizer, function: Function
) -> None:
    for n in range(MAX_CACHED + 1):
        doorkeeper.authorize(TOKEN, event(authorization=str(n)))
    for n in (MAX_CACHED, 1):
        doorkeeper.authorize(TOKEN, event(authorization=str(n)))
    assert len(function.asked) == MAX_CACHED + 1
    doorkeeper.authorize(TOKEN, event(authorization="0"))
    assert len(function.asked) == MAX_CACHED + 2


@pytest.mark.parametrize(
    ("answer", "status"),
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
def test_any_other_answer_lets_nobody_in(
    doorkeeper: CachingAuthorizer, function: Function, answer: Any, status: int
) -> None:
    function.answer = answer
    with pytest.raises(AuthorizationError) as refused:
        doorkeeper.authorize(TOKEN, event(authorization="x"))
    assert refused.value.status == status


def test_one_that_failed_is_asked_again(doorkeeper: CachingAuthorizer, function: Function) -> None:
    well, function.answer = function.answer, InvocationError("boom")
    with pytest.raises(AuthorizationError):
        doorkeeper.authorize(TOKEN, event(authorization="x"))
    function.answer = well
    assert doorkeeper.authorize(TOKEN, event(authorization="x")) == {"name": "ada"}


# --- in the stack -----------------------------------------------------------------------------


def seen_by(client: StackClient) -> list[str]:
    """Which of the functions behind the gateway are woken from now on."""
    woken: list[str] = []

    def watch(function: str) -> None:
        if function in {"authorizer", "api", "webhook"}:
            woken.append(function)

    client.stack.functions.on_invoke = watch
    return woken


def test_the_authorizer_is_asked_before_the_function_and_not_again_for_a_while(
    client: StackClient,
) -> None:
    woken = seen_by(client)
    for _ in range(2):
        assert client.call("GET", "/tasks").status == 200
    assert woken == ["authorizer", "api", "api"]
    client.advance("30s")
    woken.clear()
    assert client.call("GET", "/tasks").status == 200
    assert woken == ["authorizer", "api"]


def test_without_a_header_no_function_is_woken(client: StackClient) -> None:
    woken = seen_by(client)
    answer = client.call("GET", "/tasks", token=None)
    assert (answer.status, answer.body["title"], woken) == (401, "Unauthorized", [])


def test_health_and_chat_are_open_to_all(client: StackClient) -> None:
    woken = seen_by(client)
    assert client.call("GET", "/health").status == 200
    assert client.call("POST", "/webhooks/nowhere", {}).status == 404
    assert "authorizer" not in woken


def test_an_authorizer_that_is_killed_is_a_500_and_the_function_is_not_woken(
    client: StackClient,
) -> None:
    woken = seen_by(client)
    client.add_fault(function="authorizer", call="secretsmanager.GetSecretValue", kind="crash")
    answer = client.call("GET", "/tasks")
    assert (answer.status, woken) == (500, ["authorizer"])
    assert client.call("GET", "/tasks").status == 200
