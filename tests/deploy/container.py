"""Invoke built functions as `sam local invoke -n events/env.json` does, without a container engine.

The folders and the environment are those that the SAM CLI would give to the container. A process
that sees nothing else of this machine's packages takes the place of the container.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from local.runtime.template import ROOT
from tests.deploy.sam import BUILD, SAM_FOLDER

ENV_FILE = ROOT / "events" / "env.json"
CONTAINER_ENDPOINT = "http://host.docker.internal:4566"
_SECONDS = 60
_REPLY = "--- reply "
_MACHINES = {"aarch64": "arm64", "arm64": "arm64"}
_RUN = """
import importlib, json, os, sys
timeout = os.environ["AWS_LAMBDA_FUNCTION_TIMEOUT"]
folder, *layers = json.loads(sys.argv[1])
sys.path[:0] = [folder, *(layer + "/python" for layer in layers)]
module, _, name = sys.argv[2].rpartition(".")
context = type("Context", (), {
    "function_name": sys.argv[3], "memory_limit_in_mb": 512, "aws_request_id": "local",
    "invoked_function_arn": "arn:aws:lambda:us-east-1:012345678912:function:" + sys.argv[3],
    "get_remaining_time_in_millis": lambda self: int(timeout) * 1000,
})()
reply = getattr(importlib.import_module(module), name)(json.load(sys.stdin), context)
print("\\n--- reply " + json.dumps(reply))
"""


@dataclass(frozen=True)
class Invocation:
    reply: Any
    logs: str


def architecture() -> str:
    """Return the template's name of this machine's processor."""
    return _MACHINES.get(platform.machine(), "x86_64")


@cache
def container_settings(processor: str) -> Mapping[str, Any]:
    """Return what the SAM CLI gives to each function's container, by the function's name.

    `processor` is the value of the parameter Architecture.
    """
    script = Path(__file__).with_name("container_settings.py")
    done = subprocess.run(  # noqa: S603 - our own script
        [SAM_FOLDER / "python", script, BUILD / "template.yaml", ENV_FILE, processor],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def invocation(function: str, *, endpoint: str) -> tuple[list[str], dict[str, str]]:
    """Return the command and the environment that run a built function with an event as input.

    `endpoint` is where the container would reach the local stack.
    """
    settings = container_settings(architecture())[function]
    folders = [str(ROOT / folder) for folder in settings["folders"]]
    environment = {
        name: str(value).replace(CONTAINER_ENDPOINT, endpoint)
        for name, value in settings["environment"].items()
    }
    arguments = [json.dumps(folders), settings["handler"], function]
    command = [sys.executable, "-I", "-S", "-B", "-c", _RUN, *arguments]
    return command, {**environment, "PATH": "/usr/bin:/bin"}


def invoke(function: str, event: Any, *, endpoint: str) -> Invocation:
    command, environment = invocation(function, endpoint=endpoint)
    done = subprocess.run(  # noqa: S603 - the built code
        command,
        env=environment,
        input=json.dumps(event),
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{function} failed:\n{done.stdout}\n{done.stderr}"
    logs, _, reply = done.stdout.rpartition(_REPLY)
    return Invocation(json.loads(reply), logs)
