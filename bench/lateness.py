"""Measure how late 200 reminders arrive on the real clock, through the real command.

Starts `duecourse up`, creates reminders that are due at random times while it runs, and compares
the outbox with the due times. Exit code 1 if a reminder is lost, doubled or early, or if fewer than
99 % arrive within a second.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Any

DUECOURSE = Path(sys.executable).with_name("duecourse")
ON_TIME_SECONDS = 1.0
ON_TIME_SHARE = 0.99


def main() -> int:
    options = _parse_options()
    with _running_stack() as url:
        due_at = _create_reminders(url, options)
        _wait_for_all(url, len(due_at), seconds=options.seconds + 10)
        sent = _call(url, "GET", "/_local/outbox")["items"]
    return _report(due_at, sent)


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=90, help="the time span of their due times")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


@contextmanager
def _running_stack() -> Iterator[str]:
    command = [str(DUECOURSE), "up", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603
        try:
            yield _read_url(process)
        finally:
            process.terminate()


def _read_url(process: subprocess.Popen[str]) -> str:
    for line in process.stdout or ():
        if found := re.search(r"http://127\.0\.0\.1:\d+", line):
            return found[0]
    raise SystemExit("duecourse up did not start")


def _create_reminders(url: str, options: argparse.Namespace) -> dict[str, str]:
    """Create the reminders, while others fire, and return their due times by text."""
    rng = Random(options.seed)  # noqa: S311 - reproducible
    due_at = {}
    for n in range(options.count):
        wait = f"{rng.uniform(1, options.seconds):.3f}s"
        task = _call(url, "POST", "/tasks", {"in": wait, "description": f"number {n}"})
        due_at[f"Reminder: number {n}"] = task["due_at"]
    return due_at


def _wait_for_all(url: str, count: int, *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        arrived = len(_call(url, "GET", "/_local/outbox")["items"])
        print(f"\r{arrived} of {count} arrived", end="", file=sys.stderr, flush=True)
        if arrived >= count:
            break
        time.sleep(1)
    print(file=sys.stderr)


def _report(due_at: dict[str, str], sent: list[dict[str, str]]) -> int:
    texts = [message["text"] for message in sent]
    late = sorted(
        (_parse_instant(message["at"]) - _parse_instant(due_at[message["text"]])).total_seconds()
        for message in sent
    )
    on_time = sum(0 <= seconds <= ON_TIME_SECONDS for seconds in late) / len(due_at)
    early = sum(seconds < 0 for seconds in late)
    lost, doubled = len(set(due_at) - set(texts)), len(texts) - len(set(texts))
    print(f"{len(due_at)} reminders: {lost} lost, {doubled} doubled, {early} early")
    p50, p99, most = (_percentile_ms(late, share) for share in (0.5, 0.99, 1))
    print(f"late: p50 {p50} ms, p99 {p99} ms, max {most} ms")
    print(f"on time (within {ON_TIME_SECONDS:g} s): {on_time:.1%}")
    return 1 if lost or doubled or early or on_time < ON_TIME_SHARE else 0


def _percentile_ms(ordered: list[float], share: float) -> int:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000)


def _parse_instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _call(url: str, method: str, path: str, body: Any = None) -> Any:
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Authorization": "Bearer local", "Content-Type": "application/json"}
    request = urllib.request.Request(url + path, data, headers, method=method)  # noqa: S310
    with urllib.request.urlopen(request, timeout=30) as reply:  # noqa: S310 - our own address
        return json.load(reply)


if __name__ == "__main__":
    sys.exit(main())
