"""Run MiniStack, an emulator of AWS that runs the functions itself and enforces their roles."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import boto3

from local.runtime.template import REGION, ROOT
from tests.deploy.polling import wait_until

ACCOUNT = "000000000000"
PYTHON = ROOT / ".venv-emulator" / "bin" / "python"
_ROOT = ("test", "test")  # the emulator's own name for it
_START_SECONDS = 60
_STOP_SECONDS = 10
_LOG_LINES = 40
# Ends the process group with the emulator, and if the tests are killed, which closes the pipe.
_RUN_UNTIL_INPUT_ENDS = '("$0" -m ministack; kill 0) & read -r _; kill 0'
_LAMBDA_LINES = ("START RequestId", "END RequestId", "REPORT RequestId")


@dataclass(frozen=True)
class Emulator:
    """A running emulator. Its root user has the credentials of `environment`."""

    endpoint: str
    log: Path

    @property
    def environment(self) -> Mapping[str, str]:
        """Return the variables with which the SDKs and sam use the emulator, and never AWS."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": _ROOT[0],
            "AWS_SECRET_ACCESS_KEY": _ROOT[1],
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true",
            "SAM_CLI_TELEMETRY": "0",
        }

    def client(self, service: str, credentials: tuple[str, str] = _ROOT) -> Any:
        """Return a client of the root user, or of the owner of an access key and its secret."""
        session = boto3.Session(*credentials, region_name=REGION)
        return session.client(service, endpoint_url=self.endpoint)

    def read_function_logs(self) -> str:
        """Return what the functions logged, without the lines that Lambda adds."""
        logs, lines = self.client("logs"), []
        for group in logs.describe_log_groups()["logGroups"]:
            name = group["logGroupName"]
            for stream in logs.describe_log_streams(logGroupName=name)["logStreams"]:
                found = logs.get_log_events(
                    logGroupName=name, logStreamName=stream["logStreamName"]
                )
                lines += [event["message"] for event in found["events"]]
        return "\n".join(line for line in lines if not line.startswith(_LAMBDA_LINES))


@contextmanager
def run_emulator(folder: Path) -> Iterator[Emulator]:
    """Run the emulator on a free port of 127.0.0.1. All its files are below `folder`."""
    port = _find_free_port()
    emulator = Emulator(f"http://127.0.0.1:{port}", folder / "emulator.log")
    with emulator.log.open("w") as log:
        process = subprocess.Popen(  # noqa: S603 - installed from requirements-emulator.txt
            ["/bin/sh", "-c", _RUN_UNTIL_INPUT_ENDS, PYTHON],
            cwd=folder,
            env=_settings(folder, port),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_until(
            lambda: process.poll() is not None or _answers(emulator.endpoint),
            seconds=_START_SECONDS,
            message=lambda: f"the emulator did not start\n{tail(emulator.log)}",
        )
        assert process.poll() is None, f"the emulator ended\n{tail(emulator.log)}"
        yield emulator
    finally:
        _stop(process)


def tail(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-_LOG_LINES:])


def _settings(folder: Path, port: int) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],  # noqa: TID251 - where Python is
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "AUTH": "true",
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "MINISTACK_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def _find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def _answers(endpoint: str) -> bool:
    try:
        with urlopen(f"{endpoint}/_ministack/health", timeout=2) as answer:  # noqa: S310 - loopback
            return bool(answer.status == 200)
    except (URLError, OSError):
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop the emulator and the functions it runs, which are processes of its session."""
    assert process.stdin is not None
    process.stdin.close()
    for sign in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            return
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            continue
