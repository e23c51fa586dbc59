"""The real command in a process of its own, and a real Chromium to look at it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.request import Request, urlopen

from playwright.sync_api import Browser, sync_playwright

from local.runtime.template import ROOT

TOKEN = "local"
# It talks to nobody but the pages it is shown, and leaves nothing behind.
_ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")


@dataclass(frozen=True)
class Running:
    """A local stack that listens, and what a program outside can ask of it."""

    url: str

    def call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        raw = None if body is None else json.dumps(body).encode()
        request = Request(self.url + path, raw, headers, method=method)  # noqa: S310 - loopback
        with urlopen(request, timeout=60) as answer:  # noqa: S310 - loopback
            return json.loads(answer.read() or b"null")

    def create(self, **fields: Any) -> dict[str, Any]:
        made: dict[str, Any] = self.call(
            "POST", "/tasks", {"channel": "console", "sender_id": "you", **fields}
        )
        return made

    def advance(self, by: str) -> None:
        self.call("POST", "/_local/clock", {"advance": by})

    def say(self, text: str) -> None:
        body = {"sender_id": "you", "reply_target": "you", "text": text}
        self.call("POST", "/webhooks/console", body)

    def reset(self) -> None:
        self.call("POST", "/_local/reset")


@contextmanager
def running(clock: str = "manual") -> Iterator[Running]:
    command = [f"{sys.prefix}/bin/duecourse", "up", "--port", "0", "--clock", clock]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            yield Running(_address(process))
        finally:
            process.terminate()
            process.communicate(timeout=30)


def _address(process: subprocess.Popen[str]) -> str:
    said = []
    for line in process.stdout or ():
        said.append(line)
        if found := _ADDRESS.search(line):
            return found[0]
    raise AssertionError(f"it did not start: {''.join(said)}")


@contextmanager
def chromium() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM", "/usr/bin/chromium")  # noqa: TID251 - where the tests' browser is
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        yield browser
        browser.close()
