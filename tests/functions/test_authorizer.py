"""The authorizer function: it names the token of a request, and fails closed."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from duecourse.app import stores
from duecourse.domain.access.tokens import hash_secret

from functions.authorizer import app
from local.runtime import aws_clients
from local.runtime.functions import InvocationError
from local.runtime.template import ROOT
from tests.support.stack_client import StackClient

NO_CALLER = {"name": "", "scope": ""}
CANARY = "qz-7Hd03kLmNo99pQr"
READ_CALL = "secretsmanager.GetSecretValue"


def an_event(**changes: Any) -> dict[str, Any]:
    event = json.loads((ROOT / "events" / "authorizer_known_token.json").read_text())
    return dict(event | changes)


def authorize(client: StackClient, **changes: Any) -> dict[str, Any]:
    response = client.stack.invoke("authorizer", an_event(**changes))
    assert response["isAuthorized"] is True, "the API itself refuses, with a problem document"
    return dict(response["context"])


def put_secret(text: str) -> None:
    secret_id = stores.settings().api_tokens_secret
    aws_clients.client("secretsmanager").put_secret_value(SecretId=secret_id, SecretString=text)


@pytest.mark.parametrize(
    ("token", "name", "scope"),
    [
        ("local", "local", "admin"),
        ("local-write", "local-write", "write"),
        ("local-read", "local-read", "read"),
    ],
)
def test_a_known_token_has_a_name_and_a_scope(
    client: StackClient, token: str, name: str, scope: str
) -> None:
    headers = {"authorization": f"Bearer {token}"}
    assert authorize(client, headers=headers) == {"name": name, "scope": scope}


def test_the_header_is_read_in_any_case(client: StackClient) -> None:
    """API Gateway makes it lower case; `sam local start-api` does not."""
    headers = {"AuthoriZation": "Bearer local"}
    assert authorize(client, headers=headers) == {"name": "local", "scope": "admin"}


def test_two_headers_in_different_case_give_no_caller(client: StackClient) -> None:
    headers = {"authorization": "Bearer local", "Authorization": "Bearer local-read"}
    assert authorize(client, headers=headers) == NO_CALLER


@pytest.mark.parametrize(
    "headers",
    [None, {}, {"authorization": ""}, {"authorization": "Bearer x"}, {"Authorization": "x"}],
)
def test_an_unknown_token_gives_no_caller(client: StackClient, headers: Any) -> None:
    assert authorize(client, headers=headers) == NO_CALLER


def test_a_request_without_a_token_does_not_read_the_secret(client: StackClient) -> None:
    authorize(client, headers={})
    assert client.stack.calls.counts["authorizer", READ_CALL] == 0
    authorize(client, headers={"authorization": "Bearer x"})
    assert client.stack.calls.counts["authorizer", READ_CALL] == 1


def test_basic_authentication_depends_on_the_route_key_not_the_path(
    client: StackClient,
) -> None:
    headers = {"authorization": "Basic " + base64.b64encode(b"me:local").decode()}
    assert (
        authorize(client, headers=headers, routeKey="GET /docs", rawPath="/docs")["name"] == "local"
    )
    assert authorize(client, headers=headers, rawPath="/docs") == NO_CALLER


@pytest.mark.parametrize(
    "content",
    [
        CANARY,
        json.dumps({"tokens": [{CANARY: CANARY}]}),
        json.dumps({"tokens": [{"name": "a", "scope": CANARY, "sha256": hash_secret("local")}]}),
        json.dumps(
            {"tokens": [{"name": "a", "scope": "read", "sha256": hash_secret("local")}] * 2}
        ),
    ],
    ids=range(4),
)
def test_an_invalid_secret_refuses_everybody_and_is_not_logged(
    client: StackClient, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[str] = []
    monkeypatch.setattr(app.logger, "error", lambda *args, **more: logged.append(f"{args} {more}"))
    put_secret(content)
    assert authorize(client) == NO_CALLER
    [line] = logged
    assert "the secret of the API tokens is invalid" in line
    assert CANARY not in line
    assert hash_secret("local") not in line


def test_no_token_is_ever_logged(
    client: StackClient, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.logger, "level", 10)
    for header in (f"Bearer {CANARY}", "Bearer local", f"Basic {CANARY}"):
        authorize(client, headers={"authorization": header})
    put_secret("oops")
    authorize(client, headers={"authorization": f"Bearer {CANARY}"})
    output = capsys.readouterr()
    assert CANARY not in output.out + output.err


def test_an_unreadable_secret_fails_the_request_and_is_not_cached(client: StackClient) -> None:
    client.add_fault(function="authorizer", call=READ_CALL, times=100, kind="error")
    with pytest.raises(InvocationError, match="SecretUnreadableError"):
        client.stack.invoke("authorizer", an_event())
    assert client.call("GET", "/tasks").status == 500
    assert client.call("DELETE", "/_local/faults").status == 200
    assert client.call("GET", "/tasks").status == 200
