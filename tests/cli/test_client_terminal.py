"""The client as a separate process: terminals, pipes, Ctrl-C, and the modules it loads."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys

import pytest

from tests.cli.command_client import environment, serve_receiver, sigint_handled_by
from tests.cli.test_cli import COMMAND
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient


def run_on_terminal(url: str, *arguments: str, width: int = 80, **env: str) -> str:
    controller_fd, terminal_fd = pty.openpty()
    with subprocess.Popen(  # noqa: S603 - our own command
        [str(COMMAND), *arguments],
        stdout=terminal_fd,
        stderr=terminal_fd,
        env=environment(DUECOURSE_URL=url, **{"TERM": "xterm", "COLUMNS": str(width), **env}),
    ) as process:
        os.close(terminal_fd)
        output = b""
        try:
            while chunk := os.read(controller_fd, 65_536):
                output += chunk
        except OSError:  # Linux reports a closed terminal so
            pass
        os.close(controller_fd)
        assert process.wait(10) == 0
    return output.decode().replace("\r\n", "\n")


def test_colours_are_printed_only_on_capable_terminals(
    served: tuple[StackClient, str], stack: StackClient
) -> None:
    task = stack.create(**{"in": "5m"})
    stack.call("POST", f"/tasks/{task['id']}/cancel")

    assert "\x1b[2mcancelled\x1b[0m" in run_on_terminal(served[1], "tasks")
    assert "\x1b" not in run_on_terminal(served[1], "tasks", NO_COLOR="1")
    assert "\x1b" not in run_on_terminal(served[1], "tasks", TERM="dumb")


@pytest.mark.parametrize("width", [40, 60, 80, 120])
def test_a_table_fits_the_terminal(
    served: tuple[StackClient, str], stack: StackClient, width: int
) -> None:
    stack.create(description="日本語のとても長い説明" * 10, **{"in": "5m"})
    stack.create(description="short", **{"in": "5m"})

    lines = run_on_terminal(served[1], "tasks", width=width, NO_COLOR="1").splitlines()

    assert lines
    for line in lines:
        line_width = sum(2 if ord(char) > 0x2E80 else 1 for char in line)
        assert line_width <= width, line
    assert "…" in "".join(lines)
    assert any("short" in line for line in lines)


def test_a_closed_pipe_ends_the_command_quietly(
    served: tuple[StackClient, str], stack: StackClient
) -> None:
    for _ in range(3):
        stack.create(description="x" * 4_000, **{"in": "5m"})
    command = f"'{COMMAND}' tasks --json | head -c 1; echo ${{PIPESTATUS[0]}}"

    result = subprocess.run(  # noqa: S603 - our own command
        ["bash", "-c", command],  # noqa: S607 - whichever bash is here
        env=environment(DUECOURSE_URL=served[1]),
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert (result.stdout, result.stderr) == ("{0\n", "")


def test_ctrl_c_ends_the_command_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_receiver(monkeypatch) as server, sigint_handled_by(signal.SIG_DFL):
        server.never_reply()
        with subprocess.Popen(  # noqa: S603 - our own command
            [str(COMMAND), "tasks"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            while not server.requests:
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=10) == (b"", b"")

    assert process.returncode == 130


def test_a_client_command_does_not_import_the_stack() -> None:
    """Importing the stack takes about a second."""
    heavy = ["boto3", "botocore", "moto", "samtranslator", "pynamodb", "time_machine", "shtab"]
    code = (
        "import sys\n"
        "from local.cli.main import main\n"
        "try:\n    main(['tasks'])\nexcept SystemExit:\n    pass\n"
        f"sys.exit(', '.join(name for name in {heavy} if name in sys.modules) or None)"
    )
    with Receiver() as server:
        server.answer(200, b'{"items": [{"id": "x"}]}')
        result = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", code],
            env=environment(DUECOURSE_URL=server.url("")),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    assert (result.returncode, result.stderr) == (0, "")
    assert "ID" in result.stdout
