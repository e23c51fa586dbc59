"""The client in a process of its own: terminals, pipes, Ctrl-C, and what it loads."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

import pytest

from tests.cli.client import a_server, ctrl_c_as, environment
from tests.cli.test_cli import DUECOURSE
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient


def on_a_terminal(url: str, *arguments: str, width: int = 80, **env: str) -> str:
    ours, theirs = pty.openpty()
    with subprocess.Popen(  # noqa: S603 - our own command
        [str(DUECOURSE), *arguments],
        stdout=theirs,
        stderr=theirs,
        env=environment(DUECOURSE_URL=url, **{"TERM": "xterm", "COLUMNS": str(width), **env}),
    ) as process:
        os.close(theirs)
        said = b""
        try:
            while chunk := os.read(ours, 65_536):
                said += chunk
        except OSError:  # how Linux says that the other side has closed
            pass
        os.close(ours)
        assert process.wait(10) == 0
    return said.decode().replace("\r\n", "\n")


def test_colours_are_for_terminals_only(
    served: tuple[StackClient, str], stack: StackClient
) -> None:
    task = stack.create(**{"in": "5m"})
    stack.call("POST", f"/tasks/{task['id']}/cancel")

    assert "\x1b[2mcancelled\x1b[0m" in on_a_terminal(served[1], "tasks")
    assert "\x1b" not in on_a_terminal(served[1], "tasks", NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(served[1], "tasks", TERM="dumb")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_table_fits_the_terminal(
    served: tuple[StackClient, str], stack: StackClient, width: int
) -> None:
    stack.create(description="日本語のとても長い説明" * 10, **{"in": "5m"})
    stack.create(description="short", **{"in": "5m"})

    lines = on_a_terminal(served[1], "tasks", width=width, NO_COLOR="1").splitlines()

    assert lines
    for line in lines:
        wide = sum(2 if ord(char) > 0x2E80 else 1 for char in line)
        assert wide <= width, line
    assert "…" in "".join(lines)
    assert any("short" in line for line in lines)


def test_a_reader_that_goes_away_ends_it_quietly(
    served: tuple[StackClient, str], stack: StackClient
) -> None:
    for _ in range(3):
        stack.create(description="x" * 4_000, **{"in": "5m"})
    command = f"'{DUECOURSE}' tasks --json | head -c 1; echo ${{PIPESTATUS[0]}}"

    done = subprocess.run(  # noqa: S603 - our own command
        ["bash", "-c", command],  # noqa: S607 - whichever bash is here
        env=environment(DUECOURSE_URL=served[1]),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert (done.stdout, done.stderr) == ("{0\n", "")


def test_ctrl_c_ends_it_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    with a_server(monkeypatch) as server, ctrl_c_as(signal.SIG_DFL):
        server.hold()
        with subprocess.Popen(  # noqa: S603 - our own command
            [str(DUECOURSE), "tasks"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            while not server.requests:
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=10) == (b"", b"")

    assert process.returncode == 130


def test_a_command_of_the_client_loads_nothing_of_the_stack() -> None:
    """It must not wait for a second until it asks."""
    heavy = ["boto3", "botocore", "moto", "samtranslator", "pynamodb", "time_machine", "shtab"]
    code = (
        "import sys\n"
        "from local.cli.main import main\n"
        "try:\n    main(['tasks'])\nexcept SystemExit:\n    pass\n"
        f"sys.exit(', '.join(name for name in {heavy} if name in sys.modules) or None)"
    )
    with Receiver() as server:
        server.answer(200, b'{"items": [{"id": "x"}]}')
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", code],
            env=environment(DUECOURSE_URL=server.url("")),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    assert (done.returncode, done.stderr) == (0, "")
    assert "ID" in done.stdout
