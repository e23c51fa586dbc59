"""The example of docs/handlers.md is taken from the page and crashed at every point."""

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
EXAMPLE, REGISTERED, _ = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


class Bridge(HTTPServer):
    """Carries out every command it gets, whatever its key, and remembers the last of each."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Answers)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.known: dict[str, Any] = {}
        self.commands = 0


class _Answers(BaseHTTPRequestHandler):
    server: Bridge

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
def bridge() -> Iterator[Bridge]:
    with Bridge() as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _lights(url: str) -> Handler:
    code: dict[str, Any] = {"__name__": "lights"}
    exec(EXAMPLE, code)  # noqa: S102 - our own page
    made: Handler = code["Lights"](url)
    return made


@pytest.fixture(scope="module")
def report(bridge: Bridge) -> CrashReport:
    return crash_everywhere(
        lambda: _lights(bridge.url), payload={"lamp": "hall"}, count_effects=lambda: bridge.commands
    )


def test_no_crash_loses_or_doubles_the_effect_of_the_example(report: CrashReport) -> None:
    assert report.is_sound, report
    assert (report.duplicated, report.indeterminate) == ([], [])


def test_every_crash_was_tried_before_and_after(report: CrashReport) -> None:
    told = [str(one.point) for one in report.cases if one.point and not one.point.next_crash]
    calls = [text.removeprefix("before ") for text in told[::2]]
    assert [text.removeprefix("after ") for text in told[1::2]] == calls
    phases = [call for call in calls if call.startswith("handler.")]
    assert phases == ["handler.mutate"]
    assert {"dynamodb.GetItem", "dynamodb.PutItem", "dynamodb.PutItem 2"} <= set(calls)


def test_the_run_that_takes_over_is_crashed_at_every_call_too(report: CrashReport) -> None:
    seconds = [one.point.next_crash for one in report.cases if one.point and one.point.next_crash]
    told = {f"{then.when} {then.call}" for then in seconds}
    assert {"before handler.reconcile", "after handler.reconcile"} < told
    assert {"before dynamodb.PutItem", "after dynamodb.PutItem"} < told
    assert {"before handler.mutate", "after handler.mutate"} & told == set()


def test_a_payload_without_a_lamp_is_refused(bridge: Bridge) -> None:
    with pytest.raises(InvalidFieldsError, match="lamp: is required"):
        crash_everywhere(lambda: _lights(bridge.url), payload={})


def test_the_example_is_registered_by_its_own_name() -> None:
    assert '"lights": Lights(' in REGISTERED


def test_a_bridge_that_cannot_be_reached_leaves_doubt() -> None:
    task = a_task(payload={"lamp": "hall"})
    work = RunContext(task=task, idempotency_key="k", attempt=1, run_id="r", deadline=NOW)
    with pytest.raises(IndeterminateError):
        _lights("http://127.0.0.1:9").mutate(work)
