"""The example of docs/handlers.md, taken from the page and crashed at every point."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from duecourse.domain.errors import IndeterminateError, InvalidFieldsError
from duecourse.domain.tasks.handler import Handler, RunContext

from local.runtime.template import ROOT
from local.testing.crash_report import CrashReport
from local.testing.handler_kit import crash_everywhere
from tests.support.builders.moments import NOW
from tests.support.builders.tasks import a_task

PAGE = (ROOT / "docs" / "handlers.md").read_text()
EXAMPLE, REGISTRATION, _ = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


class FakeBridge(HTTPServer):
    """A server that ignores idempotency keys and stores the last command of each path."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _BridgeHandler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.known: dict[str, Any] = {}
        self.commands = 0


class _BridgeHandler(BaseHTTPRequestHandler):
    server: FakeBridge

    def do_PUT(self) -> None:
        self.server.commands += 1
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.known[self.path] = json.loads(body)
        self.do_GET()

    def do_GET(self) -> None:
        self.send_response(200 if self.path in self.server.known else 404)
        self.end_headers()
        self.wfile.write(json.dumps(self.server.known.get(self.path)).encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def bridge() -> Iterator[FakeBridge]:
    with FakeBridge() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _load_example(url: str) -> Handler:
    code: dict[str, Any] = {"__name__": "lights"}
    exec(EXAMPLE, code)  # noqa: S102 - the project's own page
    handler: Handler = code["Lights"](url)
    return handler


@pytest.fixture(scope="module")
def report(bridge: FakeBridge) -> CrashReport:
    return crash_everywhere(
        lambda: _load_example(bridge.url),
        payload={"lamp": "hall"},
        count_effects=lambda: bridge.commands,
    )


def test_no_crash_loses_or_repeats_the_effect(report: CrashReport) -> None:
    assert report.is_sound, report
    assert (report.duplicated, report.indeterminate) == ([], [])


def test_a_crash_is_planted_before_and_after_each_call(report: CrashReport) -> None:
    descriptions = [
        str(case.point) for case in report.cases if case.point and not case.point.next_crash
    ]
    calls = [text.removeprefix("before ") for text in descriptions[::2]]
    assert [text.removeprefix("after ") for text in descriptions[1::2]] == calls
    phases = [call for call in calls if call.startswith("handler.")]
    assert phases == ["handler.mutate"]
    assert {"dynamodb.GetItem", "dynamodb.PutItem", "dynamodb.PutItem 2"} <= set(calls)


def test_the_recovering_run_is_crashed_as_well(report: CrashReport) -> None:
    second_crashes = [
        case.point.next_crash for case in report.cases if case.point and case.point.next_crash
    ]
    descriptions = {f"{crash.when} {crash.call}" for crash in second_crashes}
    assert {"before handler.reconcile", "after handler.reconcile"} < descriptions
    assert {"before dynamodb.PutItem", "after dynamodb.PutItem"} < descriptions
    assert {"before handler.mutate", "after handler.mutate"} & descriptions == set()


def test_a_payload_without_a_lamp_is_refused(bridge: FakeBridge) -> None:
    with pytest.raises(InvalidFieldsError, match="lamp: is required"):
        crash_everywhere(lambda: _load_example(bridge.url), payload={})


def test_the_example_is_registered_by_its_own_name() -> None:
    assert '"lights": Lights(' in REGISTRATION


def test_an_unreachable_bridge_is_indeterminate() -> None:
    task = a_task(payload={"lamp": "hall"})
    context = RunContext(task=task, idempotency_key="k", attempt=1, run_id="r", deadline=NOW)
    with pytest.raises(IndeterminateError):
        _load_example("http://127.0.0.1:9").mutate(context)
