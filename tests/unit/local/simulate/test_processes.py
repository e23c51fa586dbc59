"""Processes that simulate seeds: how they end, and what their reports add up to."""

from __future__ import annotations

import gc
import io
import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local.simulate import processes, worker
from local.simulate.plan import ALL_FAULTS, Operation, Plan
from local.simulate.processes import Request, simulate_seeds
from local.simulate.simulation import Outcome
from tests.unit.local.simulate.test_summary import make_report

REQUEST = Request((5, 5), None, None, 4, ALL_FAULTS, is_repeated=False)
FIRST, SECOND = json.dumps(make_report(5)), json.dumps(make_report(6))


def replace_workers(monkeypatch: pytest.MonkeyPatch, *codes: str) -> None:
    """Let each process run its code, in this order."""
    monkeypatch.setattr(os, "cpu_count", lambda: len(codes))
    waiting = list(codes)

    def start(_arguments: list[str]) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", f"import os, signal, time\n{waiting.pop(0)}"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: S603 - our code

    monkeypatch.setattr(processes, "_start", start)


def test_an_error_of_one_process_leaves_the_reports_of_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    error = json.dumps({"seed": 5, "error": "KeyError: 'new'"})
    replace_workers(monkeypatch, f"print({error!r}); exit(3)", f"print({SECOND!r})")

    summary = simulate_seeds(replace(REQUEST, seeds=(5, 6)), progress=None)

    assert summary.checked == {6}
    [text] = summary.errors
    assert text.startswith("the simulation of seed 5 ended with an error: KeyError: 'new' (")


def test_the_seed_of_a_killed_process_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    kill = "os.kill(os.getpid(), signal.SIGKILL)"
    replace_workers(monkeypatch, f"print({FIRST!r}); print('{{', end='', flush=True); {kill}")

    summary = simulate_seeds(replace(REQUEST, seeds=(5, 9)), progress=None)

    assert summary.checked == {5}
    assert summary.errors == ["the process that simulated seed 6 ended with code -9"]


def test_ctrl_c_ends_the_processes_and_returns_what_was_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    interrupt = "time.sleep(0.3); os.kill(os.getppid(), signal.SIGINT); time.sleep(60)"
    replace_workers(monkeypatch, f"print({FIRST!r}, flush=True); {interrupt}")

    summary = simulate_seeds(replace(REQUEST, seeds=(5, 9)), progress=None)

    assert (summary.is_interrupted, summary.checked, summary.errors) == (True, {5}, [])


def test_ctrl_c_does_not_reach_a_worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "worker"
    script.write_text("#!/bin/sh\nkill -INT $$\necho goes on\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(script))

    with processes._start([]) as process:
        assert process.communicate()[0] == "goes on\n"


def test_a_worker_ends_quietly_when_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    class ClosedPipe(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", ClosedPipe())
    monkeypatch.setattr(os, "_exit", sys.exit)

    with pytest.raises(SystemExit):
        worker._print({"seed": 1})


def test_a_worker_reports_an_error_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_arguments: Any) -> None:
        raise ValueError("no such task")

    monkeypatch.setattr(worker, "_report", fail)
    monkeypatch.setattr(gc, "set_threshold", lambda *_: None)
    monkeypatch.setenv("PYTHONHASHSEED", worker.HASH_SEED)
    monkeypatch.delenv("DUECOURSE_DEBUG", raising=False)

    with pytest.raises(SystemExit) as exit_info:
        worker.main(["--first", "7", "--last", "9", "--steps", "1", "--faults", ""])

    captured = capsys.readouterr()
    assert exit_info.value.code == worker.ERROR_CODE
    assert json.loads(captured.out) == {"seed": 7, "error": "ValueError: no such task"}
    assert captured.err == ""


def test_what_a_replay_did_not_reach_is_listed() -> None:
    operations = [Operation(at, "cancel", {"task": 1}) for at in (1, 80_000)]
    plan = Plan(1, operations, faults={"worker channel.send after 9": "crash-after"})
    outcome = Outcome(plan, [], {}, Counter({"cancel": 1}), Counter(), [], 0, "")

    assert worker._list_unreached(outcome) == [
        "operation cancel did not run",
        "fault crash-after did not strike at worker channel.send after 9",
    ]


def test_few_minutes_are_not_taken_for_none() -> None:
    arguments = replace(REQUEST, seeds=None, minutes=1e-9).arguments(0)

    assert "--last" not in arguments
    assert float(arguments[arguments.index("--seconds") + 1]) > 0
