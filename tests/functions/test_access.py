"""Scopes over HTTP: every route of the API, with every kind of token."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.token_format import ENTROPY_BYTES, format_token
from duecourse.domain.access.tokens import ApiToken, hash_secret
from duecourse.domain.time.instant import from_text

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
from local.runtime import aws_clients
from local.runtime.api_gateway import Gateway, Request, Response
from tests.support.stack_client import StackClient, moto_stack

MethodAndPath = tuple[str, str]
TOKENS = {Scope.READ: "local-read", Scope.WRITE: "local-write", Scope.ADMIN: "local"}
LOCAL_TOKENS = [ApiToken(secret, scope, hash_secret(secret)) for scope, secret in TOKENS.items()]
# Tokens as `duecourse token` makes them today, one of each scope and one for each refused state.
READ, WRITE, ADMIN_TOKEN, EXPIRED, REVOKED, MISTYPED = (
    format_token(bytes([n]) * ENTROPY_BYTES) for n in range(6)
)
MISTYPED = MISTYPED[:-1] + ("0" if MISTYPED[-1] != "0" else "1")
PREFIXED = {Scope.READ: READ, Scope.WRITE: WRITE, Scope.ADMIN: ADMIN_TOKEN}
PREFIXED_TOKENS = [
    *(ApiToken(f"new-{scope}", scope, hash_secret(one)) for scope, one in PREFIXED.items()),
    # Its hash is stored: only the checksum refuses it.
    ApiToken("mistyped", Scope.ADMIN, hash_secret(MISTYPED)),
]
EXPIRED_TOKEN = ApiToken(
    "expired", Scope.ADMIN, hash_secret(EXPIRED), from_text("2026-02-17T12:00:00Z")
)
REFUSED = {
    "unknown": "guessed",
    "unknown-with-prefix": format_token(bytes([9]) * ENTROPY_BYTES),
    "expired": EXPIRED,
    "revoked": REVOKED,
    "wrong-checksum": MISTYPED,
    "cut-off": READ[:-1],
    "other-case": READ.lower(),
}
# The scope of each route. List a new or changed route here deliberately.
SCOPES: dict[MethodAndPath, Scope | None] = {
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
    ("GET", "/me"): Scope.READ,
    ("GET", "/now"): Scope.READ,
    ("GET", "/openapi.json"): Scope.READ,
    ("GET", "/patterns"): Scope.READ,
    ("DELETE", "/patterns/<policy>/<fingerprint>"): Scope.ADMIN,
    ("DELETE", "/tasks/<task_id>"): Scope.ADMIN,
    ("POST", "/senders/forget"): Scope.ADMIN,
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


def example_path(path: str) -> str:
    """Return the route's path with its parameters filled in."""
    return re.sub(r"<\w+>|\.\+", "x", path)


REQUIRED_SCOPES = {
    (method, example_path(path)): scope
    for (method, path), scope in SCOPES.items()
    if scope is not None
}
every_route = pytest.mark.parametrize("route", REQUIRED_SCOPES, ids=" ".join)


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    """One stack for all tests that change nothing. It has tokens in every state."""
    with moto_stack() as running:
        revoked = ApiToken("revoked", Scope.ADMIN, hash_secret(REVOKED))
        put_tokens(running, *LOCAL_TOKENS, *PREFIXED_TOKENS, EXPIRED_TOKEN, revoked)
        assert send_with_token(running, ("GET", "/tasks"), REVOKED).status == 200
        put_tokens(running, *LOCAL_TOKENS, *PREFIXED_TOKENS, EXPIRED_TOKEN)
        running.advance("60s")
        yield running


def put_tokens(client: StackClient, *tokens: ApiToken) -> None:
    text = json.dumps({"tokens": [token.to_json() for token in tokens]})

    def put() -> None:
        secret_id = stores.settings().api_tokens_secret
        aws_clients.client("secretsmanager").put_secret_value(SecretId=secret_id, SecretString=text)

    client.stack.scheduler.call(put)


def send_request(client: StackClient, route: MethodAndPath, **headers: str) -> Response:
    method, path = route
    return Gateway(client.stack).handle(Request(method, path, headers, b"", "127.0.0.1"))


def send_with_token(client: StackClient, route: MethodAndPath, token: str) -> Response:
    return send_request(client, route, authorization=f"Bearer {token}")


def is_problem(reply: Response, status: int) -> bool:
    content_type = {name.lower(): value for name, value in reply.headers.items()}["content-type"]
    problem = json.loads(reply.body)
    return (reply.status, problem["status"], content_type) == (
        status,
        status,
        "application/problem+json",
    )


# --- every route ------------------------------------------------------------------------------


def test_every_route_states_its_scope() -> None:
    stated = {
        (route.method, route.path): get_operation(route.func).scope
        for route in list_registered_routes(app)
    }
    assert stated == SCOPES


def test_a_route_without_an_operation_is_refused_at_import() -> None:
    app_without_operation = APIGatewayHttpResolver()
    app_without_operation.get("/silent")(lambda: {})
    with pytest.raises(LookupError, match="GET /silent"):
        require_operations(app_without_operation)
    with pytest.raises(TypeError, match="scope"):
        Operation(tag=Tag.TASKS, responses={})  # type: ignore[call-arg]


@every_route
def test_a_request_without_a_header_gets_401(shared: StackClient, route: MethodAndPath) -> None:
    reply = send_request(shared, route)
    assert is_problem(reply, 401)
    assert "WWW-Authenticate" in reply.headers


@every_route
@pytest.mark.parametrize("state", REFUSED)
def test_a_token_in_a_refused_state_gets_401(
    shared: StackClient, route: MethodAndPath, state: str
) -> None:
    reply = send_with_token(shared, route, REFUSED[state])
    assert is_problem(reply, 401)
    assert REFUSED[state] not in reply.body.decode()


@every_route
def test_a_token_with_a_prefix_has_its_scope(shared: StackClient, route: MethodAndPath) -> None:
    for scope, token in PREFIXED.items():
        status = send_with_token(shared, route, token).status
        assert (status == 403) is not scope.covers(REQUIRED_SCOPES[route])
        assert status != 401


@every_route
@pytest.mark.parametrize("token", ["guessed", "local-read", "local"])
def test_no_answer_to_a_token_is_cached(
    shared: StackClient, route: MethodAndPath, token: str
) -> None:
    assert send_with_token(shared, route, token).headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path", ["/health", "/", "/assets/main.js", "/tasks", "/no-such-route", "/docs", "/tasks/x"]
)
@pytest.mark.parametrize("name", ["", "local"])
def test_every_answer_over_https_asks_for_https(shared: StackClient, path: str, name: str) -> None:
    """API Gateway accepts https alone and says so. Over http, the local stack does not ask."""
    request = event({"authorizer": {"lambda": {"name": name, "scope": "admin"}}}, path)
    over_https = {**request, "headers": {"x-forwarded-proto": "https"}}
    replies = [shared.stack.invoke("api", one)["headers"] for one in (over_https, request)]
    assert [one.get("strict-transport-security") for one in replies] == ["max-age=31536000", None]


def test_me_says_which_token_it_is(shared: StackClient) -> None:
    for scope, token in PREFIXED.items():
        reply = send_with_token(shared, ("GET", "/me"), token)
        assert json.loads(reply.body) == {"name": f"new-{scope}", "scope": scope}


@every_route
def test_a_route_requires_its_scope_or_a_higher_one(
    shared: StackClient, route: MethodAndPath
) -> None:
    needed = REQUIRED_SCOPES[route]
    for scope, token in TOKENS.items():
        reply = send_with_token(shared, route, token)
        if scope.covers(needed):
            assert reply.status not in {401, 403}
        else:
            assert is_problem(reply, 403)
            detail = json.loads(reply.body)["detail"]
            assert f"needs the scope {needed}" in detail
            assert f"the token {token} has the scope {scope}" in detail


@pytest.mark.parametrize(
    ("route", "status"), [(("GET", "/no-such-route"), 404), (("DELETE", "/tasks"), 405)]
)
def test_an_unknown_route_is_404_only_with_a_token(
    shared: StackClient, route: MethodAndPath, status: int
) -> None:
    assert is_problem(send_with_token(shared, route, "guessed"), 401)
    assert is_problem(send_with_token(shared, route, "local"), status)


def test_a_newline_after_a_path_does_not_bypass_the_scope(shared: StackClient) -> None:
    """Powertools takes such a path for the route itself."""
    for path in ("/dead-letters/redrive%0A", "/budgets/x%0A", "/subjects/x/reset%0A"):
        method = "PUT" if "budgets" in path else "POST"
        assert is_problem(send_with_token(shared, (method, path), "local-write"), 403), path
    assert send_request(shared, ("GET", "/health%0A")).status == 401


def test_health_needs_no_token(shared: StackClient) -> None:
    assert send_request(shared, ("GET", "/health")).status == 200


@pytest.mark.parametrize("path", ["/tasks", "/assets", "/assets/", "/assets/a/b", "/assetsx"])
def test_no_other_route_works_without_a_token(shared: StackClient, path: str) -> None:
    assert is_problem(send_request(shared, ("GET", path)), 401)
    assert shared.stack.invoke("api", event({}, path))["statusCode"] == 401


@pytest.mark.parametrize("path", ["/", "/assets/app.js"])
def test_an_open_path_refuses_writing_methods(shared: StackClient, path: str) -> None:
    assert is_problem(send_request(shared, ("POST", path)), 401)
    refused = send_with_token(shared, ("POST", path), "local")
    assert is_problem(refused, 405)
    assert refused.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", ["/no-such-route", "/budgets/x/new"])
def test_an_unknown_writing_route_requires_the_write_scope(
    shared: StackClient, method: str, path: str
) -> None:
    assert is_problem(send_request(shared, (method, path)), 401)
    assert is_problem(send_with_token(shared, (method, path), "local-read"), 403)
    assert is_problem(send_with_token(shared, (method, path), "local-write"), 404)


def test_an_open_path_without_a_route_is_404_without_a_token(
    shared: StackClient,
) -> None:
    """API Gateway calls no authorizer there, so a token is never read."""
    assert is_problem(send_request(shared, ("GET", "/assets/%22x")), 404)
    assert is_problem(send_with_token(shared, ("GET", "/assets/%22x"), "local"), 404)


def test_a_route_that_shares_its_path_with_an_open_one_needs_its_scope() -> None:
    def read_handler() -> dict[str, str]:
        return {}

    def write_handler() -> dict[str, str]:
        return {}

    mixed_app = APIGatewayHttpResolver()
    mixed_app.use([require_scope])
    mixed_app.get("/mixed")(
        describe_operation(Operation(tag=Tag.TASKS, scope=NO_TOKEN, responses={}))(read_handler)
    )
    mixed_app.put("/mixed")(
        describe_operation(Operation(tag=Tag.TASKS, scope=Scope.WRITE, responses={}))(write_handler)
    )

    def status(method: str) -> int:
        request_event = event({}, "/mixed")
        request_event["requestContext"]["http"]["method"] = method
        return int(mixed_app.resolve(request_event, LambdaContext())["statusCode"])

    assert (status("GET"), status("PUT")) == (200, 401)


# --- only the authorizer's context counts -----------------------------------------------------


def event(request_context: Any, path: str = "/tasks") -> dict[str, Any]:
    return {
        "version": "2.0",
        "routeKey": "ANY /{proxy+}",
        "rawPath": path,
        "headers": {"authorization": "Bearer local"},
        "requestContext": {"stage": "$default", "http": {"method": "GET", "path": path}}
        | request_context,
    }


ADMIN = {"name": "x", "scope": "admin"}


@pytest.mark.parametrize(
    "request_context",
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
def test_a_request_without_authorizer_context_gets_401(
    shared: StackClient, request_context: dict[str, Any]
) -> None:
    assert shared.stack.invoke("api", event(request_context))["statusCode"] == 401
    authorized = {"authorizer": {"lambda": ADMIN}}
    assert shared.stack.invoke("api", event(authorized))["statusCode"] == 200


def test_a_caller_cannot_forge_the_authorizer_context(shared: StackClient) -> None:
    forged_context = json.dumps({"requestContext": {"authorizer": {"lambda": ADMIN}}})
    headers = {
        "authorization": "Bearer guessed",
        "requestcontext": forged_context,
        "requestContext": forged_context,
        "x-amzn-authorizer": forged_context,
        "lambda": json.dumps(ADMIN),
        "name": "x",
        "scope": "admin",
    }
    target = "/tasks?requestContext.authorizer.lambda.name=x&scope=admin&name=x"
    request = Request("GET", target, headers, forged_context.encode(), "127.0.0.1")
    assert Gateway(shared.stack).handle(request).status == 401


# --- how the header is written ----------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_authorization_scheme_is_case_insensitive(shared: StackClient, scheme: str) -> None:
    assert send_request(shared, ("GET", "/tasks"), authorization=f"{scheme} local").status == 200


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
def test_a_malformed_header_gets_401(shared: StackClient, header: str) -> None:
    assert is_problem(send_request(shared, ("GET", "/tasks"), authorization=header), 401)


def basic_header(password: str) -> str:
    return "Basic " + base64.b64encode(f"me:{password}".encode()).decode()


@pytest.mark.parametrize("path", ["/docs", "/openapi.json"])
def test_docs_pages_ask_browsers_for_basic_authentication(shared: StackClient, path: str) -> None:
    for headers in ({}, {"authorization": basic_header("guessed")}):
        reply = send_request(shared, ("GET", path), **headers)
        assert is_problem(reply, 401)
        assert reply.headers["WWW-Authenticate"] == 'Basic realm="duecourse"'
    assert (
        send_request(shared, ("GET", path), authorization=basic_header("local-read")).status == 200
    )
    assert send_with_token(shared, ("GET", path), "local-read").status == 200


@pytest.mark.parametrize(
    "route", [("GET", "/tasks"), ("POST", "/docs"), ("GET", "/docs/"), ("GET", "/%64ocs/x")]
)
def test_other_routes_refuse_basic_authentication(
    shared: StackClient, route: MethodAndPath
) -> None:
    reply = send_request(shared, route, authorization=basic_header("local"))
    assert is_problem(reply, 401)
    assert reply.headers["WWW-Authenticate"] == "Bearer"
