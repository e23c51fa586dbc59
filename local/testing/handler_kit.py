"""The test kit of a handler: the whole system runs one task of it through a crash at every point.

    report = crash_everywhere(Lights, payload={"lamp": "hall"}, effects=lambda: len(switched))
    assert report.is_sound, report

The handler's own code runs, once and more for every crash: give it an outside world of tests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from duecourse.app import registry, services, stores
from duecourse.domain.tasks.handler import Handler
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.journal.read_history import read_runs
from duecourse.usecases.tasks.create_task import NewId, create_task

from local.runtime.stack import Stack
from local.testing.crash_report import Point, Report, Round, RunTold
from local.testing.faults import Fault
from local.testing.instrumented_handler import Seen, watched

WORKER = "worker"
_STARTS_AT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
# Longer and longer, as long as something may still come by itself: some retries wait for a day.
_TIME_GOES_ON = [timedelta(hours=1), timedelta(hours=5), timedelta(days=2), timedelta(days=6)]
_UNDER_WAY = (Status.PENDING, Status.IN_PROGRESS)
_JUST_AFTER_THE_EFFECT = Point("handler.mutate", 1, "after")
Progress = Callable[[int, int], None]


class NotPerformedError(Exception):
    """Even without a crash the task was not done, or its effect not once: nothing can be told."""


def crash_everywhere(
    make_handler: Callable[[], Handler],
    *,
    payload: Mapping[str, Any] | None = None,
    effects: Callable[[], int] | None = None,
    only: Collection[str] | None = None,
    task_type: str = "checked",
    progress: Progress = lambda _done, _of: None,
) -> Report:
    """A crash before and after every call that the worker makes, the handler's phases among them;
    and, since a run that takes over may crash as well, at every call of the one that follows a
    crash right after the effect.

    `effects` counts how often the effect has happened so far. Without it, entering `mutate` counts,
    unless that said by an exception that nothing happened. `only` names the calls to crash at,
    where all would take too long. Raises InvalidFieldsError for a payload that the handler
    refuses, and NotPerformedError.
    """
    with _running() as stack:
        bench = _Bench(stack, make_handler, effects, {"type": task_type, "payload": payload or {}})
        rounds = [bench.play(None)]
        if not rounds[0].is_well:
            raise NotPerformedError(_said_of(rounds[0]))
        points = _points(bench.heard, only=only)
        second: list[Point] = []
        for point in points:
            progress(len(rounds), len(points))
            rounds.append(bench.play(point))
            if point == _JUST_AFTER_THE_EFFECT:
                takes_over = _points(bench.heard, begin=bench.begins_after(point.call), only=only)
                second = [point.followed_by(then) for then in takes_over]
        for point in second:
            progress(len(rounds), len(points) + len(second))
            rounds.append(bench.play(point))
    return Report(task_type, rounds, is_harmless=bench.seen.is_harmless)


class _Bench:
    """Plays one task after the other, each in an empty system. `heard`: what the last one's worker
    called; `begins`: where in it each of its invocations began."""

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
        self.seen = Seen()
        self._effects = effects or (lambda: self.seen.effects)
        self.heard: list[str] = []
        self.begins: list[int] = []
        stack.calls.listen = self._listen
        stack.functions.watch = self._begin

    def play(self, point: Point | None) -> Round:
        self._stack.reset()
        handler = watched(self._make_handler(), self._stack.calls, self.seen)
        registry.register_handler(self._body["type"], handler)
        self.heard, self.begins = [], []
        before = self._effects()
        for fault in _faults(point):
            self._stack.faults.add(fault)
        task_id = self._create()
        task = self._live_through(task_id)
        runs = read_runs(task, journal=stores.journal())
        return Round(
            point,
            status=task.status,
            effects=self._effects() - before,
            runs=[RunTold(one.status, one.phase, one.mutation.status) for one in runs],
            error=task.last_error,
        )

    def begins_after(self, call: str) -> int:
        """Where the first invocation began after the one that made this call."""
        made = self.heard.index(call)
        return next((begin for begin in self.begins if begin > made), len(self.heard))

    def _create(self) -> str:
        told = {"in": "3m", "description": "a task of the test kit", "sender_id": "kit"}
        created = self._stack.conductor.call(
            lambda: create_task(
                {**told, **self._body},
                services.desk(),
                task_id=NewId(stores.new_id()),
                now=stores.clock().now(),
            )
        )
        return created.task.id

    def _live_through(self, task_id: str) -> Task:
        for by in _TIME_GOES_ON:
            self._stack.advance(by)
            task = stores.task_store().get(task_id)
            if task.status not in _UNDER_WAY:
                break
        return task

    def _begin(self, function: str) -> None:
        if function == WORKER:
            self.begins.append(len(self.heard))

    def _listen(self, function: str, call: str) -> None:
        if function == WORKER:
            self.heard.append(call)


@contextmanager
def _running() -> Iterator[Stack]:
    stack = Stack(manual_clock=True, starts_at=_STARTS_AT)
    stack.start(log_level="CRITICAL")
    try:
        yield stack
    finally:
        stack.stop()


def _points(
    heard: Sequence[str], *, begin: int = 0, only: Collection[str] | None = None
) -> list[Point]:
    """Before and after each call from there on."""
    times: Counter[str] = Counter()
    found = []
    for place, call in enumerate(heard):
        times[call] += 1
        if place >= begin and (only is None or call in only):
            found += [Point(call, times[call], when) for when in ("before", "after")]
    return found


def _faults(point: Point | None) -> Iterator[Fault]:
    while point is not None:
        yield Fault(point.call, function=WORKER, when=point.when, nth=point.nth)
        point = point.then


def _said_of(plain: Round) -> str:
    error = f": {plain.error}" if plain.error else ""
    return (
        f"without any crash the task ended as {plain.status}, its effect happened "
        f"{plain.effects} times{error}"
    )
