"""`duecourse up --aws-port 0` as a process of its own."""

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

import boto3

_URL = re.compile(r"(?:running|answered) at (http://127\.0\.0\.1:\d+)")


@dataclass(frozen=True)
class LocalProcess:
    """A running local stack with a manual clock: nothing runs by itself."""

    url: str
    aws_url: str

    def call(self, method: str, path: str, body: Any = None) -> Any:
        headers = {"authorization": "Bearer local", "content-type": "application/json"}
        raw = None if body is None else json.dumps(body).encode()
        request = Request(self.url + path, raw, headers, method=method)  # noqa: S310 - loopback
        with urlopen(request, timeout=60) as answer:  # noqa: S310 - loopback
            return json.loads(answer.read())

    def aws_client(self, service: str) -> Any:
        """Return a client with the region and the credentials that `sam local` has by default."""
        session = boto3.Session("defaultkey", "defaultsecret", region_name="us-east-1")
        return session.client(service, endpoint_url=self.aws_url)

    def items(self, path: str) -> list[dict[str, Any]]:
        return list(self.call("GET", path)["items"])

    def advance(self, by: str) -> None:
        self.call("POST", "/_local/clock", {"advance": by})

    def outbox(self) -> list[str]:
        return [one["text"] for one in self.items("/_local/outbox")]


@contextmanager
def run_local_stack() -> Iterator[LocalProcess]:
    command = [f"{sys.prefix}/bin/duecourse", "up", "--port", "0", "--aws-port", "0"]
    environment = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251 - for a subprocess
        if not name.startswith(("AWS_", "DUECOURSE_"))
    }
    environment["CHAT_ACCESS"] = "telegram:111"  # the sender of the sample event
    with subprocess.Popen(  # noqa: S603 - our own command
        [*command, "--clock", "manual"], env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield LocalProcess(*_read_urls(process))
        finally:
            process.terminate()
            process.communicate(timeout=30)


def _read_urls(process: subprocess.Popen[str]) -> list[str]:
    """Return the addresses of the HTTP API and of AWS calls, in the order in which they appear."""
    found: list[str] = []
    for line in process.stdout or ():
        found += _URL.findall(line)
        if len(found) == 2:
            return found
    raise AssertionError(f"the stack did not start: {found}")
