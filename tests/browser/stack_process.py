"""Starts the local stack as a separate process, and a real Chromium."""

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
# No background requests, and no stored profile.
_BROWSER_ARGUMENTS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
_URL = re.compile(r"http://127\.0\.0\.1:\d+")


@dataclass(frozen=True)
class StackProcess:
    """A running local stack and a client of its HTTP API."""

    url: str

    def call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"authorization": f"Bearer {TOKEN}", "content-type": "application/json"}
        raw = None if body is None else json.dumps(body).encode()
        request = Request(self.url + path, raw, headers, method=method)  # noqa: S310 - loopback
        with urlopen(request, timeout=60) as answer:  # noqa: S310 - loopback
            return json.loads(answer.read() or b"null")

    def create(self, **fields: Any) -> dict[str, Any]:
        task: dict[str, Any] = self.call(
            "POST", "/tasks", {"channel": "console", "sender_id": "you", **fields}
        )
        return task

    def advance(self, by: str) -> None:
        self.call("POST", "/_local/clock", {"advance": by})

    def say(self, text: str) -> None:
        body = {"sender_id": "you", "reply_target": "you", "text": text}
        self.call("POST", "/webhooks/console", body)

    def reset(self) -> None:
        self.call("POST", "/_local/reset")


@contextmanager
def start_stack(clock: str = "manual") -> Iterator[StackProcess]:
    command = [f"{sys.prefix}/bin/duecourse", "up", "--port", "0", "--clock", clock]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            yield StackProcess(_read_url(process))
        finally:
            process.terminate()
            process.communicate(timeout=30)


def _read_url(process: subprocess.Popen[str]) -> str:
    lines = []
    for line in process.stdout or ():
        lines.append(line)
        if match := _URL.search(line):
            return match[0]
    raise AssertionError(f"the stack did not start: {''.join(lines)}")


@contextmanager
def launch_chromium() -> Iterator[Browser]:
    path = os.environ.get("CHROMIUM", "/usr/bin/chromium")  # noqa: TID251 - the path of the browser
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_BROWSER_ARGUMENTS))
        yield browser
        browser.close()
