"""Simulate many seeds, in as many processes as there are cores."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TextIO

from local.cli.errors import CommandFailedError
from local.runtime.template import ROOT
from local.simulate.summary import Summary
from local.simulate.worker import HASH_SEED

DEFAULT_SEEDS = (1, 100)
_PROGRESS_EVERY = 50


@dataclass(frozen=True)
class Request:
    """`seeds` are the first and the last. With `minutes` there is no last one."""

    seeds: tuple[int, int] | None
    minutes: float | None
    replay: Path | None
    steps: int
    faults: frozenset[str]
    is_repeated: bool

    @property
    def process_count(self) -> int:
        return self._divisions * self._copies

    @property
    def _copies(self) -> int:
        return 2 if self.is_repeated else 1

    @property
    def _divisions(self) -> int:
        """By how many the seeds are divided, each for `_copies` processes."""
        if self.replay is not None:
            return 1
        first, last = self.seeds or DEFAULT_SEEDS
        parts = max(1, (os.cpu_count() or 1) // self._copies)
        return parts if self.minutes else min(parts, last - first + 1)

    def arguments(self, number: int) -> list[str]:
        """Return the arguments of one of the processes."""
        first, last = self.seeds or DEFAULT_SEEDS
        part = number % self._divisions
        found = ["--first", str(first + part), "--every", str(self._divisions)]
        found += ["--steps", str(self.steps), "--faults", ",".join(sorted(self.faults))]
        found += ["--seconds", str(self.minutes * 60)] if self.minutes else ["--last", str(last)]
        found += ["--trace-only"] if number >= self._divisions else []
        return [*found, *(["--replay", str(self.replay)] if self.replay else [])]


def simulate_seeds(request: Request, *, progress: TextIO | None) -> Summary:
    summary = Summary()
    for report in _run_processes(request):
        is_new_seed = summary.add(json.loads(report))
        if progress is not None and is_new_seed and summary.seeds % _PROGRESS_EVERY == 0:
            print(f"{summary.seeds:,} seeds", file=progress, flush=True)
    return summary


def _run_processes(request: Request) -> Iterator[str]:
    """Yield the lines of all processes as they come."""
    lines: SimpleQueue[str | None] = SimpleQueue()
    processes = [_start(request.arguments(n)) for n in range(request.process_count)]
    for process in processes:
        Thread(target=_forward, args=[process, lines], daemon=True).start()
    try:
        for _ in processes:
            while (line := lines.get()) is not None:
                yield line
        for process in processes:
            if process.wait() != 0:
                raise CommandFailedError("a simulating process failed; its error is above")
    finally:
        for process in processes:
            process.terminate()
            process.wait()


def _start(arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", "local.simulate.worker", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": HASH_SEED},
        stdout=subprocess.PIPE,
        text=True,
    )


def _forward(process: subprocess.Popen[str], lines: SimpleQueue[str | None]) -> None:
    for line in process.stdout or ():
        lines.put(line)
    lines.put(None)
