"""Runs the client commands in this process, against a stack or a receiver."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from local.cli.main import main
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

TOKEN = "a-token-that-nobody-must-see"
DOWN = {"error": {"message": "connect ECONNREFUSED 10.0.0.5:5432", "code": "ECONNREFUSED"}}


@dataclass(frozen=True)
class CommandResult:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class CommandClient:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> CommandResult:
        with pytest.raises(SystemExit) as exit_info:
            main(arguments)
        captured = self._capsys.readouterr()
        return CommandResult(int(str(exit_info.value.code)), captured.out, captured.err)


@contextmanager
def serve_receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with Receiver() as receiver:
        monkeypatch.setenv("DUECOURSE_URL", receiver.url(""))
        monkeypatch.setenv("DUECOURSE_TOKEN", TOKEN)
        yield receiver


def environment(**changes: str) -> dict[str, str]:
    """Return this process's environment without NO_COLOR, with the changes."""
    inherited = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}  # noqa: TID251
    return {**inherited, **changes}


@contextmanager
def sigint_handled_by(handler: signal.Handlers) -> Iterator[None]:
    """Commands started inside inherit this SIGINT handler, not that of the test process.

    A process under nohup or in the background of a script begins with SIGINT ignored.
    """
    is_ignored = handler is signal.SIG_IGN
    # A Python handler becomes the default one in a new program.
    previous = signal.signal(signal.SIGINT, handler if is_ignored else signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def check_error(result: CommandResult, *, code: int = 1) -> str:
    """Check that the command failed with one line on standard error, and return that line."""
    assert (result.code, result.out, result.err.count("\n")) == (code, "", 1), result
    assert result.err.startswith("duecourse: ")
    assert TOKEN not in result.err
    return result.err


def create_failed_action(stack: StackClient) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": [DOWN]}
    task = stack.create(type="action", description="fix it", payload=payload, **{"in": "1s"})
    stack.advance("2s")
    return stack.task(task["id"])
