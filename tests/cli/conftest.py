"""The command client, and one stack on the loopback per module, reset for each test."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

import pytest

from local.runtime.api_gateway import Gateway
from local.runtime.server import Server
from tests.cli.command_client import CommandClient
from tests.support.stack_client import StackClient, running_stack


@pytest.fixture
def duecourse(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandClient:
    for name in ("DUECOURSE_URL", "DUECOURSE_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TZ", "UTC")
    return CommandClient(capsys)


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[StackClient, str]]:
    with running_stack() as client:
        server = Server(Gateway(client.stack), 0)
        thread = Thread(target=server.serve_forever, args=[0.01], daemon=True)
        thread.start()
        yield client, f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        server.server_close()
        thread.join(5)


@pytest.fixture
def stack(served: tuple[StackClient, str], monkeypatch: pytest.MonkeyPatch) -> StackClient:
    client, url = served
    monkeypatch.setenv("DUECOURSE_URL", url)
    assert client.call("POST", "/_local/reset").status == 200
    return client
