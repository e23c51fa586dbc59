"""Measure the client CPU of each step as a ratio to one boto3 `update_item`.

Exit code 1 over a target. Measures also Celery and Dramatiq on redis, if `make bench-peers` has
installed them.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from bench.cold_start import REFERENCE, measure_cold_starts
from bench.recording import DELIVERED_AT_ONCE, SCANNED, Recording, record
from local.runtime.template import REGION, ROOT
from local.testing.faults import short_name

WARM_UP_ROUNDS = 20
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
# Functions that a step consists of, and its tasks.
STEPS: Mapping[str, tuple[str, Sequence[str], int]] = {
    "create": ("create", ("api",), DELIVERED_AT_ONCE),
    "scan": ("scan", ("scanner",), SCANNED),
    "deliver": ("deliver", ("worker",), DELIVERED_AT_ONCE),
    "journal of a delivery": ("deliver", ("journal",), DELIVERED_AT_ONCE),
    "fail: worker": ("fail", ("worker",), 1),
    "fail: failure": ("fail", ("failure",), 1),
    "fail: journal": ("fail", ("journal",), 1),
    "fail, in all": ("fail", ("worker", "failure", "journal"), 1),
    "retry: worker": ("retry", ("worker",), 1),
    "retry: journal": ("retry", ("journal",), 1),
}
TARGETS = {"scan": 0.2, "deliver": 2.6, "fail, in all": 8.0}
COLD_START_TARGET = 1.15


@dataclass(frozen=True)
class StepCost:
    """CPU and AWS calls per task. `ratio` is to one `update_item`, or to boto3's cold start."""

    name: str
    milliseconds: float
    ratio: float
    calls: float | None = None
    target: float | None = None

    @property
    def is_met(self) -> bool:
        return self.target is None or self.ratio <= self.target


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    options = _parser().parse_args(arguments)
    print("recording some work on the local stack", file=sys.stderr)
    recording = record()
    print("replaying it against a loopback server", file=sys.stderr)
    reference, steps = measure_steps(recording)
    print("measuring cold starts", file=sys.stderr)
    costs = [*steps, *measure_starts(recording)]
    peers = measure_peers()
    if options.json:
        result = {
            "update_item_ms": reference * 1000,
            "steps": [{**asdict(one), "is_met": one.is_met} for one in costs],
            "peers": peers,
        }
        print(json.dumps(result, indent=2))
    else:
        print("\n".join(_format(reference, costs, peers)))
    sys.exit(0 if all(one.is_met for one in costs) else 1)


def measure_steps(recording: Recording) -> tuple[float, list[StepCost]]:
    """Return the seconds of one `update_item`, and the steps."""
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder) / "recording.json", Path(folder) / "result.json"
        source.write_text(recording.to_json(), encoding="utf-8")
        with _server(source) as port:
            # The functions log as on Lambda; nobody reads it.
            subprocess.run(  # noqa: S603 - our own interpreter and code
                [sys.executable, "-m", "bench.replay", source, port, result],
                cwd=ROOT,
                env={**_environment(recording), "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"},
                stdout=subprocess.DEVNULL,
                check=True,
            )
        replayed = json.loads(result.read_text(encoding="utf-8"))
    reference = replayed["reference_seconds"]
    return reference, [step_cost(name, replayed["steps"], reference) for name in STEPS]


def step_cost(name: str, runs: Sequence[Mapping[str, Any]], reference: float) -> StepCost:
    """Return the median of the rounds after the warm-up."""
    step, functions, tasks = STEPS[name]
    seconds: defaultdict[int, float] = defaultdict(float)
    calls: defaultdict[int, int] = defaultdict(int)
    for run in runs:
        is_warm = run["round"] > WARM_UP_ROUNDS
        if run["step"] == step and short_name(run["function"]) in functions and is_warm:
            seconds[run["round"]] += run["seconds"]
            calls[run["round"]] += run["calls"]
    median = statistics.median(seconds.values()) / tasks
    return StepCost(
        name,
        median * 1000,
        median / reference,
        statistics.median(calls.values()) / tasks,
        TARGETS.get(name),
    )


def measure_starts(recording: Recording) -> list[StepCost]:
    seconds = measure_cold_starts(_environment(recording))
    return [
        StepCost(
            f"cold start: {name}",
            measured * 1000,
            measured / seconds[REFERENCE],
            target=None if name == REFERENCE else COLD_START_TARGET,
        )
        for name, measured in seconds.items()
    ]


def measure_peers() -> dict[str, Any] | None:
    """Return versions and CPU seconds per task, or None if they are not installed."""
    if not PEERS_PYTHON.is_file():
        return None
    print("measuring Celery and Dramatiq", file=sys.stderr)
    found = subprocess.run(  # noqa: S603 - our own environment and code
        [PEERS_PYTHON, "-m", "bench.peers.run"], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    return dict(json.loads(found.stdout))


def _format(
    reference: float, costs: Sequence[StepCost], peers: Mapping[str, Any] | None
) -> Iterator[str]:
    yield f"One boto3 update_item takes {reference * 1000:.2f} ms of CPU on this machine. Per task:"
    yield ""
    yield f"{'step':<38}{'CPU ms':>8}{'ratio':>8}{'target':>8}{'AWS calls':>11}"
    for one in costs:
        target = "" if one.target is None else f"{one.target:g}"
        calls = "" if one.calls is None else f"{one.calls:.2f}"
        row = f"{one.name:<38}{one.milliseconds:>8.2f}{one.ratio:>8.2f}{target:>8}{calls:>11}"
        yield row.rstrip() + ("" if one.is_met else "  OVER TARGET")
    yield ""
    yield "A cold start's ratio is to that of boto3 with two clients."
    if peers is None:
        yield "Celery and Dramatiq were not measured: `make bench-peers` installs them."
        return
    for name, peer in peers.items():
        for kind, seconds in peer["seconds"].items():
            label = f"{name} {peer['version']}, {kind.replace('_', ' ')}"
            yield f"{label:<38}{seconds * 1000:>8.2f}{seconds / reference:>8.2f}"
    yield "These include the producer, the worker and redis."


@contextmanager
def _server(recording: Path) -> Iterator[str]:
    command = [sys.executable, "-m", "bench.loopback", str(recording)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)  # noqa: S603
    try:
        assert process.stdout is not None  # noqa: S101 - for mypy
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def _environment(recording: Recording) -> dict[str, str]:
    """Return the settings of a function on Lambda, with credentials that open nothing."""
    credentials = {"AWS_ACCESS_KEY_ID": "local", "AWS_SECRET_ACCESS_KEY": "local"}
    region = {"AWS_REGION": REGION, "AWS_DEFAULT_REGION": REGION}
    return {**recording.environment, **credentials, **region}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="bench.cpu", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


if __name__ == "__main__":
    main()
