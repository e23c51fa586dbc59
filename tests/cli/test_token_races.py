"""Concurrent `duecourse token` commands: no change is lost or undone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import boto3
import pytest
from botocore.exceptions import EndpointConnectionError
from duecourse.domain.access.tokens import parse_tokens

from local.cli.token_secret import SecretNotChangedError
from tests.cli.test_token_command import (
    REGION,
    read_secret,
    run_token,
    run_token_json,
    secret,
    token_names,
)

__all__ = ["secret"]
Rival = Callable[[], object]


def revoke(secret: str, name: str) -> Rival:
    return lambda: run_token("--revoke", name, "--secret", secret)


def add(secret: str, name: str) -> Rival:
    return lambda: run_token(name, "--scope", "read", "--secret", secret)


class RivalClient:
    """A Secrets Manager client that runs a rival command before chosen calls."""

    def __init__(self, client: Any, before: dict[str, Iterator[Rival]]) -> None:
        self._client = client
        self._before = before
        self._real = boto3.client

    def get_secret_value(self, **arguments: str) -> Any:
        self._run_rival(arguments.get("VersionStage", ""))
        return self._client.get_secret_value(**arguments)

    def put_secret_value(self, **arguments: str) -> Any:
        self._run_rival("put")
        return self._client.put_secret_value(**arguments)

    def _run_rival(self, moment: str) -> None:
        rival = next(self._before.get(moment, iter(())), None)
        if rival is not None:
            with patch("local.cli.token_secret.boto3.client", self._real):
                rival()


@pytest.fixture
def ci(secret: str) -> str:
    """Return a secret that has the token ci."""
    add(secret, "ci")()
    return secret


def run_with_rivals(command: list[str], *rivals: Rival, moment: str = "put") -> str:
    client = RivalClient(boto3.client("secretsmanager", region_name=REGION), {moment: iter(rivals)})
    with patch("local.cli.token_secret.boto3.client", lambda *_, **__: client):
        return run_token(*command)


def test_a_token_revoked_concurrently_stays_revoked(ci: str) -> None:
    output = json.loads(
        run_with_rivals(["ops", "--scope", "read", "--secret", ci, "--json"], revoke(ci, "ci"))
    )
    assert token_names(ci) == ["ops"]
    assert [token.to_json() for token in parse_tokens(read_secret(ci))] == [output["entry"]]


def test_a_token_added_concurrently_is_kept(ci: str) -> None:
    run_with_rivals(["--revoke", "ci", "--secret", ci], add(ci, "ops"))
    assert token_names(ci) == ["ops"]


def test_several_concurrent_changes_are_all_kept(ci: str) -> None:
    """The second rival starts from our write and does not know of the first."""
    run_with_rivals(
        ["ops", "--scope", "read", "--secret", ci], revoke(ci, "ci"), add(ci, "dashboard")
    )
    assert sorted(token_names(ci)) == ["dashboard", "ops"]


def test_a_name_added_concurrently_is_not_overwritten(ci: str) -> None:
    rival_output: list[dict[str, Any]] = []
    with pytest.raises(SecretNotChangedError, match="it already has a token ops"):
        run_with_rivals(
            ["ops", "--scope", "read", "--secret", ci],
            lambda: rival_output.append(run_token_json("ops", "--scope", "admin", "--secret", ci)),
        )
    assert rival_output[0]["entry"] in [token.to_json() for token in parse_tokens(read_secret(ci))]


def test_endless_conflicts_are_reported(ci: str) -> None:
    rivals = [add(ci, f"rival-{n}") for n in range(20)]
    with pytest.raises(SecretNotChangedError, match="somebody else is changing it"):
        run_with_rivals(["ops", "--scope", "read", "--secret", ci], *rivals)


def test_a_failed_read_after_the_write_says_it_may_have_been_changed(ci: str) -> None:
    def fail_to_connect() -> None:
        raise EndpointConnectionError(endpoint_url="https://x")

    with pytest.raises(SecretNotChangedError, match="it may have changed"):
        run_with_rivals(
            ["ops", "--scope", "read", "--secret", ci], fail_to_connect, moment="AWSPREVIOUS"
        )
    with pytest.raises(SecretNotChangedError, match=r'"https://x"$'):
        run_with_rivals(
            ["ops", "--scope", "read", "--secret", ci], fail_to_connect, moment="AWSCURRENT"
        )


def test_a_write_before_the_check_is_reported_as_a_conflict(ci: str) -> None:
    with pytest.raises(SecretNotChangedError, match="somebody else is changing it"):
        run_with_rivals(
            ["ops", "--scope", "read", "--secret", ci], add(ci, "dashboard"), moment="AWSPREVIOUS"
        )
    assert "dashboard" in token_names(ci)
