"""`duecourse token`: a token is shown once, and only its hash is kept."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
import pytest
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import find_token, hash_secret, parse_tokens
from moto import mock_aws

from local.cli.commands.token import add_arguments
from local.cli.token_manager import run_token_command
from local.cli.token_secret import SecretNotChangedError
from tests.support.builders.moments import DAY, NOW

REGION = "eu-west-3"  # another than the operator's own
DUECOURSE = Path(sys.executable).with_name("duecourse")


def run(*arguments: str) -> str:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return run_token_command(parser.parse_args(arguments), now=NOW)


def made(*arguments: str) -> dict[str, Any]:
    return dict(json.loads(run(*arguments, "--json")))


@pytest.fixture
def secret() -> Iterator[str]:
    """A new stack's, by its ARN."""
    settings = {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }
    with patch.dict("os.environ", settings), mock_aws():
        client = boto3.client("secretsmanager", region_name=REGION)
        yield client.create_secret(Name="tokens", SecretString='{"tokens": []}')["ARN"]


def kept(secret: str) -> str:
    client = boto3.client("secretsmanager", region_name=REGION)
    return str(client.get_secret_value(SecretId=secret)["SecretString"])


def names(secret: str) -> list[str]:
    return [token.name for token in parse_tokens(kept(secret))]


def test_a_token_is_long_new_each_time_and_fits_its_entry() -> None:
    first, second = made("ci", "--scope", "write"), made("ci", "--scope", "write")
    assert len(first["token"]) >= 43
    assert first["token"] != second["token"]
    entry = {"name": "ci", "scope": "write", "sha256": hash_secret(first["token"])}
    assert (first["entry"], first["secret"]) == (entry, None)


def test_a_person_is_shown_the_token_and_the_entry_to_put_in() -> None:
    shown = run("ci", "--scope", "read", "--expires", "90d")
    [token] = [line.strip() for line in shown.splitlines() if len(line.split()) == 1]
    [entry] = [json.loads(line) for line in shown.splitlines() if line.startswith("  {")]
    assert entry["sha256"] == hash_secret(token)
    [read] = parse_tokens(json.dumps({"tokens": [entry]}))
    assert (read.scope, read.expires_at) == (Scope.READ, NOW + 90 * DAY)


def test_tokens_are_added_to_the_secret_beside_those_that_are_there(secret: str) -> None:
    ci = made("ci", "--scope", "write", "--secret", secret)
    ops = made("ops", "--scope", "admin", "--expires", "30d", "--secret", secret)
    tokens = parse_tokens(kept(secret))
    for one in (ci, ops):
        found = find_token(tokens, one["token"], now=NOW)
        assert found is not None
        assert found.to_json() == one["entry"]
        assert one["token"] not in kept(secret)
    assert names(secret) == ["ci", "ops"]


def test_a_name_that_is_there_is_replaced_only_when_that_is_said(secret: str) -> None:
    old = made("ci", "--scope", "write", "--secret", secret)
    with pytest.raises(SecretNotChangedError, match="it already has a token ci"):
        run("ci", "--scope", "write", "--secret", secret)
    assert find_token(parse_tokens(kept(secret)), old["token"], now=NOW) is not None

    new = made("ci", "--scope", "read", "--secret", secret, "--replace")
    assert find_token(parse_tokens(kept(secret)), old["token"], now=NOW) is None
    assert find_token(parse_tokens(kept(secret)), new["token"], now=NOW) is not None


def test_a_revoked_token_is_gone_and_the_others_stay(secret: str) -> None:
    for name in ("ci", "ops"):
        run(name, "--scope", "read", "--secret", secret)
    assert "Revoked ci." in run("--revoke", "ci", "--secret", secret)
    assert names(secret) == ["ops"]
    with pytest.raises(SecretNotChangedError, match="it has no token ci"):
        run("--revoke", "ci", "--secret", secret)
    assert made("--revoke", "ops", "--secret", secret) == {"revoked": "ops", "secret": secret}
    assert names(secret) == []


def test_a_secret_that_cannot_be_used_is_left_as_it_is(secret: str) -> None:
    client = boto3.client("secretsmanager", region_name=REGION)
    client.put_secret_value(SecretId=secret, SecretString="oops")
    with pytest.raises(SecretNotChangedError, match="is not JSON"):
        run("ci", "--scope", "read", "--secret", secret)
    assert kept(secret) == "oops"


def test_a_secret_that_is_not_there_is_told_by_awss_words(secret: str) -> None:
    nowhere = secret.replace("tokens", "nowhere")
    with pytest.raises(SecretNotChangedError, match="ResourceNotFoundException"):
        run("ci", "--scope", "read", "--secret", nowhere)


@pytest.mark.parametrize(
    ("arguments", "named"),
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
        (["ci", "--revoke", "ci", "--secret", "s"], "--revoke"),
        (["--revoke", "ci", "--secret", "s", "--scope", "read"], "--revoke"),
    ],
)
def test_bad_usage_is_named(arguments: list[str], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        run(*arguments)


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (["ci", "--scope", "root"], 2, "--scope"),
        (["two words", "--scope", "read"], 2, "NAME"),
        (["ci", "--scope", "read", "--secret", "tokens"], 1, "region"),
    ],
)
def test_on_the_command_line_an_error_is_one_line(
    arguments: list[str], code: int, named: str
) -> None:
    done = subprocess.run(  # noqa: S603 - our own command
        [str(DUECOURSE), "token", *arguments],
        env={"PATH": "", "HOME": "/nowhere"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert named in done.stderr
