"""The `duecourse` command as a person meets it: in a process of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DUECOURSE = Path(sys.executable).with_name("duecourse")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(DUECOURSE), *arguments]
    return subprocess.run(  # noqa: S603 - our own command
        command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("function", ["ScannerFunction", "scanner"])
def test_invoke_prints_the_reply_as_json_and_nothing_else(function: str) -> None:
    done = run("invoke", function, "-e", "events/scanner_tick.json")

    assert (done.returncode, json.loads(done.stdout)) == (0, {"dispatched": 0, "is_complete": True})


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ([], "COMMAND"),
        (["fly"], "fly"),
        (["up", "--clock", "sundial"], "--clock"),
        (["up", "--port", "many"], "--port"),
        (["invoke", "scanner"], "--event"),
        (["invoke", "scanner", "-e", "nowhere.json"], "nowhere.json"),
        (["invoke", "scanner", "-e", "README.md"], "README.md"),
        (["invoke", "nobody", "-e", "events/scanner_tick.json"], "nobody"),
    ],
)
def test_bad_usage_is_one_line_that_names_what_is_wrong(arguments: list[str], named: str) -> None:
    done = run(*arguments)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert named in done.stderr


def test_a_function_that_fails_is_one_line_and_exit_code_one(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text("{}")

    done = run("invoke", "worker", "-e", str(event))

    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)


def test_help_lists_the_commands() -> None:
    assert {"up", "invoke"} <= set(re.findall(r"^    (\w+)", run("--help").stdout, re.MULTILINE))


@pytest.fixture
def up() -> Iterator[subprocess.Popen[str]]:
    command = [str(DUECOURSE), "up", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        yield process
        process.kill()


def url_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    found = re.search(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
    assert found
    return found[0]


def test_up_answers_and_ctrl_c_stops_it_cleanly(up: subprocess.Popen[str]) -> None:
    with urllib.request.urlopen(f"{url_of(up)}/health", timeout=10) as reply:  # noqa: S310
        assert reply.status == 200

    up.send_signal(signal.SIGINT)

    assert up.wait(timeout=10) == 0


def test_a_port_in_use_is_said_in_one_line(up: subprocess.Popen[str]) -> None:
    port = url_of(up).rpartition(":")[2]

    done = run("up", "--port", port)

    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert f"--port {port}" in done.stderr
