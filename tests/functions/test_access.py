"""Who may do what over HTTP: every route of the API, with every kind of token."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from duecourse.domain.access import hash_of
from duecourse.domain.scope import Scope

from functions.api.access import is_open, scope_needed
from functions.api.app import app
from functions.api.registered import registered
from local.gateway import Gateway, Reply, Request
from tests.stack_client import StackClient, running_stack

Asked = tuple[str, str]
TOKENS = {Scope.READ: "local-read", Scope.WRITE: "local-write", Scope.ADMIN: "local"}
OPERATORS: set[Asked] = {
    ("PUT", "/budgets/x"),
    ("POST", "/subjects/x/reset"),
    ("POST", "/dead-letters/redrive"),
    ("POST", "/dead-letters/drop"),
    ("DELETE", "/patterns/x/x"),
}


def _asked() -> list[Asked]:
    """Every route as somebody would write it."""
    routes = registered(app)
    written = [(route.method, re.sub(r"<\w+>|\.\+", "x", route.path)) for route in routes]
    return sorted(asked for asked in written if not is_open(asked[1]))


ALL = _asked()
CHANGES = [asked for asked in ALL if asked[0] != "GET" and asked != ("POST", "/explain")]
every_route = pytest.mark.parametrize("asked", ALL, ids=" ".join)


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    """For what changes nothing."""
    with running_stack() as running:
        yield running


def ask(client: StackClient, asked: Asked, **headers: str) -> Reply:
    method, path = asked
    return Gateway(client.stack).answer(Request(method, path, headers, b"", "127.0.0.1"))


def as_holder(client: StackClient, asked: Asked, token: str) -> Reply:
    return ask(client, asked, authorization=f"Bearer {token}")


def is_problem(reply: Reply, status: int) -> bool:
    kind = {name.lower(): value for name, value in reply.headers.items()}["content-type"]
    told = json.loads(reply.body)
    return (reply.status, told["status"], kind) == (status, status, "application/problem+json")


# --- every route ------------------------------------------------------------------------------


def test_the_routes_are_all_there() -> None:
    assert len(ALL) > 25
    assert set(ALL) >= OPERATORS


@every_route
def test_without_a_header_nobody_comes_in(shared: StackClient, asked: Asked) -> None:
    reply = ask(shared, asked)
    assert is_problem(reply, 401)
    assert "WWW-Authenticate" in reply.headers


@every_route
def test_with_an_unknown_token_nobody_comes_in(shared: StackClient, asked: Asked) -> None:
    reply = as_holder(shared, asked, "guessed")
    assert is_problem(reply, 401)
    assert "guessed" not in reply.body.decode()


@every_route
def test_the_scope_that_a_route_needs_opens_it_and_no_lesser_one_does(
    shared: StackClient, asked: Asked
) -> None:
    needed = Scope.ADMIN if asked in OPERATORS else Scope.WRITE
    needed = needed if asked in CHANGES else Scope.READ
    for scope, token in TOKENS.items():
        reply = as_holder(shared, asked, token)
        if scope.covers(needed):
            assert reply.status not in {401, 403}
        else:
            assert is_problem(reply, 403)
            detail = json.loads(reply.body)["detail"]
            assert f"needs the scope {needed}" in detail
            assert f"the token {token} has the scope {scope}" in detail


@pytest.mark.parametrize("asked", [("GET", "/no-such-route"), ("DELETE", "/tasks")])
def test_whether_a_route_exists_is_told_to_those_with_a_token_only(
    shared: StackClient, asked: Asked
) -> None:
    assert is_problem(as_holder(shared, asked, "guessed"), 401)
    assert as_holder(shared, asked, "local").status in {404, 405}


def test_an_end_of_line_behind_a_path_buys_no_scope(shared: StackClient) -> None:
    """Powertools takes such a path for the route itself."""
    for path in ("/dead-letters/redrive%0A", "/budgets/x%0A", "/subjects/x/reset%0A"):
        method = "PUT" if "budgets" in path else "POST"
        assert as_holder(shared, (method, path), "local-write").status in {403, 404}
    assert ask(shared, ("GET", "/health%0A")).status == 401


def test_health_needs_no_token(shared: StackClient) -> None:
    assert ask(shared, ("GET", "/health")).status == 200


@pytest.mark.parametrize("path", ["/tasks", "/assets", "/assets/", "/assets/a/b", "/assetsx"])
def test_nothing_else_is_open(shared: StackClient, path: str) -> None:
    assert not is_open(path)
    assert is_problem(ask(shared, ("GET", path)), 401)


@pytest.mark.parametrize("path", ["/", "/assets/app.js"])
def test_what_is_open_to_look_at_is_not_open_to_change(shared: StackClient, path: str) -> None:
    assert is_problem(ask(shared, ("POST", path)), 401)
    refused = as_holder(shared, ("POST", path), "local")
    assert is_problem(refused, 405)
    assert refused.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "BREW", ""])
def test_a_method_that_nobody_thought_of_is_a_change(method: str) -> None:
    assert scope_needed(method, "/tasks/{id}/new") is Scope.WRITE
    assert scope_needed(method, "/breakers/{provider}/new") is Scope.ADMIN


# --- only the authorizer is believed ----------------------------------------------------------


def event(known: Any, path: str = "/tasks") -> dict[str, Any]:
    return {
        "version": "2.0",
        "routeKey": "ANY /{proxy+}",
        "rawPath": path,
        "headers": {"authorization": "Bearer local"},
        "requestContext": {"stage": "$default", "http": {"method": "GET", "path": path}} | known,
    }


ADMIN = {"name": "x", "scope": "admin"}


@pytest.mark.parametrize(
    "known",
    [
        {},
        {"authorizer": None},
        {"authorizer": "lambda"},
        {"authorizer": {}},
        {"authorizer": ADMIN},
        {"authorizer": {"lambda": None}},
        {"authorizer": {"lambda": []}},
        {"authorizer": {"lambda": {}}},
        {"authorizer": {"lambda": {"scope": "admin"}}},
        {"authorizer": {"lambda": {"name": "x"}}},
        {"authorizer": {"lambda": {"name": "", "scope": ""}}},
        {"authorizer": {"lambda": {"name": "", "scope": "admin"}}},
        {"authorizer": {"lambda": {"name": "x", "scope": "root"}}},
        {"authorizer": {"lambda": {"name": "x", "scope": ["admin"]}}},
        {"authorizer": {"jwt": ADMIN}},
        {"lambda": ADMIN},
    ],
)
def test_where_the_authorizer_says_nothing_nobody_comes_in(
    shared: StackClient, known: dict[str, Any]
) -> None:
    assert shared.stack.invoke("api", event(known))["statusCode"] == 401
    believed = {"authorizer": {"lambda": ADMIN}}
    assert shared.stack.invoke("api", event(believed))["statusCode"] == 200


def test_a_caller_cannot_say_who_they_are(shared: StackClient) -> None:
    said = json.dumps({"requestContext": {"authorizer": {"lambda": ADMIN}}})
    headers = {
        "authorization": "Bearer guessed",
        "requestcontext": said,
        "requestContext": said,
        "x-amzn-authorizer": said,
        "lambda": json.dumps(ADMIN),
        "name": "x",
        "scope": "admin",
    }
    target = "/tasks?requestContext.authorizer.lambda.name=x&scope=admin&name=x"
    request = Request("GET", target, headers, said.encode(), "127.0.0.1")
    assert Gateway(shared.stack).answer(request).status == 401


# --- how the header is written ----------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_scheme_is_written_in_any_case(shared: StackClient, scheme: str) -> None:
    assert ask(shared, ("GET", "/tasks"), authorization=f"{scheme} local").status == 200


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "local",
        "Bearer " + "x" * 60_000,
        "x" * 60_000,
        "Bearer lócal",
        "Bearer \u2603",
        "Bearer \udcff",
        "Bearer local\x00",
        "Bearer local,local",
        "Bearer " + hash_of("local"),
    ],
    ids=range(11),
)
def test_any_other_header_is_refused_as_an_unknown_token(shared: StackClient, header: str) -> None:
    assert is_problem(ask(shared, ("GET", "/tasks"), authorization=header), 401)


def basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"me:{password}".encode()).decode()


@pytest.mark.parametrize("path", ["/docs", "/openapi.json"])
def test_a_browser_is_asked_for_the_token_where_it_opens_a_page(
    shared: StackClient, path: str
) -> None:
    for headers in ({}, {"authorization": basic("guessed")}):
        reply = ask(shared, ("GET", path), **headers)
        assert is_problem(reply, 401)
        assert reply.headers["WWW-Authenticate"] == 'Basic realm="duecourse"'
    assert ask(shared, ("GET", path), authorization=basic("local-read")).status in {200, 404}
    assert as_holder(shared, ("GET", path), "local-read").status in {200, 404}


@pytest.mark.parametrize(
    "asked", [("GET", "/tasks"), ("POST", "/docs"), ("GET", "/docs/"), ("GET", "/%64ocs/x")]
)
def test_a_password_is_taken_nowhere_else(shared: StackClient, asked: Asked) -> None:
    reply = ask(shared, asked, authorization=basic("local"))
    assert is_problem(reply, 401)
    assert reply.headers["WWW-Authenticate"] == "Bearer"
