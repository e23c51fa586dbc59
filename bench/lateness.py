"""Measure how late 200 reminders arrive on the real clock, through the real command.

Starts `duecourse up`, creates reminders that are due at random times while it runs, and compares
the outbox with the due times. Exit code 1 if a reminder is lost, doubled or early, or if fewer than
99 % arrive within a second.
"""

from __future__ import annotations

import argparse
import sys
import time
from random import Random

from bench.stack_process import Arrivals, call, compare, percentile_ms, running_stack

ON_TIME_SECONDS = 1.0
ON_TIME_SHARE = 0.99


def main() -> int:
    options = _parse_options()
    with running_stack() as url:
        due_at = _create_reminders(url, options)
        _wait_for_all(url, len(due_at), seconds=options.seconds + 10)
        sent = call(url, "GET", "/_local/outbox")["items"]
    return _report(compare(due_at, sent), len(due_at))


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=90, help="the time span of their due times")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _create_reminders(url: str, options: argparse.Namespace) -> dict[str, str]:
    """Create the reminders, while others fire, and return their due times by text."""
    rng = Random(options.seed)  # noqa: S311 - reproducible
    due_at = {}
    for n in range(options.count):
        wait = f"{rng.uniform(1, options.seconds):.3f}s"
        task = call(url, "POST", "/tasks", {"in": wait, "description": f"number {n}"})
        due_at[f"Reminder: number {n}"] = task["due_at"]
    return due_at


def _wait_for_all(url: str, count: int, *, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        arrived = len(call(url, "GET", "/_local/outbox")["items"])
        print(f"\r{arrived} of {count} arrived", end="", file=sys.stderr, flush=True)
        if arrived >= count:
            break
        time.sleep(1)
    print(file=sys.stderr)


def _report(arrivals: Arrivals, count: int) -> int:
    late = arrivals.late
    on_time = sum(0 <= seconds <= ON_TIME_SECONDS for seconds in late) / count
    lost, doubled, early = arrivals.lost, arrivals.doubled, arrivals.early
    print(f"{count} reminders: {lost} lost, {doubled} doubled, {early} early")
    p50, p99, most = (percentile_ms(late, share) for share in (0.5, 0.99, 1))
    print(f"late: p50 {p50} ms, p99 {p99} ms, max {most} ms")
    print(f"on time (within {ON_TIME_SECONDS:g} s): {on_time:.1%}")
    return 0 if arrivals.is_exact and on_time >= ON_TIME_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
