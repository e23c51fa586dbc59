"""The client as an operator meets it, and the servers that it meets."""

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
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Client:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Done:
        with pytest.raises(SystemExit) as left:
            main(arguments)
        said = self._capsys.readouterr()
        return Done(int(str(left.value.code)), said.out, said.err)


@contextmanager
def a_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with Receiver() as receiver:
        monkeypatch.setenv("DUECOURSE_URL", receiver.url(""))
        monkeypatch.setenv("DUECOURSE_TOKEN", TOKEN)
        yield receiver


def environment(**changes: str) -> dict[str, str]:
    """Of this process, but as plain as can be."""
    kept = {name: text for name, text in os.environ.items() if name != "NO_COLOR"}  # noqa: TID251
    return {**kept, **changes}


@contextmanager
def ctrl_c_as(handler: signal.Handlers) -> Iterator[None]:
    """Commands started inside inherit this, whatever the tests themselves have inherited.

    A process under nohup or in the background of a script begins with SIGINT ignored.
    """
    is_ignored = handler is signal.SIG_IGN
    # A handler of ours becomes the default one in a new program.
    ours = signal.signal(signal.SIGINT, handler if is_ignored else signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, ours)


def an_error(done: Done, *, code: int = 1) -> str:
    """The one line that it ended with."""
    assert (done.code, done.out, done.err.count("\n")) == (code, "", 1), done
    assert done.err.startswith("duecourse: ")
    assert TOKEN not in done.err
    return done.err


def failed_action(stack: StackClient) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": [DOWN]}
    task = stack.create(type="action", description="fix it", payload=payload, **{"in": "1s"})
    stack.advance("2s")
    return stack.task(task["id"])
