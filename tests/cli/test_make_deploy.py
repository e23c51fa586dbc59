"""`make deploy` checks region and credentials before it builds, and examines what it deployed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from local.runtime.template import ROOT
from tests.support.query_api import ACCOUNT, CALLER, QueryApi, serve_query_api

VENV = Path(sys.prefix)
STUB = """#!/bin/sh
echo "$(basename $0) $@" >> {log}
"""


@dataclass(frozen=True)
class Deployer:
    """Runs `make` with stand-ins for `sam`, which record their calls."""

    folder: Path

    def make(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        # Nothing of the machine's own account, and never the network.
        environment = {
            "PATH": os.environ["PATH"],  # noqa: TID251 - for a subprocess
            "HOME": str(self.folder),
            "AWS_CONFIG_FILE": str(self.folder / "no-config"),
            "AWS_SHARED_CREDENTIALS_FILE": str(self.folder / "no-credentials"),
            "AWS_EC2_METADATA_DISABLED": "true",
            **variables,
        }
        stamps = ["-o", f"{VENV}/.installed", "-o", f"{self.folder}/.installed"]
        folders = [f"VENV={VENV}", f"SAM_VENV={self.folder}"]
        return subprocess.run(  # noqa: S603 - our own Makefile
            [
                "/usr/bin/env",
                "make",
                "--no-print-directory",
                *stamps,
                "deploy",
                *folders,
                *arguments,
            ],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    @property
    def calls(self) -> list[str]:
        log = self.folder / "calls"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def deployer(tmp_path: Path) -> Deployer:
    (tmp_path / "bin").mkdir()
    (tmp_path / ".installed").touch()
    for name in ("sam", "python"):
        stub = tmp_path / "bin" / name
        stub.write_text(STUB.format(log=tmp_path / "calls"))
        stub.chmod(0o755)
    return Deployer(tmp_path)


@pytest.fixture
def aws() -> Iterator[QueryApi]:
    with serve_query_api() as api:
        yield api


def credentials(aws: QueryApi) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": aws.url,
        "AWS_REGION": "eu-west-3",
        "AWS_ACCESS_KEY_ID": "id",
        "AWS_SECRET_ACCESS_KEY": "a-key-that-nobody-must-see",
    }


def own_errors(result: subprocess.CompletedProcess[str]) -> list[str]:
    """Return the lines of the error output without make's own."""
    return [line for line in result.stderr.splitlines() if not line.startswith("make")]


def test_without_a_region_nothing_is_built(deployer: Deployer) -> None:
    result = deployer.make(AWS_ACCESS_KEY_ID="id", AWS_SECRET_ACCESS_KEY="key")

    [line] = own_errors(result)
    assert line.startswith("duecourse: no AWS region is set")
    assert (result.returncode != 0, deployer.calls) == (True, [])


def test_without_credentials_nothing_is_built(deployer: Deployer) -> None:
    result = deployer.make(AWS_REGION="eu-west-3")

    [line] = own_errors(result)
    assert line.startswith("duecourse: no AWS credentials found")
    assert (result.returncode != 0, deployer.calls) == (True, [])


def test_with_refused_credentials_nothing_is_built(deployer: Deployer, aws: QueryApi) -> None:
    aws.error = ("ExpiredToken", "The security token included in the request is expired")

    result = deployer.make(**credentials(aws))

    [line] = own_errors(result)
    assert line.startswith("duecourse: AWS refused the credentials (ExpiredToken")
    assert (result.returncode != 0, deployer.calls) == (True, [])


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"AWS_PROFILE": "nobody", "AWS_REGION": "eu-west-3"}, "nobody"),
        (
            {
                "AWS_REGION": "eu-west-3",
                "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
                "AWS_ACCESS_KEY_ID": "id",
                "AWS_SECRET_ACCESS_KEY": "key",
            },
            "cannot be checked",
        ),
    ],
    ids=["profile", "unreachable"],
)
def test_every_other_problem_is_one_line_too(
    deployer: Deployer, variables: dict[str, str], expected: str
) -> None:
    result = deployer.make(**variables)

    [line] = own_errors(result)
    assert expected in line
    assert deployer.calls == []


def test_an_unknown_environment_is_refused(deployer: Deployer) -> None:
    result = deployer.make("ENV=nowhere", AWS_REGION="eu-west-3")

    [line] = own_errors(result)
    assert "nowhere" in line
    assert deployer.calls == []


def test_it_builds_deploys_and_examines_in_this_order(deployer: Deployer, aws: QueryApi) -> None:
    aws.results["GetCallerIdentity"] = CALLER
    tokens = "arn:aws:secretsmanager:eu-west-3:123456789012:secret:tokens"
    outputs = {"ApiUrl": "http://127.0.0.1:9", "ApiTokensSecretArn": tokens}
    aws.set_stack(outputs, {}, created_at=datetime(2026, 2, 17, tzinfo=UTC))

    result = deployer.make("ENV=dev", **credentials(aws))

    assert deployer.calls == [
        "sam build",
        "python .ci/import_built.py",
        "sam deploy --config-env dev --no-fail-on-empty-changeset",
    ]
    printed = [
        f"Stack duecourse-dev, account {ACCOUNT}, region eu-west-3",
        f"duecourse token ops --scope admin --secret {tokens}",
        "CHECK",
        "api (failed)",
    ]
    places = [result.stdout.find(text) for text in printed]
    assert -1 not in places, result.stdout + result.stderr
    assert places == sorted(places)
    assert result.returncode != 0  # nothing answers at that address
    assert "a-key-that-nobody-must-see" not in result.stdout + result.stderr


def test_the_preflight_has_json(aws: QueryApi, tmp_path: Path) -> None:
    aws.results["GetCallerIdentity"] = CALLER
    command = [str(VENV / "bin" / "duecourse"), "doctor", "--preflight", "--json"]
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", **credentials(aws)}

    result = subprocess.run(  # noqa: S603 - our own command
        command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )

    expected = {"stack": "duecourse", "account": ACCOUNT, "region": "eu-west-3"}
    assert json.loads(result.stdout) == expected
