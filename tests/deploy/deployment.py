"""Deploy the built stack to the emulator, and use what was deployed."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from local.runtime.template import ROOT
from tests.deploy.emulator import Emulator
from tests.deploy.sam import make_sam_folder

SAM_VENV = ".aws-sam/emulated/venv"  # relative to the Makefile
STACK_NAME = "duecourse"  # of the default environment in samconfig.toml
NONE: Mapping[str, str] = MappingProxyType({})
_COMMAND_SECONDS = 300
_REQUEST_SECONDS = 30  # the first one starts the functions


@dataclass(frozen=True)
class Deployment:
    """A deployed stack. `token` has the scope admin."""

    emulator: Emulator
    outputs: Mapping[str, str]
    token: str = field(repr=False)

    @property
    def url(self) -> str:
        return self.outputs["ApiUrl"]

    def call(
        self, method: str, path: str, body: Any = None, *, token: str | None = None
    ) -> tuple[int, Any]:
        """Return the status and the JSON of a response."""
        headers = {"content-type": "application/json"}
        headers["authorization"] = f"Bearer {self.token if token is None else token}"
        raw = None if body is None else json.dumps(body).encode()
        request = Request(self.url + path, raw, headers, method=method)  # noqa: S310 - loopback
        try:
            with urlopen(request, timeout=_REQUEST_SECONDS) as answer:  # noqa: S310 - loopback
                return answer.status, json.loads(answer.read())
        except HTTPError as error:
            return error.code, json.loads(error.read() or b"null")


def run(
    command: str,
    emulator: Emulator,
    *,
    confirm: str = "",
    parameters: Mapping[str, str] = NONE,
    variables: Mapping[str, str] = NONE,
) -> str:
    """Run a shell command against the emulator and return its output. Fails if it fails.

    A `make` in it takes `sam` from the folder of `make_sam_folder`. `parameters` are those of the
    stack that it deploys, `variables` are added to the environment.
    """
    make_sam_folder(ROOT / SAM_VENV)
    environment = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251 - for a subprocess
        if not name.startswith(("AWS_", "MAKE", "MFLAGS", "DUECOURSE_"))
    }
    done = subprocess.run(  # noqa: S602 - commands of this repository
        command,
        shell=True,
        cwd=ROOT,
        env={
            **environment,
            **emulator.environment,
            **variables,
            "MAKEFLAGS": f" -- SAM_VENV={SAM_VENV}",
            "SAM_PARAMETERS": " ".join(f"{name}={value}" for name, value in parameters.items()),
        },
        input=confirm,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_COMMAND_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def read_outputs(emulator: Emulator) -> dict[str, str]:
    [stack] = emulator.client("cloudformation").describe_stacks(StackName=STACK_NAME)["Stacks"]
    assert stack["StackStatus"] in ("CREATE_COMPLETE", "UPDATE_COMPLETE"), stack["StackStatus"]
    return {one["OutputKey"]: one["OutputValue"] for one in stack["Outputs"]}
