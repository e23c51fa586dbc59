"""The Now page under load: thousands of open tasks, hundreds of events a second, for minutes.

The events are pushed past the functions: on one laptop these could not bring forth so many. The
page cannot tell.
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
from tests.browser.running import TOKEN, chromium
from tests.support.builders.tasks import a_task

FIRST_PAINT_LIMIT = 2_000  # milliseconds
SHOWN_LIMIT = 5_000  # moto looks at every task for each of the ten queries
GROWTH_LIMIT = 3.0  # megabytes of heap from the first half minute to the end
PAUSE_LIMIT = 500  # milliseconds that the page may not answer for
WARM_UP = 30.0
SETTLED_WITHIN = 300.0
TOKEN_KEY = "duecourse.token"  # as functions/api/dashboard/session.js has it
_PAUSES = """() => {
  window.longest = 0;
  let last = performance.now();
  setInterval(() => {
    const now = performance.now();
    window.longest = Math.max(window.longest, now - last - 50);
    last = now;
  }, 50);
}"""


@dataclass(frozen=True)
class Seen:
    """Times in milliseconds, the heap in megabytes, after the garbage was collected."""

    tasks: int
    seconds: float
    pushed: int
    heard: int
    is_live: bool
    first_paint: float
    shown: float
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
            *(["the tasks are shown late"] if self.shown > SHOWN_LIMIT else []),
            *(["the page freezes"] if self.longest_pause > PAUSE_LIMIT else []),
        ]

    @property
    def lasting_problems(self) -> list[str]:
        """Those that no machine is slow enough to explain."""
        growth = self.heap_after - self.heap_before
        return [
            *(["the page was cut off"] if not self.is_live or self.heard < self.pushed else []),
            *(["memory grows"] if growth > GROWTH_LIMIT else []),
            *(["nodes pile up"] if self.nodes_after > 1.2 * self.nodes_before else []),
        ]


def measured(browser: Browser, *, tasks: int, rate: int, seconds: float) -> Seen:
    warm_up = min(WARM_UP, seconds / 2)
    with _serving(tasks) as (stack, url):
        page, first_paint, shown = _opened(browser, url)
        with _pushing(stack, rate) as pushed:
            page.wait_for_timeout(1_000 * warm_up)
            page.evaluate(_PAUSES)
            before = _heap(page)
            page.wait_for_timeout(1_000 * (seconds - warm_up))
            longest = page.evaluate("window.longest")
            after = _heap(page)
        is_live = page.locator("#connection[data-state=live]").count() == 1
        return Seen(
            *(tasks, seconds, len(pushed), sum(pushed), is_live, first_paint, shown, longest),
            *(before[0], after[0], before[1], after[1]),
        )


@contextmanager
def _serving(tasks: int) -> Iterator[tuple[Stack, str]]:
    stack = Stack(is_clock_manual=False)
    stack.start(log_level="CRITICAL")
    server = Server(Gateway(stack), 0)
    serving = threading.Thread(target=server.serve_forever, args=(0.2,), daemon=True)
    serving.start()
    try:
        _fill(stack, tasks)
        yield stack, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        stack.stop()


def _fill(stack: Stack, tasks: int) -> None:
    """Due from an hour on, so that nothing runs meanwhile."""
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
    stack.scheduler.wait_until_idle(
        SETTLED_WITHIN
    )  # the history of so many is kept in its own time


def _opened(browser: Browser, url: str) -> tuple[Page, float, float]:
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(f"{url}/health")
    page.evaluate(f"sessionStorage.setItem('{TOKEN_KEY}', '{TOKEN}')")
    page.goto(f"{url}/#/now")
    page.wait_for_selector("#due-soon [data-task]")
    shown = page.evaluate("performance.now()")
    [paint] = page.evaluate("performance.getEntriesByName('first-paint').map((e) => e.startTime)")
    page.wait_for_selector("#connection[data-state=live]")
    return page, paint, shown


@contextmanager
def _pushing(stack: Stack, rate: int) -> Iterator[list[int]]:
    """Of each event, how many heard it."""
    pushed: list[int] = []
    is_over = threading.Event()

    def push() -> None:
        began = time.monotonic()
        while not is_over.wait(0.01):
            while len(pushed) < (time.monotonic() - began) * rate:
                pushed.append(stack.websocket_api.broadcast(json.dumps(_event(len(pushed)))))

    thread = threading.Thread(target=push, daemon=True)
    thread.start()
    yield pushed
    is_over.set()
    thread.join()


def _event(n: int) -> dict[str, Any]:
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


def _heap(page: Page) -> tuple[float, int]:
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
    with chromium() as browser:
        wanted = {"tasks": options.tasks, "rate": options.rate, "seconds": options.seconds}
        seen = measured(browser, **wanted)
    for name, value in asdict(seen).items():
        print(f"  {name.replace('_', ' '):<14}{value:>12,.1f}")
    for problem in seen.problems:
        print(f"  {problem}")
    return 1 if seen.problems else 0


if __name__ == "__main__":
    sys.exit(main())
