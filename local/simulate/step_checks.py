"""Checks every write as it happens, and ends the simulation at the first violation."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any

from duecourse.adapters.aws.dynamodb.stream import Record, parse_change
from duecourse.adapters.aws.dynamodb.task_mapper import from_stored
from duecourse.domain.events.stream_change import StreamChange
from duecourse.domain.tasks.task import Task

from local.simulate.budget_ledger import BudgetLedger, read_call
from local.simulate.checks.changes import TaskWrite
from local.simulate.functions import current_invocation
from local.simulate.quiet_log import QuietLog
from local.simulate.step_invariants import (
    BUDGET_CALLS,
    BUDGET_WRITES,
    check_write,
    find_violation,
)
from local.simulate.violation import Violation, ViolationError
from local.testing.lean_aws.table import Table
from local.testing.lean_aws.values import Item


class StepChecks:
    """`changes` are the writes of tasks. `checked` counts the checks by invariant.

    `report` is told of a violation, before ViolationError is raised.
    """

    def __init__(
        self,
        *,
        now: Callable[[], datetime],
        max_skew: Callable[[], timedelta],
        report: Callable[[Violation], None],
    ) -> None:
        self._now = now
        self._max_skew = max_skew
        self._report = report
        self._has_failed = False
        self._latest: dict[str, tuple[Record, Task]] = {}
        self._ended_runs: defaultdict[str, set[str]] = defaultdict(set)
        self.changes: list[StreamChange] = []
        self.checked: Counter[str] = Counter()
        self.budgets = BudgetLedger()
        self.quiet_log = QuietLog()

    def watch(self, tasks: Table, state: Table) -> None:
        def check_task(_old: Item | None, _new: Item | None) -> None:
            if tasks.stream is not None:
                self._check_change(parse_change(tasks.stream.records[-1], self._read))

        def check_state(old: Item | None, new: Item | None) -> None:
            self.quiet_log.note_write(old, new, self._now())
            self._check_budget(new)

        tasks.on_write, state.on_write = check_task, check_state

    def check_call(self, payload: Any, entry: Any, cost: int | None) -> None:
        """Check a call that has reached the provider, if a budget pays for it."""
        if payload.get("budget") is not None:
            call = read_call(entry, cost)
            self._find(BUDGET_CALLS, self.budgets.note_call(call, invocation_number()))

    def _check_budget(self, item: Item | None) -> None:
        found = self.budgets.note_write(item, self._now(), invocation_number())
        self._find(BUDGET_WRITES, found)

    def _find(self, name: str, texts: Iterable[str | None]) -> None:
        self._fail(find_violation(name, texts, self.checked))

    def _check_change(self, change: StreamChange) -> None:
        self.changes.append(change)
        new = change.new
        if new is None or not change.is_known:
            return
        ended = self._ended_runs[new.id]
        write = TaskWrite(change.old, new, change.written_at, self._max_skew(), ended)
        self._fail(check_write(write, self.checked))
        if new.run is not None and new.run.ended_at is not None:
            ended.add(new.run.id)

    def _fail(self, violation: Violation | None) -> None:
        if violation is not None and not self._has_failed:
            self._has_failed = True
            self._report(violation)
            raise ViolationError(violation)

    def _read(self, image: Record | None) -> Task | None:
        """Return the task. The new image of a task is often the old one of its next change."""
        if not image:
            return None
        name = str(image.get("id"))
        known, task = self._latest.get(name, (None, None))
        if known == image:
            return task
        task = from_stored(image)
        self._latest[name] = image, task
        return task


def invocation_number() -> int | None:
    invocation = current_invocation()
    return invocation.number if invocation else None
