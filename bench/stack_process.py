"""`duecourse up` in a process of its own on the real clock, and what its outbox shows."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

DUECOURSE = Path(sys.executable).with_name("duecourse")


@contextmanager
def running_stack() -> Iterator[str]:
    """Yield the URL of a stack on a free port. It has ended when the block has."""
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


def cpu_seconds_of_ended_stacks() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(url: str, method: str, path: str, body: Any = None) -> Any:
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Authorization": "Bearer local", "Content-Type": "application/json"}
    request = urllib.request.Request(url + path, data, headers, method=method)  # noqa: S310
    with urllib.request.urlopen(request, timeout=120) as reply:  # noqa: S310 - our own address
        return json.load(reply)


@dataclass(frozen=True)
class Arrivals:
    """The outbox compared with the due times. `late` has the seconds, in ascending order."""

    lost: int
    doubled: int
    early: int
    late: tuple[float, ...]

    @property
    def is_exact(self) -> bool:
        return not (self.lost or self.doubled or self.early)


def compare(due_at: Mapping[str, str], sent: Sequence[Mapping[str, str]]) -> Arrivals:
    """Compare the due times, by text, with the messages of the outbox."""
    texts = [message["text"] for message in sent]
    late = sorted(
        (_parse_instant(message["at"]) - _parse_instant(due_at[message["text"]])).total_seconds()
        for message in sent
    )
    return Arrivals(
        lost=len(set(due_at) - set(texts)),
        doubled=len(texts) - len(set(texts)),
        early=sum(seconds < 0 for seconds in late),
        late=tuple(late),
    )


def percentile_ms(ordered: Sequence[float], share: float) -> int:
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1000)


def _parse_instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
