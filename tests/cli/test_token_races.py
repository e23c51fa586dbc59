"""`duecourse token` by several operators at once: no change of anybody's is lost or comes back."""

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
from tests.cli.test_token_command import REGION, kept, made, names, run, secret

__all__ = ["secret"]
Rival = Callable[[], object]


def revoke(secret: str, name: str) -> Rival:
    return lambda: run("--revoke", name, "--secret", secret)


def add(secret: str, name: str) -> Rival:
    return lambda: run(name, "--scope", "read", "--secret", secret)


class Meddled:
    """A client whose calls others come before, each time with what they do."""

    def __init__(self, client: Any, before: dict[str, Iterator[Rival]]) -> None:
        self._client = client
        self._before = before
        self._real = boto3.client

    def get_secret_value(self, **asked: str) -> Any:
        self._let_in(asked.get("VersionStage", ""))
        return self._client.get_secret_value(**asked)

    def put_secret_value(self, **asked: str) -> Any:
        self._let_in("put")
        return self._client.put_secret_value(**asked)

    def _let_in(self, moment: str) -> None:
        rival = next(self._before.get(moment, iter(())), None)
        if rival is not None:
            with patch("local.cli.token_secret.boto3.client", self._real):
                rival()


@pytest.fixture
def ci(secret: str) -> str:
    """A secret that has a token ci."""
    add(secret, "ci")()
    return secret


def during(command: list[str], *rivals: Rival, moment: str = "put") -> str:
    client = Meddled(boto3.client("secretsmanager", region_name=REGION), {moment: iter(rivals)})
    with patch("local.cli.token_secret.boto3.client", lambda *_, **__: client):
        return run(*command)


def test_a_token_that_was_revoked_meanwhile_stays_revoked(ci: str) -> None:
    shown = json.loads(
        during(["ops", "--scope", "read", "--secret", ci, "--json"], revoke(ci, "ci"))
    )
    assert names(ci) == ["ops"]
    assert [token.to_json() for token in parse_tokens(kept(ci))] == [shown["entry"]]


def test_a_token_that_was_added_meanwhile_stays(ci: str) -> None:
    during(["--revoke", "ci", "--secret", ci], add(ci, "ops"))
    assert names(ci) == ["ops"]


def test_several_that_come_one_after_the_other_are_all_heard(ci: str) -> None:
    """The second builds on what we wrote without knowing of the first."""
    during(["ops", "--scope", "read", "--secret", ci], revoke(ci, "ci"), add(ci, "dashboard"))
    assert sorted(names(ci)) == ["dashboard", "ops"]


def test_a_name_that_was_taken_meanwhile_is_left_to_whoever_took_it(ci: str) -> None:
    theirs: list[dict[str, Any]] = []
    with pytest.raises(SecretNotChangedError, match="it already has a token ops"):
        during(
            ["ops", "--scope", "read", "--secret", ci],
            lambda: theirs.append(made("ops", "--scope", "admin", "--secret", ci)),
        )
    assert theirs[0]["entry"] in [token.to_json() for token in parse_tokens(kept(ci))]


def test_what_cannot_be_settled_is_said(ci: str) -> None:
    rivals = [add(ci, f"rival-{n}") for n in range(20)]
    with pytest.raises(SecretNotChangedError, match="somebody else is changing it"):
        during(["ops", "--scope", "read", "--secret", ci], *rivals)


def test_a_look_that_fails_says_that_it_may_have_been_changed(ci: str) -> None:
    def breaks() -> None:
        raise EndpointConnectionError(endpoint_url="https://x")

    with pytest.raises(SecretNotChangedError, match="it may have changed"):
        during(["ops", "--scope", "read", "--secret", ci], breaks, moment="AWSPREVIOUS")
    with pytest.raises(SecretNotChangedError, match=r'"https://x"$'):
        during(["ops", "--scope", "read", "--secret", ci], breaks, moment="AWSCURRENT")


def test_one_who_writes_before_we_look_leaves_us_unsure(ci: str) -> None:
    with pytest.raises(SecretNotChangedError, match="somebody else is changing it"):
        during(
            ["ops", "--scope", "read", "--secret", ci], add(ci, "dashboard"), moment="AWSPREVIOUS"
        )
    assert "dashboard" in names(ci)
