"""However a command ends, it prints at most one error line and never a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.cli.command_client import (
    CommandClient,
    check_error,
    environment,
    serve_receiver,
    sigint_handled_by,
)
from tests.cli.test_cli import COMMAND
from tests.support.receiver import Receiver

TASK_LIST = b'{"items": [{"id": "x", "due_at": "2026-02-17T12:00:00.000Z"}]}'


def run_in_shell(command: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        ["bash", "-c", f"'{COMMAND}' {command}"],  # noqa: S607 - whichever bash is here
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(
    "command", ["tasks", "tasks --json", "explain --policy agent boom", "--help"]
)
def test_a_full_disk_is_one_line(command: str) -> None:
    with Receiver() as server:
        server.answer(200, TASK_LIST)
        result = run_in_shell(f"{command} > /dev/full", DUECOURSE_URL=server.url(""))

    assert (result.returncode, result.stderr.count("\n")) == (1, 1), result.stderr
    assert "No space left" in result.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_output_is_ignored(closed: str) -> None:
    with Receiver() as server:
        server.answer(200, TASK_LIST)
        result = run_in_shell(f"tasks {closed}", DUECOURSE_URL=server.url(""))

    assert (result.returncode, result.stderr) == (0, "")


def test_a_closed_input_reads_as_empty() -> None:
    result = run_in_shell("classify --policy agent <&-")

    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_with_stderr_closed_an_error_is_not_written_to_stdout() -> None:
    result = run_in_shell("tasks --limit 0 2>&-")

    assert (result.returncode, result.stdout) == (2, "")


def test_an_invalid_time_zone_prints_times_in_utc() -> None:
    with Receiver() as server:
        server.answer(200, TASK_LIST)
        result = run_in_shell("tasks", DUECOURSE_URL=server.url(""), TZ="ABC-99")

    assert (result.returncode, result.stderr) == (0, "")
    assert "DUE (UTC)" in result.stdout
    assert "2026-02-17T12:00:00.000Z" in result.stdout


def test_ctrl_c_during_import_ends_the_command_quietly() -> None:
    code = (
        "import signal, sys\n"
        "class Early:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'local.cli.commands':\n"
        "            signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Early())\n"
        "from local.cli.main import main\n"
        "main(['tasks'])\n"
    )
    with sigint_handled_by(signal.SIG_DFL):
        result = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
        )

    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


def test_an_unexpected_exception_is_one_line(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def raise_error(*_: object) -> None:
        raise LookupError("no\nway")

    monkeypatch.setattr("local.cli.client.run_request.print_json", raise_error)
    monkeypatch.setattr("local.cli.commands.tasks.print_json", raise_error)
    with serve_receiver(monkeypatch) as server:
        server.answer(200, TASK_LIST)

        assert "LookupError: no way" in check_error(duecourse("tasks", "--json"))
        monkeypatch.setenv("DUECOURSE_DEBUG", "1")
        with pytest.raises(LookupError):
            duecourse("tasks", "--json")
