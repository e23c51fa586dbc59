"""Tokens are changed while the system runs: what is removed or has expired is refused in time."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import ApiToken, hash_secret

from local.runtime import aws_clients
from tests.support.stack_client import StackClient

LOCAL = ApiToken("local", Scope.ADMIN, hash_secret("local"))
OLD = ApiToken("ci", Scope.READ, hash_secret("old"))
NEW = ApiToken("ci-2", Scope.READ, hash_secret("new"))


def put(*tokens: ApiToken) -> None:
    text = json.dumps({"tokens": [token.to_json() for token in tokens]})
    secret_id = stores.settings().api_tokens_secret
    aws_clients.client("secretsmanager").put_secret_value(SecretId=secret_id, SecretString=text)


def comes_in(client: StackClient, token: str) -> bool:
    status = client.call("GET", "/tasks", token=token).status
    assert status in {200, 401}
    return status == 200


def test_two_tokens_work_at_once_and_one_that_is_removed_is_refused_within_a_minute(
    client: StackClient,
) -> None:
    put(LOCAL, OLD, NEW)
    assert (comes_in(client, "old"), comes_in(client, "new")) == (True, True)
    client.advance("29s")
    put(LOCAL, NEW)
    assert comes_in(client, "old"), "what was answered is kept for half a minute"
    client.advance("60s")
    assert (comes_in(client, "old"), comes_in(client, "new")) == (False, True)


def test_even_one_in_use_all_the_time_is_refused_within_a_minute(client: StackClient) -> None:
    put(LOCAL, OLD)
    seen = []
    for second in range(0, 180, 5):
        if second == 60:
            put(LOCAL)
        seen.append(comes_in(client, "old"))
        client.advance("5s")
    assert seen[:12] == [True] * 12
    assert seen[12 + 12 :] == [False] * 12


def test_a_token_that_expires_is_refused_soon_after(client: StackClient) -> None:
    ends_at = stores.clock().now() + timedelta(hours=1)
    put(LOCAL, replace(OLD, expires_at=ends_at))
    client.advance("59m")
    assert comes_in(client, "old")
    client.advance("90s")
    assert not comes_in(client, "old")


def test_another_scope_holds_within_a_minute(client: StackClient) -> None:
    put(LOCAL, OLD)
    assert client.call("POST", "/tasks", {}, token="old").status == 403
    put(LOCAL, replace(OLD, scope=Scope.WRITE))
    client.advance("60s")
    assert client.call("POST", "/tasks", {}, token="old").status == 422
