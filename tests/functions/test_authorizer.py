"""The authorizer function: who shows which token, and what it says where it cannot know."""

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

NOBODY = {"name": "", "scope": ""}
CANARY = "qz-7Hd03kLmNo99pQr"
READ = "secretsmanager.GetSecretValue"


def asked(**changes: Any) -> dict[str, Any]:
    event = json.loads((ROOT / "events" / "authorizer_known_token.json").read_text())
    return dict(event | changes)


def told(client: StackClient, **changes: Any) -> dict[str, Any]:
    answer = client.stack.invoke("authorizer", asked(**changes))
    assert answer["isAuthorized"] is True, "the API refuses, in its own words"
    return dict(answer["context"])


def put(text: str) -> None:
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
    assert told(client, headers=headers) == {"name": name, "scope": scope}


@pytest.mark.parametrize(
    "headers",
    [None, {}, {"authorization": ""}, {"authorization": "Bearer x"}, {"Authorization": "x"}],
)
def test_who_shows_no_known_token_is_nobody(client: StackClient, headers: Any) -> None:
    assert told(client, headers=headers) == NOBODY


def test_who_shows_nothing_costs_no_read_of_the_secret(client: StackClient) -> None:
    told(client, headers={})
    assert client.stack.calls.counts["authorizer", READ] == 0
    told(client, headers={"authorization": "Bearer x"})
    assert client.stack.calls.counts["authorizer", READ] == 1


def test_a_password_counts_by_the_route_that_was_chosen_not_by_the_path(
    client: StackClient,
) -> None:
    headers = {"authorization": "Basic " + base64.b64encode(b"me:local").decode()}
    assert told(client, headers=headers, routeKey="GET /docs", rawPath="/docs")["name"] == "local"
    assert told(client, headers=headers, rawPath="/docs") == NOBODY


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
def test_a_secret_that_cannot_be_used_lets_nobody_in_and_is_not_logged(
    client: StackClient, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[str] = []
    monkeypatch.setattr(app.logger, "error", lambda *args, **more: logged.append(f"{args} {more}"))
    put(content)
    assert told(client) == NOBODY
    [line] = logged
    assert "the secret of the API tokens is invalid" in line
    assert CANARY not in line
    assert hash_secret("local") not in line


def test_no_token_is_ever_logged(
    client: StackClient, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.logger, "level", 10)
    for header in (f"Bearer {CANARY}", "Bearer local", f"Basic {CANARY}"):
        told(client, headers={"authorization": header})
    put("oops")
    told(client, headers={"authorization": f"Bearer {CANARY}"})
    heard = capsys.readouterr()
    assert CANARY not in heard.out + heard.err


def test_where_the_secret_cannot_be_read_it_fails_and_nothing_is_kept(client: StackClient) -> None:
    client.add_fault(function="authorizer", call=READ, times=100, kind="error")
    with pytest.raises(InvocationError, match="SecretUnreadableError"):
        client.stack.invoke("authorizer", asked())
    assert client.call("GET", "/tasks").status == 500
    assert client.call("DELETE", "/_local/faults").status == 200
    assert client.call("GET", "/tasks").status == 200
