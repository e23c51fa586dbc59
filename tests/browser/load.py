"""The Now page under load: thousands of open tasks, hundreds of events a second, for minutes.

The events are pushed without the functions, which could not produce so many on one laptop. The
page cannot tell the difference.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from duecourse.app import stores
from playwright.sync_api import Browser, Page

from local.runtime.api_gateway import Gateway
from local.runtime.server import Server
from local.runtime.stack import Stack
from tests.browser.stack_process import TOKEN, launch_chromium
from tests.support.builders.tasks import a_task

FIRST_PAINT_LIMIT = 2_000  # milliseconds
SHOWN_LIMIT = 5_000  # moto scans every task for each of the ten queries
GROWTH_LIMIT = 3.0  # megabytes of heap from the first half minute to the end
PAUSE_LIMIT = 500  # milliseconds that the page may be unresponsive
WARM_UP = 30.0
IDLE_TIMEOUT = 300.0
TOKEN_KEY = "duecourse.token"  # as functions/api/dashboard/session.js has it
_RECORD_PAUSES = """() => {
  window.longest = 0;
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    window.longest = Math.max(window.longest, now - last - 50);
    last = now;
  }, 50);
}"""


@dataclass(frozen=True)
class LoadResult:
    """Times in milliseconds, the heap in megabytes after a garbage collection."""

    tasks: int
    seconds: float
    pushed: int
    received: int
    is_live: bool
    first_paint: float
    shown_after: float
    longest_pause: float
    heap_before: float
    heap_after: float
    nodes_before: int
    nodes_after: int

    @property
    def problems(self) -> list[str]:
        return [
            *self.lasting_problems,
            *(["the first paint is late"] if self.first_paint > FIRST_PAINT_LIMIT else []),
            *(["the tasks are shown late"] if self.shown_after > SHOWN_LIMIT else []),
            *(["the page freezes"] if self.longest_pause > PAUSE_LIMIT else []),
        ]

    @property
    def lasting_problems(self) -> list[str]:
        """Problems that a slow machine does not explain."""
        growth = self.heap_after - self.heap_before
        return [
            *(["the page was cut off"] if not self.is_live or self.received < self.pushed else []),
            *(["memory grows"] if growth > GROWTH_LIMIT else []),
            *(["nodes pile up"] if self.nodes_after > 1.2 * self.nodes_before else []),
        ]


def measure_page(browser: Browser, *, tasks: int, rate: int, seconds: float) -> LoadResult:
    warm_up = min(WARM_UP, seconds / 2)
    with _serve_stack(tasks) as (stack, url):
        page, first_paint, shown_after = _open_now_page(browser, url)
        with _push_events(stack, rate) as pushed:
            page.wait_for_timeout(1_000 * warm_up)
            page.evaluate(_RECORD_PAUSES)
            before = _measure_heap(page)
            page.wait_for_timeout(1_000 * (seconds - warm_up))
            longest = page.evaluate("window.longest")
            after = _measure_heap(page)
        is_live = page.locator("#connection[data-state=live]").count() == 1
        return LoadResult(
            *(tasks, seconds, len(pushed), sum(pushed), is_live, first_paint, shown_after, longest),
            *(before[0], after[0], before[1], after[1]),
        )


@contextmanager
def _serve_stack(tasks: int) -> Iterator[tuple[Stack, str]]:
    stack = Stack(is_clock_manual=False)
    stack.start(log_level="CRITICAL")
    server = Server(Gateway(stack), 0)
    thread = threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True)
    thread.start()
    try:
        _create_tasks(stack, tasks)
        yield stack, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        stack.stop()


def _create_tasks(stack: Stack, tasks: int) -> None:
    """Create tasks that are due in an hour or later, so that none runs meanwhile."""
    now = stack.clock.now()

    def create(n: int) -> None:
        task = a_task(
            id=stores.new_id(),
            description=f"task {n}",
            due_at=now + timedelta(hours=1, seconds=n),
            created_at=now,
        )
        stores.task_store().create(task)

    for n in range(tasks):
        stack.scheduler.call(partial(create, n))
    stack.scheduler.wait_until_idle(IDLE_TIMEOUT)  # until the journal has recorded all of them


def _open_now_page(browser: Browser, url: str) -> tuple[Page, float, float]:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(f"{url}/health")
    page.evaluate(f"sessionStorage.setItem('{TOKEN_KEY}', '{TOKEN}')")
    page.goto(f"{url}/#/now")
    page.wait_for_selector("#due-soon [data-task]")
    shown_after = page.evaluate("performance.now()")
    [paint] = page.evaluate("performance.getEntriesByName('first-paint').map((e) => e.startTime)")
    page.wait_for_selector("#connection[data-state=live]")
    return page, paint, shown_after


@contextmanager
def _push_events(stack: Stack, rate: int) -> Iterator[list[int]]:
    """Push events in the background; yields how many connections got each one."""
    pushed: list[int] = []
    stop_event = threading.Event()

    def push() -> None:
        started = time.monotonic()
        while not stop_event.wait(0.01):
            while len(pushed) < (time.monotonic() - started) * rate:
                pushed.append(stack.websocket_api.broadcast(json.dumps(_make_event(len(pushed)))))

    thread = threading.Thread(target=push, daemon=True)
    thread.start()
    yield pushed
    stop_event.set()
    thread.join()


def _make_event(n: int) -> dict[str, Any]:
    task_id = f"{n % 100_000:08d}-0000-4000-8000-000000000000"
    detail = {
        "event_id": f"{task_id}:2:0",
        "category": "transient",
        "attempt": 2,
        "next_retry_at": "2026-02-17T12:00:00.000Z",
        "error": f"connect ECONNREFUSED 10.0.0.5:{n % 60_000}",
    }
    at = datetime.now(UTC).isoformat(timespec="milliseconds")  # noqa: TID251 - on the real clock
    kind = "task:retry_scheduled" if n % 2 else "task:started"
    return {"type": kind, "task_id": task_id, "at": at, "detail": detail}


def _measure_heap(page: Page) -> tuple[float, int]:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    nodes = page.evaluate("document.querySelectorAll('*').length")
    session.detach()
    return used / 1e6, nodes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=5_000)
    parser.add_argument("--rate", type=int, default=500, help="events a second")
    parser.add_argument("--seconds", type=float, default=300)
    options = parser.parse_args()
    print(
        f"{options.tasks:,} tasks, {options.rate} events/s, {options.seconds:g} s", file=sys.stderr
    )
    with launch_chromium() as browser:
        arguments = {"tasks": options.tasks, "rate": options.rate, "seconds": options.seconds}
        result = measure_page(browser, **arguments)
    for name, value in asdict(result).items():
        print(f"  {name.replace('_', ' '):<14}{value:>12,.1f}")
    for problem in result.problems:
        print(f"  {problem}")
    return 1 if result.problems else 0


if __name__ == "__main__":
    sys.exit(main())
