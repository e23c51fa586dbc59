"""Simulate many seeds, in as many processes as there are cores."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, TextIO

from local.runtime.template import ROOT
from local.simulate.summary import Summary
from local.simulate.worker import ERROR_CODE, HASH_SEED

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
        count = max(1, (os.cpu_count() or 1) // self._copies)
        return count if self.minutes is not None else min(count, last - first + 1)

    def arguments(self, number: int) -> list[str]:
        """Return the arguments of one of the processes."""
        first, last = self.seeds or DEFAULT_SEEDS
        part = number % self._divisions
        found = ["--first", str(first + part), "--every", str(self._divisions)]
        found += ["--steps", str(self.steps), "--faults", ",".join(sorted(self.faults))]
        if self.minutes is None:
            found += ["--last", str(last)]
        else:
            found += ["--seconds", str(self.minutes * 60)]
        found += ["--trace-only"] if number >= self._divisions else []
        return [*found, *(["--replay", str(self.replay)] if self.replay else [])]

    def find_seed(self, number: int, count: int) -> str:
        """Return which seed one of the processes simulates after `count` others."""
        if self.replay is not None:
            return str(self.replay)
        first, _ = self.seeds or DEFAULT_SEEDS
        return f"seed {first + number % self._divisions + count * self._divisions}"


def simulate_seeds(request: Request, *, progress: TextIO | None) -> Summary:
    """Simulate until all processes have ended, or until Ctrl-C. A failed process is in `errors`."""
    summary = Summary()
    try:
        with closing(_run_processes(request, summary.errors)) as lines:
            for line in lines:
                _add(summary, json.loads(line), progress)
    except KeyboardInterrupt:
        summary.is_interrupted = True
    return summary


def _add(summary: Summary, report: dict[str, Any], progress: TextIO | None) -> None:
    if "error" in report:
        text = f"the simulation of seed {report['seed']} ended with an error: {report['error']}"
        text += " (DUECOURSE_DEBUG=1 prints the traceback)"
        summary.errors += [] if text in summary.errors else [text]
        return
    is_new_seed = summary.add(report)
    if progress is not None and is_new_seed and summary.seeds % _PROGRESS_EVERY == 0:
        print(f"{summary.seeds:,} seeds", file=progress, flush=True)


def _run_processes(request: Request, errors: list[str]) -> Generator[str]:
    """Yield the lines of all processes as they come. Processes that end early are in `errors`."""
    lines: SimpleQueue[str | None] = SimpleQueue()
    workers: list[_Worker] = []
    try:
        for number in range(request.process_count):
            workers.append(_Worker(_start(request.arguments(number))))
            Thread(target=_forward, args=[workers[-1], lines], daemon=True).start()
        for _ in workers:
            while (line := lines.get()) is not None:
                yield line
        for number, worker in enumerate(workers):
            code = worker.process.wait()
            if code not in (0, ERROR_CODE):
                seed = request.find_seed(number, worker.line_count)
                errors.append(f"the process that simulated {seed} ended with code {code}")
    finally:
        for worker in workers:
            worker.process.terminate()
            worker.process.wait()


@dataclass
class _Worker:
    process: subprocess.Popen[str]
    line_count: int = 0


def _start(arguments: list[str]) -> subprocess.Popen[str]:
    """Start a process that Ctrl-C does not reach: it inherits that SIGINT is blocked."""
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        return subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-m", "local.simulate.worker", *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": HASH_SEED},
            stdout=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)


def _forward(worker: _Worker, lines: SimpleQueue[str | None]) -> None:
    with worker.process.stdout or nullcontext(()) as output:
        for line in output:
            if line.endswith("\n"):  # otherwise the process was ended while it wrote
                worker.line_count += 1
                lines.put(line)
    lines.put(None)
