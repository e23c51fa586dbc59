"""Who may do what over HTTP: every route of the API, with every kind of token."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import hash_secret

from functions.api.app import app
from functions.api.middleware.auth import require_scope
from functions.api.openapi.operation import (
    NO_TOKEN,
    Operation,
    Tag,
    describe_operation,
    get_operation,
)
from functions.api.openapi.route_table import list_registered_routes, require_operations
from local.runtime.api_gateway import Gateway, Request, Response
from tests.support.stack_client import StackClient, running_stack

Asked = tuple[str, str]
TOKENS = {Scope.READ: "local-read", Scope.WRITE: "local-write", Scope.ADMIN: "local"}
# What each route needs. A route that is added or changed is written here on purpose.
SCOPES: dict[Asked, Scope | None] = {
    ("GET", "/"): NO_TOKEN,
    ("HEAD", "/"): NO_TOKEN,
    ("GET", "/assets/<name>"): NO_TOKEN,
    ("HEAD", "/assets/<name>"): NO_TOKEN,
    ("GET", "/audit"): Scope.READ,
    ("GET", "/breakers"): Scope.READ,
    ("GET", "/breakers/<provider>/history"): Scope.READ,
    ("GET", "/budgets"): Scope.READ,
    ("GET", "/budgets/<budget>"): Scope.READ,
    ("PUT", "/budgets/<budget>"): Scope.ADMIN,
    ("GET", "/dead-letters"): Scope.READ,
    ("POST", "/dead-letters/drop"): Scope.ADMIN,
    ("POST", "/dead-letters/redrive"): Scope.ADMIN,
    ("GET", "/delays"): Scope.READ,
    ("GET", "/docs"): Scope.READ,
    ("GET", "/errors"): Scope.READ,
    ("POST", "/explain"): Scope.READ,
    ("GET", "/health"): NO_TOKEN,
    ("GET", "/now"): Scope.READ,
    ("GET", "/openapi.json"): Scope.READ,
    ("GET", "/patterns"): Scope.READ,
    ("DELETE", "/patterns/<policy>/<fingerprint>"): Scope.ADMIN,
    ("GET", "/policies"): Scope.READ,
    ("GET", "/policies/<policy>"): Scope.READ,
    ("GET", "/retries"): Scope.READ,
    ("GET", "/stats"): Scope.READ,
    ("GET", "/subjects/.+"): Scope.READ,
    ("POST", "/subjects/.+/reset"): Scope.ADMIN,
    ("GET", "/tasks"): Scope.READ,
    ("POST", "/tasks"): Scope.WRITE,
    ("GET", "/tasks/<task_id>"): Scope.READ,
    ("PATCH", "/tasks/<task_id>"): Scope.WRITE,
    ("POST", "/tasks/<task_id>/approve"): Scope.WRITE,
    ("POST", "/tasks/<task_id>/cancel"): Scope.WRITE,
    ("GET", "/tasks/<task_id>/errors"): Scope.READ,
    ("GET", "/tasks/<task_id>/history"): Scope.READ,
    ("POST", "/tasks/<task_id>/pause"): Scope.WRITE,
    ("POST", "/tasks/<task_id>/reclassify"): Scope.WRITE,
    ("POST", "/tasks/<task_id>/reject"): Scope.WRITE,
    ("POST", "/tasks/<task_id>/resolve"): Scope.WRITE,
    ("POST", "/tasks/<task_id>/resume"): Scope.WRITE,
    ("POST", "/tasks/<task_id>/retry"): Scope.WRITE,
    ("POST", "/tasks/<task_id>/run"): Scope.WRITE,
    ("GET", "/tasks/<task_id>/runs"): Scope.READ,
    ("POST", "/tasks/<task_id>/unblock"): Scope.WRITE,
}


def _written(path: str) -> str:
    """A route's path as somebody would write it."""
    return re.sub(r"<\w+>|\.\+", "x", path)


NEEDED = {
    (method, _written(path)): scope for (method, path), scope in SCOPES.items() if scope is not None
}
every_route = pytest.mark.parametrize("asked", NEEDED, ids=" ".join)


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    """For what changes nothing."""
    with running_stack() as running:
        yield running


def ask(client: StackClient, asked: Asked, **headers: str) -> Response:
    method, path = asked
    return Gateway(client.stack).handle(Request(method, path, headers, b"", "127.0.0.1"))


def as_holder(client: StackClient, asked: Asked, token: str) -> Response:
    return ask(client, asked, authorization=f"Bearer {token}")


def is_problem(reply: Response, status: int) -> bool:
    kind = {name.lower(): value for name, value in reply.headers.items()}["content-type"]
    told = json.loads(reply.body)
    return (reply.status, told["status"], kind) == (status, status, "application/problem+json")


# --- every route ------------------------------------------------------------------------------


def test_every_route_states_its_scope() -> None:
    stated = {
        (route.method, route.path): get_operation(route.func).scope
        for route in list_registered_routes(app)
    }
    assert stated == SCOPES


def test_a_route_that_states_nothing_is_refused_at_import() -> None:
    careless = APIGatewayHttpResolver()
    careless.get("/silent")(lambda: {})
    with pytest.raises(LookupError, match="GET /silent"):
        require_operations(careless)
    with pytest.raises(TypeError, match="scope"):
        Operation(tag=Tag.TASKS, responses={})  # type: ignore[call-arg]


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
    needed = NEEDED[asked]
    for scope, token in TOKENS.items():
        reply = as_holder(shared, asked, token)
        if scope.covers(needed):
            assert reply.status not in {401, 403}
        else:
            assert is_problem(reply, 403)
            detail = json.loads(reply.body)["detail"]
            assert f"needs the scope {needed}" in detail
            assert f"the token {token} has the scope {scope}" in detail


@pytest.mark.parametrize(
    ("asked", "status"), [(("GET", "/no-such-route"), 404), (("DELETE", "/tasks"), 405)]
)
def test_whether_a_route_exists_is_told_to_those_with_a_token_only(
    shared: StackClient, asked: Asked, status: int
) -> None:
    assert is_problem(as_holder(shared, asked, "guessed"), 401)
    assert is_problem(as_holder(shared, asked, "local"), status)


def test_an_end_of_line_behind_a_path_buys_no_scope(shared: StackClient) -> None:
    """Powertools takes such a path for the route itself."""
    for path in ("/dead-letters/redrive%0A", "/budgets/x%0A", "/subjects/x/reset%0A"):
        method = "PUT" if "budgets" in path else "POST"
        assert is_problem(as_holder(shared, (method, path), "local-write"), 403), path
    assert ask(shared, ("GET", "/health%0A")).status == 401


def test_health_needs_no_token(shared: StackClient) -> None:
    assert ask(shared, ("GET", "/health")).status == 200


@pytest.mark.parametrize("path", ["/tasks", "/assets", "/assets/", "/assets/a/b", "/assetsx"])
def test_nothing_else_is_open(shared: StackClient, path: str) -> None:
    assert is_problem(ask(shared, ("GET", path)), 401)
    assert shared.stack.invoke("api", event({}, path))["statusCode"] == 401


@pytest.mark.parametrize("path", ["/", "/assets/app.js"])
def test_what_is_open_to_look_at_is_not_open_to_change(shared: StackClient, path: str) -> None:
    assert is_problem(ask(shared, ("POST", path)), 401)
    refused = as_holder(shared, ("POST", path), "local")
    assert is_problem(refused, 405)
    assert refused.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ["/no-such-route", "/budgets/x/new"])
def test_a_change_that_does_not_exist_needs_more_than_reading(
    shared: StackClient, method: str, path: str
) -> None:
    assert is_problem(ask(shared, (method, path)), 401)
    assert is_problem(as_holder(shared, (method, path), "local-read"), 403)
    assert is_problem(as_holder(shared, (method, path), "local-write"), 404)


def test_an_open_path_is_answered_without_a_token_even_where_no_route_takes_it(
    shared: StackClient,
) -> None:
    """API Gateway asks no authorizer there: a token would never be seen."""
    assert is_problem(ask(shared, ("GET", "/assets/%22x")), 404)
    assert is_problem(as_holder(shared, ("GET", "/assets/%22x"), "local"), 404)


def test_a_route_that_shares_its_path_with_an_open_one_stays_closed() -> None:
    def shown() -> dict[str, str]:
        return {}

    def changed() -> dict[str, str]:
        return {}

    mixed = APIGatewayHttpResolver()
    mixed.use([require_scope])
    mixed.get("/mixed")(
        describe_operation(Operation(tag=Tag.TASKS, scope=NO_TOKEN, responses={}))(shown)
    )
    mixed.put("/mixed")(
        describe_operation(Operation(tag=Tag.TASKS, scope=Scope.WRITE, responses={}))(changed)
    )

    def status(method: str) -> int:
        asked = event({}, "/mixed")
        asked["requestContext"]["http"]["method"] = method
        return int(mixed.resolve(asked, LambdaContext())["statusCode"])

    assert (status("GET"), status("PUT")) == (200, 401)


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
    assert Gateway(shared.stack).handle(request).status == 401


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
        "Bearer " + hash_secret("local"),
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
    assert ask(shared, ("GET", path), authorization=basic("local-read")).status == 200
    assert as_holder(shared, ("GET", path), "local-read").status == 200


@pytest.mark.parametrize(
    "asked", [("GET", "/tasks"), ("POST", "/docs"), ("GET", "/docs/"), ("GET", "/%64ocs/x")]
)
def test_a_password_is_taken_nowhere_else(shared: StackClient, asked: Asked) -> None:
    reply = ask(shared, asked, authorization=basic("local"))
    assert is_problem(reply, 401)
    assert reply.headers["WWW-Authenticate"] == "Bearer"
