"""The handlers' test kit: run one task through the whole system with a crash at every point.

    report = crash_everywhere(Lights, payload={"lamp": "hall"}, count_effects=lambda: len(switched))
    assert report.is_sound, report

The handler's real code runs at least once per crash, so give it test doubles for the services that
it calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from duecourse.app import registry, services, stores
from duecourse.domain.requests.new_task import parse_new_task
from duecourse.domain.tasks.handler import Handler
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.journal.read_history import read_runs
from duecourse.usecases.tasks.create_task import NewTaskId, create_task

from local.runtime.stack import Stack
from local.testing.crash_report import CrashCase, CrashPoint, CrashReport, RunSummary
from local.testing.faults import Fault
from local.testing.instrumented_handler import ObservedEffects, instrument_handler
from local.testing.lean_aws.backend import LeanBackend

WORKER = "worker"
_STARTS_AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
# Increasing, as long as the task may still continue by itself: some retries wait for a day.
_ADVANCE_STEPS = [timedelta(hours=1), timedelta(hours=5), timedelta(days=2), timedelta(days=6)]
_ACTIVE_STATUSES = (Status.PENDING, Status.IN_PROGRESS)
_AFTER_MUTATE = CrashPoint("handler.mutate", 1, "after")
Progress = Callable[[int, int], None]


class BaselineFailedError(Exception):
    """The task did not succeed exactly once even without a crash, so crashes prove nothing."""


def crash_everywhere(
    make_handler: Callable[[], Handler],
    *,
    payload: Mapping[str, Any] | None = None,
    count_effects: Callable[[], int] | None = None,
    only_calls: Collection[str] | None = None,
    task_type: str = "checked",
    progress: Progress = lambda _count, _of: None,
) -> CrashReport:
    """Crash the worker before and after each of its calls, including the handler's phases.

    The run that resumes after a crash may crash, too. So for the crash right after the effect, also
    crash every call of the run that follows.

    `count_effects` returns how often the effect has happened so far. By default, each entry into
    `mutate` counts, unless it raises an exception that says nothing happened. `only_calls`
    restricts the calls to crash at, to save time. Raises InvalidFieldsError if the handler rejects
    the payload, and BaselineFailedError.
    """
    with _running_stack() as stack:
        runner = _CrashRunner(
            stack, make_handler, count_effects, {"type": task_type, "payload": payload or {}}
        )
        cases = _run_all_cases(runner, only_calls, progress)
    return CrashReport(task_type, cases, is_idempotent=runner.observed.is_idempotent)


def _run_all_cases(
    runner: _CrashRunner, only_calls: Collection[str] | None, progress: Progress
) -> list[CrashCase]:
    cases = [runner.run_case(None)]
    if not cases[0].is_successful:
        raise BaselineFailedError(_baseline_failure_text(cases[0]))
    points = _crash_points(runner.recorded_calls, only=only_calls)
    second_points: list[CrashPoint] = []
    for point in points:
        progress(len(cases), len(points))
        cases.append(runner.run_case(point))
        if point == _AFTER_MUTATE:
            start = runner.next_invocation_start(point.call)
            following = _crash_points(runner.recorded_calls, start=start, only=only_calls)
            second_points = [point.followed_by(next_crash) for next_crash in following]
    for point in second_points:
        progress(len(cases), len(points) + len(second_points))
        cases.append(runner.run_case(point))
    return cases


class _CrashRunner:
    """Runs one task after the other, each in an empty system.

    `recorded_calls` are the worker's calls for the last task, `invocation_starts` the positions in
    them where its invocations started.
    """

    def __init__(
        self,
        stack: Stack,
        make_handler: Callable[[], Handler],
        effects: Callable[[], int] | None,
        body: dict[str, Any],
    ) -> None:
        self._stack = stack
        self._make_handler = make_handler
        self._body = body
        self.observed = ObservedEffects()
        self._count_effects = effects or (lambda: self.observed.count)
        self.recorded_calls: list[str] = []
        self.invocation_starts: list[int] = []
        stack.calls.before_call = self._on_call
        stack.functions.on_invoke = self._on_invoke

    def run_case(self, point: CrashPoint | None) -> CrashCase:
        self._stack.reset()
        handler = instrument_handler(self._make_handler(), self._stack.calls, self.observed)
        registry.register_handler(self._body["type"], handler)
        self.recorded_calls, self.invocation_starts = [], []
        before = self._count_effects()
        for fault in _to_faults(point):
            self._stack.faults.add(fault)
        task_id = self._create()
        task = self._advance_until_done(task_id)
        runs = read_runs(task, journal=stores.journal())
        return CrashCase(
            point,
            status=task.status,
            effects=self._count_effects() - before,
            runs=[RunSummary(one.status, one.phase, one.mutation.status) for one in runs],
            error=task.last_error,
        )

    def next_invocation_start(self, call: str) -> int:
        """Return where the invocation after the one that made this call starts."""
        made = self.recorded_calls.index(call)
        return next(
            (start for start in self.invocation_starts if start > made), len(self.recorded_calls)
        )

    def _create(self) -> str:
        fields = {"in": "3m", "description": "a task of the test kit", "sender_id": "kit"}
        return self._stack.scheduler.call(lambda: _create_from_json({**fields, **self._body})).id

    def _advance_until_done(self, task_id: str) -> Task:
        for by in _ADVANCE_STEPS:
            self._stack.advance(by)
            task = stores.task_store().get(task_id)
            if task.status not in _ACTIVE_STATUSES:
                break
        return task

    def _on_invoke(self, function: str) -> None:
        if function == WORKER:
            self.invocation_starts.append(len(self.recorded_calls))

    def _on_call(self, function: str, call: str) -> None:
        if function == WORKER:
            self.recorded_calls.append(call)


def _create_from_json(raw: Mapping[str, Any]) -> Task:
    deps, now = services.create_task_deps(), stores.clock().now()
    new_task = parse_new_task(raw, capabilities=deps.capabilities, now=now)
    return create_task(new_task, deps, task_id=NewTaskId(stores.new_id()), now=now).task


@contextmanager
def _running_stack() -> Iterator[Stack]:
    stack = Stack(is_clock_manual=True, starts_at=_STARTS_AT, backend=LeanBackend())
    stack.start(log_level="CRITICAL")
    try:
        yield stack
    finally:
        stack.stop()


def _crash_points(
    calls: Sequence[str], *, start: int = 0, only: Collection[str] | None = None
) -> list[CrashPoint]:
    """Return the points before and after each call from position `start` on."""
    times: Counter[str] = Counter()
    found = []
    for position, call in enumerate(calls):
        times[call] += 1
        if position >= start and (only is None or call in only):
            found += [CrashPoint(call, times[call], when) for when in ("before", "after")]
    return found


def _to_faults(point: CrashPoint | None) -> Iterator[Fault]:
    while point is not None:
        yield Fault(point.call, function=WORKER, when=point.when, nth=point.nth)
        point = point.next_crash


def _baseline_failure_text(plain: CrashCase) -> str:
    error = f": {plain.error}" if plain.error else ""
    return (
        f"without a crash, the task ended as {plain.status} and its effect happened "
        f"{plain.effects} times{error}"
    )
