"""Measure 500 reminders that are due in the same second, and the pages meanwhile.

Starts `duecourse up` on the real clock, creates the reminders over HTTP, and polls the pages that
the dashboard reads while they are delivered. Exit code 1 if a reminder is lost, doubled or early,
or if the lateness or the slowest page is above its target.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import cycle
from statistics import median
from typing import Any

from bench.stack_process import (
    Arrivals,
    call,
    compare,
    cpu_seconds_of_ended_stacks,
    percentile_ms,
    running_stack,
)

P99_TARGET_MS = 8_000
PAGE_TARGET_MS = 2_000
PAGES = ("/now", "/tasks", "/health")
PAGE_PERIOD = 0.2
DELIVERY_LIMIT = 300  # seconds after the due time


@dataclass
class PagePoller:
    """Requests a page every 200 ms, each in its own thread: a slow one delays no other."""

    url: str
    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def poll_until(self, is_done: Callable[[], bool]) -> None:
        requests = []
        for page in cycle(PAGES):
            requests.append(threading.Thread(target=self._request, args=(page,)))
            requests[-1].start()
            if is_done():
                break
            time.sleep(PAGE_PERIOD)
        for request in requests:
            request.join()

    def _request(self, page: str) -> None:
        started = time.perf_counter()
        try:
            call(self.url, "GET", page)
        except OSError as error:
            self.failures.append(f"{page}: {error}")
        self.seconds.append(time.perf_counter() - started)


def main() -> int:
    options = _parse_options()
    with running_stack() as url:
        due_at = _create_reminders(url, options)
        poller = PagePoller(url)
        due = _instant(due_at)
        time.sleep(_seconds_until(due))
        poller.poll_until(_Delivery(url, len(due_at), due).is_over)
        print(file=sys.stderr)
        sent = call(url, "GET", "/_local/outbox")["items"]
    report = _make_report(compare(due_at, sent), len(due_at), poller)
    print(json.dumps(report) if options.json else _to_text(report))
    return 0 if report["is_met"] else 1


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument(
        "--ahead", type=int, help="seconds from the start to the due time; default: by the count"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.ahead = options.ahead or 10 + options.count // 10
    return options


def _create_reminders(url: str, options: argparse.Namespace) -> dict[str, str]:
    """Create reminders that are due at the same instant, and return their due times by text."""
    due = datetime.now(UTC).replace(microsecond=0) + timedelta(seconds=options.ahead)  # noqa: TID251
    due_at = {}
    for n in range(options.count):
        request = {"due_at": due.isoformat(), "description": f"number {n}", "channel": "console"}
        due_at[f"Reminder: number {n}"] = call(url, "POST", "/tasks", request)["due_at"]
    if _seconds_until(due) < 1:
        raise SystemExit(f"creating took over {options.ahead - 1} s; give more with --ahead")
    return due_at


def _instant(due_at: dict[str, str]) -> datetime:
    [due] = set(due_at.values())
    return datetime.fromisoformat(due)


def _seconds_until(instant: datetime) -> float:
    return (instant - datetime.now(UTC)).total_seconds()  # noqa: TID251 - on the real clock


class _Delivery:
    """Whether all reminders arrived, or too much time has passed. Asks once a second."""

    def __init__(self, url: str, count: int, due: datetime) -> None:
        self._url = url
        self._count = count
        self._ends_at = due + timedelta(seconds=DELIVERY_LIMIT)
        self._asked = 0.0

    def is_over(self) -> bool:
        if time.monotonic() < self._asked + 1:
            return False
        self._asked = time.monotonic()
        arrived = len(call(self._url, "GET", "/_local/outbox")["items"])
        print(f"\r{arrived} of {self._count} arrived ", end="", file=sys.stderr, flush=True)
        return arrived >= self._count or _seconds_until(self._ends_at) < 0


def _make_report(arrivals: Arrivals, count: int, poller: PagePoller) -> dict[str, Any]:
    p50, p99, most = (percentile_ms(arrivals.late, share) for share in (0.5, 0.99, 1))
    slowest = round(max(poller.seconds) * 1000)
    is_fast = p99 < P99_TARGET_MS and slowest < PAGE_TARGET_MS
    return {
        "reminders": count,
        "lost": arrivals.lost,
        "doubled": arrivals.doubled,
        "early": arrivals.early,
        "late_ms": {"p50": p50, "p99": p99, "max": most},
        "cpu_seconds": round(cpu_seconds_of_ended_stacks(), 1),
        "pages": {
            "count": len(poller.seconds),
            "failed": len(poller.failures),
            "median_ms": round(median(poller.seconds) * 1000),
            "max_ms": slowest,
        },
        "is_met": arrivals.is_exact and is_fast and not poller.failures,
    }


def _to_text(report: dict[str, Any]) -> str:
    late, pages = report["late_ms"], report["pages"]
    counts = ", ".join(f"{report[name]} {name}" for name in ("lost", "doubled", "early"))
    return "\n".join(
        [
            f"{report['reminders']} reminders due in one second: {counts}",
            f"late: p50 {late['p50']} ms, p99 {late['p99']} ms, max {late['max']} ms"
            f" (target: p99 below {P99_TARGET_MS} ms)",
            f"CPU, from the start of the stack to its end: {report['cpu_seconds']} s",
            f"{pages['count']} pages meanwhile: {pages['failed']} failed, median"
            f" {pages['median_ms']} ms, max {pages['max_ms']} ms"
            f" (target: max below {PAGE_TARGET_MS} ms)",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
