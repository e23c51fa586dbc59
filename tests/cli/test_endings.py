"""However a command ends, it is one line at most, and never a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tests.cli.client import Client, a_server, an_error, ctrl_c_as, environment
from tests.cli.test_cli import DUECOURSE
from tests.support.receiver import Receiver

EMPTY = b'{"items": [{"id": "x", "due_at": "2026-02-17T12:00:00.000Z"}]}'


def in_a_shell(command: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own command
        ["bash", "-c", f"'{DUECOURSE}' {command}"],  # noqa: S607 - whichever bash is here
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(
    "command", ["tasks", "tasks --json", "explain --policy agent boom", "--help"]
)
def test_a_disk_that_is_full_is_one_line(command: str) -> None:
    with Receiver() as server:
        server.answer(200, EMPTY)
        done = in_a_shell(f"{command} > /dev/full", DUECOURSE_URL=server.url(""))

    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "No space left" in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_an_output_that_is_closed_is_written_to_by_nobody(closed: str) -> None:
    with Receiver() as server:
        server.answer(200, EMPTY)
        done = in_a_shell(f"tasks {closed}", DUECOURSE_URL=server.url(""))

    assert (done.returncode, done.stderr) == (0, "")


def test_an_input_that_is_closed_is_empty() -> None:
    done = in_a_shell("classify --policy agent <&-")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_error_is_not_taken_for_an_answer_where_errors_are_closed() -> None:
    done = in_a_shell("tasks --limit 0 2>&-")

    assert (done.returncode, done.stdout) == (2, "")


def test_a_zone_that_cannot_be_leaves_times_as_they_are() -> None:
    with Receiver() as server:
        server.answer(200, EMPTY)
        done = in_a_shell("tasks", DUECOURSE_URL=server.url(""), TZ="ABC-99")

    assert (done.returncode, done.stderr) == (0, "")
    assert "DUE (UTC)" in done.stdout
    assert "2026-02-17T12:00:00.000Z" in done.stdout


def test_ctrl_c_while_it_still_loads_ends_it_quietly() -> None:
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
    with ctrl_c_as(signal.SIG_DFL):
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False
        )

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_an_error_of_ours_is_one_line(duecourse: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise LookupError("no\nway")

    monkeypatch.setattr("local.cli.client.run_request.print_json", broken)
    monkeypatch.setattr("local.cli.commands.tasks.print_json", broken)
    with a_server(monkeypatch) as server:
        server.answer(200, EMPTY)

        assert "LookupError: no way" in an_error(duecourse("tasks", "--json"))
        monkeypatch.setenv("DUECOURSE_DEBUG", "1")
        with pytest.raises(LookupError):
            duecourse("tasks", "--json")
