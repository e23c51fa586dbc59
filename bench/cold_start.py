"""Measure the CPU time of a cold start: imports, and the clients that the first event builds."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from local.runtime.template import ROOT

RUNS = 9
REFERENCE = "boto3 with two clients"
# PynamoDB builds its client for the first call.
_DYNAMODB = (
    "from duecourse.adapters.aws.dynamodb.models import TaskItem;"
    " TaskItem._get_connection().connection.client"
)
# What Lambda's runtime does before, and what the first event does, until it can call AWS.
STATEMENTS = {
    REFERENCE: "import boto3; boto3.client('dynamodb'); boto3.client('sqs')",
    "scanner": (
        "import scanner.app; from duecourse.app import queues, stores;"
        " stores.task_store(); stores.scan_cursors(); queues.work_queue();"
        f" {_DYNAMODB}"
    ),
    # A reminder's first event. Other tasks load their handler besides.
    "worker": (
        f"import worker.app; worker.app.services.worker_deps().handlers['reminder']; {_DYNAMODB}"
    ),
}
_MEASURE = "import time; started = time.process_time(); {}; print(time.process_time() - started)"


def measure_cold_starts(environment: Mapping[str, str]) -> dict[str, float]:
    """Return seconds of CPU by function, the least of several runs.

    The code is built as for Lambda, with bytecode, into a folder of its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        _build("layers/core", "build-CoreLayer", Path(folder) / "core")
        _build("functions", "build-WorkerFunction", Path(folder) / "functions")
        path = f"{folder}/functions:{folder}/core/python"
        env = {**environment, "PYTHONPATH": path, "HANDLERS_MODULE": "worker.handlers"}
        runs = [_run_all(env, folder) for _ in range(RUNS)]
    return {name: min(run[name] for run in runs) for name in STATEMENTS}


def _build(source: str, target: str, into: Path) -> None:
    # The bytecode must be of the interpreter that reads it.
    options = [f"ARTIFACTS_DIR={into}", f"PYTHON={sys.executable}"]
    subprocess.run(["make", "-s", "-C", source, target, *options], cwd=ROOT, check=True)  # noqa: S603, S607


def _run_all(environment: Mapping[str, str], folder: str) -> dict[str, float]:
    return {name: _run(code, environment, folder) for name, code in STATEMENTS.items()}


def _run(code: str, environment: Mapping[str, str], folder: str) -> float:
    result = subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", _MEASURE.format(code)],
        env=dict(environment),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(result.stdout.split()[-1])
