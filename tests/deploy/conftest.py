"""One emulator and one stack for all tests, deployed as README says."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator

import pytest

from local.runtime.template import REGION
from tests.deploy.deployment import Deployment, read_outputs, run
from tests.deploy.emulator import ACCOUNT, Emulator, run_emulator, tail
from tests.deploy.polling import wait_until
from tests.deploy.readme import deploy_commands, fill_in, parse_export

PROBE = "duecourse-probe"
PROBE_ARN = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{PROBE}"
PROBE_CODE = """
def handler(event, context):
    return {"attempt": event["attempt"]}
"""
_LOG_CHARACTERS = 6_000
_TOKEN_SECONDS = 90
_TOKEN = re.compile(r"^Token .*\n\n  (\S+)$", re.MULTILINE)


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulator]:
    with run_emulator(tmp_path_factory.mktemp("emulator")) as running:
        yield running


@pytest.fixture(scope="session")
def readme_output(emulator: Emulator) -> str:
    """Run the commands of README's section, and return what they print.

    The stack has one parameter more than README's: without it, tasks can call no function. Each
    command has a shell of its own, so what is exported is given to the later ones.
    """
    printed, exported = "", dict[str, str]()
    _create_probe(emulator)
    parameters = {"LambdaFunctions": PROBE_ARN}
    for command in deploy_commands():
        outputs = read_outputs(emulator) if printed else {}
        filled = fill_in(command, outputs, _find_token(printed))
        if (export := parse_export(filled)) is not None:
            exported |= [export]
            continue
        if exported:
            _wait_for_token(_find_deployment(emulator, printed))
        printed += run(filled, emulator, confirm="y\n", parameters=parameters, variables=exported)
    return printed


@pytest.fixture(scope="session")
def deployment(emulator: Emulator, readme_output: str) -> Deployment:
    deployed = _find_deployment(emulator, readme_output)
    _wait_for_token(deployed)
    return deployed


def _find_deployment(emulator: Emulator, printed: str) -> Deployment:
    token = _find_token(printed)
    assert token, f"no token was printed:\n{printed}"
    return Deployment(emulator, read_outputs(emulator), token)


def _find_token(printed: str) -> str | None:
    """Return the token that was printed last."""
    found = _TOKEN.findall(printed)
    return found[-1] if found else None


def _wait_for_token(deployed: Deployment) -> None:
    """Wait until the token is accepted.

    The authorizer may have read the tokens just before this one was made, and API Gateway
    remembers an answer, too.
    """
    wait_until(
        lambda: deployed.call("GET", "/tasks")[0] == 200,
        seconds=_TOKEN_SECONDS,
        message=lambda: "the new token is not accepted",
    )


@pytest.fixture
def _show_logs(request: pytest.FixtureRequest, emulator: Emulator) -> Iterator[None]:
    """Print what the emulator and the functions logged if a test fails."""
    failures = request.session.testsfailed
    yield
    if request.session.testsfailed > failures:
        logged = emulator.read_function_logs()[-_LOG_CHARACTERS:]
        print(f"--- the emulator\n{tail(emulator.log)}\n--- the functions\n{logged}")  # noqa: T201


def _create_probe(emulator: Emulator) -> None:
    emulator.client("iam").create_role(
        RoleName=PROBE,
        AssumeRolePolicyDocument='{"Version": "2012-10-17", "Statement": [{"Effect": "Allow",'
        ' "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}]}',
    )
    emulator.client("lambda").create_function(
        FunctionName=PROBE,
        Runtime="python3.11",
        Handler="probe.handler",
        Role=f"arn:aws:iam::{ACCOUNT}:role/{PROBE}",
        Code={"ZipFile": _to_zip("probe.py", PROBE_CODE)},
    )


def _to_zip(name: str, text: str) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as writer:
        writer.writestr(name, text)
    return archive.getvalue()
