"""`duecourse check-handler`: run a registered handler through the test kit."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from typing import Any

from duecourse.app import registry
from duecourse.domain.tasks.handler import Handler

from local.testing.crash_report import CrashReport
from local.testing.handler_kit import crash_everywhere


class UnknownTypeError(Exception):
    pass


def check_handler(
    task_type: str, payload: Mapping[str, Any], *, only_calls: Collection[str] | None = None
) -> CrashReport:
    """Return the report. Raises UnknownTypeError, and what `crash_everywhere` raises."""

    def make_handler() -> Handler:
        found = registry.handlers()
        if task_type not in found:
            raise UnknownTypeError(
                f"unknown type {task_type}; known types: {', '.join(sorted(found))}"
            )
        return found[task_type]

    try:
        return crash_everywhere(
            make_handler,
            payload=payload,
            only_calls=only_calls,
            task_type=task_type,
            progress=_print_progress,
        )
    finally:
        if sys.stderr.isatty():
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def _print_progress(crash_count: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\rcrash {crash_count} of {total}", end="", file=sys.stderr, flush=True)
    elif crash_count == 1:
        print(f"running at least {total} crashes, about a second each", file=sys.stderr, flush=True)
