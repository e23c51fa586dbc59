"""Tokens rotated while the system runs: removed and expired ones are refused within a minute."""

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


def put_tokens(*tokens: ApiToken) -> None:
    text = json.dumps({"tokens": [token.to_json() for token in tokens]})
    secret_id = stores.settings().api_tokens_secret
    aws_clients.client("secretsmanager").put_secret_value(SecretId=secret_id, SecretString=text)


def is_accepted(client: StackClient, token: str) -> bool:
    status = client.call("GET", "/tasks", token=token).status
    assert status in {200, 401}
    return status == 200


def test_two_tokens_work_and_a_removed_one_is_refused_within_a_minute(
    client: StackClient,
) -> None:
    put_tokens(LOCAL, OLD, NEW)
    assert (is_accepted(client, "old"), is_accepted(client, "new")) == (True, True)
    client.advance("29s")
    put_tokens(LOCAL, NEW)
    assert is_accepted(client, "old"), "the authorizer's response is cached for half a minute"
    client.advance("60s")
    assert (is_accepted(client, "old"), is_accepted(client, "new")) == (False, True)


def test_a_removed_token_in_constant_use_is_refused_within_a_minute(client: StackClient) -> None:
    put_tokens(LOCAL, OLD)
    results = []
    for second in range(0, 180, 5):
        if second == 60:
            put_tokens(LOCAL)
        results.append(is_accepted(client, "old"))
        client.advance("5s")
    assert results[:12] == [True] * 12
    assert results[12 + 12 :] == [False] * 12


def test_an_expired_token_is_refused_within_a_minute(client: StackClient) -> None:
    ends_at = stores.clock().now() + timedelta(hours=1)
    put_tokens(LOCAL, replace(OLD, expires_at=ends_at))
    client.advance("59m")
    assert is_accepted(client, "old")
    client.advance("90s")
    assert not is_accepted(client, "old")


def test_a_changed_scope_applies_within_a_minute(client: StackClient) -> None:
    put_tokens(LOCAL, OLD)
    assert client.call("POST", "/tasks", {}, token="old").status == 403
    put_tokens(LOCAL, replace(OLD, scope=Scope.WRITE))
    client.advance("60s")
    assert client.call("POST", "/tasks", {}, token="old").status == 422
