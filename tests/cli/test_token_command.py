"""`duecourse token`: prints a token once and stores only its hash."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
import pytest
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.token_format import is_mistyped
from duecourse.domain.access.tokens import find_token, hash_secret, parse_tokens
from moto import mock_aws

from local.cli.commands.token import add_arguments
from local.cli.token_manager import run_token_command
from local.cli.token_secret import SecretNotChangedError
from tests.support.builders.moments import DAY, NOW

REGION = "eu-west-3"  # another than the operator's own
COMMAND = Path(sys.executable).with_name("duecourse")


def run_token(*arguments: str, now: datetime = NOW) -> str:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run_token_command(parser.parse_args(arguments), now=now)


def run_token_json(*arguments: str) -> dict[str, Any]:
    return dict(json.loads(run_token(*arguments, "--json")))


@pytest.fixture
def secret() -> Iterator[str]:
    """Create the token secret of a new stack and return its ARN."""
    settings = {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }
    with patch.dict("os.environ", settings), mock_aws():
        client = boto3.client("secretsmanager", region_name=REGION)
        yield client.create_secret(Name="tokens", SecretString='{"tokens": []}')["ARN"]


def read_secret(secret: str) -> str:
    client = boto3.client("secretsmanager", region_name=REGION)
    return str(client.get_secret_value(SecretId=secret)["SecretString"])


def token_names(secret: str) -> list[str]:
    return [token.name for token in parse_tokens(read_secret(secret))]


def test_a_token_is_long_unique_and_matches_its_entry() -> None:
    first, second = (
        run_token_json("ci", "--scope", "write"),
        run_token_json("ci", "--scope", "write"),
    )
    assert re.fullmatch(r"dc_[0-9A-Za-z]{49}", first["token"])
    assert not is_mistyped(first["token"])
    assert first["token"] != second["token"]
    entry = {"name": "ci", "scope": "write", "sha256": hash_secret(first["token"])}
    in_a_year = {"expires_at": "2027-02-17T12:00:00.000Z"}
    assert (first["entry"], first["secret"]) == (entry | in_a_year, None)


def test_only_a_token_that_is_asked_for_never_expires() -> None:
    assert "expires_at" in run_token_json("ci", "--scope", "read")["entry"]
    assert (
        "expires_at" not in run_token_json("ci", "--scope", "read", "--expires", "never")["entry"]
    )


def test_the_list_shows_when_tokens_expire_and_no_hash(secret: str) -> None:
    for name, lifetime in [("old", "never"), ("ci", "365d"), ("ops", "13d"), ("web", "1d")]:
        run_token(name, "--scope", "read", "--secret", secret, "--expires", lifetime)
    output = run_token("--list", "--secret", secret)
    assert output.splitlines() == [
        "NAME  SCOPE  EXPIRES",
        "web   read   2026-02-18 12:00 UTC, in 1 day: replace it",
        "ops   read   2026-03-02 12:00 UTC, in 13 days: replace it",
        "ci    read   2027-02-17 12:00 UTC, in 365 days",
        "old   read   never",
    ]
    listed = run_token("--list", "--secret", secret, "--json")
    assert json.loads(listed)[0] == {
        "name": "web",
        "scope": "read",
        "expires_at": "2026-02-18T12:00:00.000Z",
        "is_expired": False,
    }
    for token in parse_tokens(read_secret(secret)):
        assert token.sha256 not in output + listed


def test_the_list_names_an_expired_token_and_an_empty_secret(secret: str) -> None:
    assert run_token("--list", "--secret", secret) == "No tokens: nobody has access."
    run_token("ci", "--scope", "read", "--secret", secret, "--expires", "1d")
    later = run_token("--list", "--secret", secret, now=NOW + 2 * DAY)
    assert later.endswith("2026-02-18 12:00 UTC, expired: revoke it")


def test_the_output_has_the_token_and_its_entry() -> None:
    output = run_token("ci", "--scope", "read", "--expires", "90d")
    [token] = [line.strip() for line in output.splitlines() if len(line.split()) == 1]
    [entry] = [json.loads(line) for line in output.splitlines() if line.startswith("  {")]
    assert entry["sha256"] == hash_secret(token)
    [parsed] = parse_tokens(json.dumps({"tokens": [entry]}))
    assert (parsed.scope, parsed.expires_at) == (Scope.READ, NOW + 90 * DAY)


def test_a_new_token_keeps_the_existing_tokens(secret: str) -> None:
    ci = run_token_json("ci", "--scope", "write", "--secret", secret)
    ops = run_token_json("ops", "--scope", "admin", "--expires", "30d", "--secret", secret)
    tokens = parse_tokens(read_secret(secret))
    for created in (ci, ops):
        found = find_token(tokens, created["token"], now=NOW)
        assert found is not None
        assert found.to_json() == created["entry"]
        assert created["token"] not in read_secret(secret)
    assert token_names(secret) == ["ci", "ops"]


def test_an_existing_name_is_replaced_only_with_replace(secret: str) -> None:
    old = run_token_json("ci", "--scope", "write", "--secret", secret)
    with pytest.raises(SecretNotChangedError, match="it already has a token ci"):
        run_token("ci", "--scope", "write", "--secret", secret)
    assert find_token(parse_tokens(read_secret(secret)), old["token"], now=NOW) is not None

    new = run_token_json("ci", "--scope", "read", "--secret", secret, "--replace")
    assert find_token(parse_tokens(read_secret(secret)), old["token"], now=NOW) is None
    assert find_token(parse_tokens(read_secret(secret)), new["token"], now=NOW) is not None


def test_revoke_removes_only_the_named_token(secret: str) -> None:
    for name in ("ci", "ops"):
        run_token(name, "--scope", "read", "--secret", secret)
    assert "Revoked ci." in run_token("--revoke", "ci", "--secret", secret)
    assert token_names(secret) == ["ops"]
    with pytest.raises(SecretNotChangedError, match="it has no token ci"):
        run_token("--revoke", "ci", "--secret", secret)
    assert run_token_json("--revoke", "ops", "--secret", secret) == {
        "revoked": "ops",
        "secret": secret,
    }
    assert token_names(secret) == []


def test_an_unreadable_secret_is_left_unchanged(secret: str) -> None:
    client = boto3.client("secretsmanager", region_name=REGION)
    client.put_secret_value(SecretId=secret, SecretString="oops")
    with pytest.raises(SecretNotChangedError, match="is not JSON"):
        run_token("ci", "--scope", "read", "--secret", secret)
    assert read_secret(secret) == "oops"


def test_a_missing_secret_is_reported_with_the_error_code_of_aws(secret: str) -> None:
    missing = secret.replace("tokens", "nowhere")
    with pytest.raises(SecretNotChangedError, match="ResourceNotFoundException"):
        run_token("ci", "--scope", "read", "--secret", missing)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "NAME"),
        (["ci"], "--scope"),
        (["--scope", "read"], "NAME"),
        (["two words", "--scope", "read"], "NAME"),
        (["x" * 65, "--scope", "read"], "NAME"),
        (["ci", "--scope", "read", "--expires", "soon"], "--expires"),
        (["ci", "--scope", "read", "--expires", "0s"], "--expires"),
        (["ci", "--scope", "read", "--replace"], "--replace"),
        (["ci", "--scope", "read", "--secret", "arn:aws:s3:::bucket"], "--secret"),
        (["--revoke", "ci", "--secret", "arn:aws:secretsmanager::1:secret:x"], "--secret"),
        (["--revoke", "ci"], "--revoke"),
        (["--list"], "--list requires --secret"),
        (["--list", "ci", "--secret", "s"], "--list: only"),
        (["--list", "--revoke", "ci", "--secret", "s"], "--list: only"),
        (["ci", "--scope", "read", "--expires", "Never"], "--expires"),
        (["ci", "--revoke", "ci", "--secret", "s"], "--revoke"),
        (["--revoke", "ci", "--secret", "s", "--scope", "read"], "--revoke"),
    ],
)
def test_bad_usage_names_the_argument(arguments: list[str], expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        run_token(*arguments)


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["ci", "--scope", "root"], 2, "--scope"),
        (["two words", "--scope", "read"], 2, "NAME"),
        (["ci", "--scope", "read", "--secret", "tokens"], 1, "region"),
    ],
)
def test_an_error_on_the_command_line_is_one_line(
    arguments: list[str], code: int, expected: str
) -> None:
    result = subprocess.run(  # noqa: S603 - our own command
        [str(COMMAND), "token", *arguments],
        env={"PATH": "", "HOME": "/nowhere"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (code, "", 1)
    assert expected in result.stderr
