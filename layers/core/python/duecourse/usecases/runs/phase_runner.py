"""The phase engine: one attempt walks through prepare, mutate and emit.

It writes only what recovery needs: that the effect is in flight before it begins, and its result
after it where something is still to do. docs/handlers.md tells what becomes of a crash at each
point.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from typing import Any

from duecourse.domain.errors import (
    LeaseLostError,
    NotAttemptedError,
    NotJsonError,
    NotRecordedError,
    ResultTooLargeError,
    StaleTaskError,
    StillInDoubtError,
)
from duecourse.domain.lifecycle.run_transitions import reached, running
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.tasks.handler import Applied, Handler, Unknown, Work, manner_of
from duecourse.domain.tasks.run import Mutation, Phase, Run
from duecourse.domain.tasks.task import Task
from duecourse.ports.runtime import Clock
from duecourse.ports.tasks import TaskStore

RESULTS_LIMIT = 300 * 1024
_REPORTED_LIMIT = 150_000  # a message may have 256 KB, and holds the failure as well
_ROOM_WITH_PAYLOAD = 350_000  # an item may have 400 KB, and a task is more than these
# These say that the handler's own code is wrong: to try it again changes nothing.
_BUGS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    NotImplementedError,
    RecursionError,
    TypeError,
)


class Attempt:
    """One walk through the phases. How far it came is told also where it breaks off.

    `task` is as last written, `run` as it stands by now; `effect` whether it has happened.
    """

    def __init__(
        self, task: Task, handler: Handler, *, store: TaskStore, clock: Clock, deadline: datetime
    ) -> None:
        run = running(task)
        is_resumed = run.is_applied or run.is_indeterminate
        self.task = task
        self.run = run
        self.effect = run.effect_if_it_died if is_resumed else Effect.NONE
        self.work = Work(
            task=task,
            key=run.mutation.key,
            attempt=run.attempt,
            run_id=run.id,
            deadline=min(deadline, run.lease_expires_at),
            prepared=run.prepare_result,
            result=run.mutation.result,
        )
        self._handler = handler
        self._store = store
        self._clock = clock

    def bring_about(self) -> None:
        """Up to the effect, which has happened once when this returns."""
        if self.run.is_indeterminate:
            self._find_out()
        if self.run.phase is Phase.PREPARING:
            prepared = self._handler.prepare(self.work)
            self.work.prepared = _kept("prepared result", prepared, self._room)
        if not self.run.is_applied:
            self._mutate()

    def tell_others(self) -> None:
        """What follows from the effect. Its result is safe before: a retry begins here."""
        if not manner_of(self._handler, self.task).emits:
            return
        if self.run.phase is not Phase.EMITTING:
            self._write(replace(self.run, phase=Phase.EMITTING), NotRecordedError)
        self._handler.emit(self.work)

    @property
    def result_to_report(self) -> Any:
        """Of work that was done, but may not have been written down.

        Raises ResultTooLargeError where a message cannot hold it: then nothing is reported, and
        the run counts as lost, rather than its result without a word.
        """
        if self.effect is not Effect.APPLIED or not self.run.is_applied:
            return None
        size = _size(self.work.result)
        if size > _REPORTED_LIMIT:
            raise ResultTooLargeError("result", size, _REPORTED_LIMIT)
        return self.work.result

    @property
    def _room(self) -> int:
        return min(RESULTS_LIMIT, _ROOM_WITH_PAYLOAD - _size(dict(self.task.payload)))

    def _find_out(self) -> None:
        """An earlier attempt was lost while its effect was in flight."""
        finding = self._handler.reconcile(self.work)
        if isinstance(finding, Applied):
            self._apply(finding.result)
        elif isinstance(finding, Unknown) and not self._handler.is_harmless(self.task):
            raise StillInDoubtError(self.task.short_id)
        else:
            fresh = Mutation(key=self.run.mutation.key)
            self.run = replace(self.run, phase=Phase.PREPARING, mutation=fresh, prepare_result=None)
            self.effect = Effect.NONE

    def _mutate(self) -> None:
        try:
            self._begin()
        except (NotAttemptedError, LeaseLostError, StaleTaskError):
            self._handler.let_go(self.work)
            raise
        try:
            result = self._handler.mutate(self.work)
        except Exception as error:
            self.effect = effect_left_by(error)
            raise
        self._apply(result)

    def _begin(self) -> None:
        in_flight = self.run.in_flight(self.work.prepared)
        if in_flight != self.run:
            self._write(in_flight, NotAttemptedError)
        if self._clock.now() >= self.run.lease_expires_at:
            raise LeaseLostError(self.task.short_id)

    def _apply(self, result: Any) -> None:
        self.effect = Effect.APPLIED
        self.work.result = _kept("result", result, self._room - _size(self.work.prepared))
        self.run = self.run.applied(self.work.result)

    def _write(self, run: Run, error_class: type[NotAttemptedError | NotRecordedError]) -> None:
        """A lost lease raises StaleTaskError: whoever took over has the say."""
        after = reached(self.task, run)
        try:
            self._store.save(self.task, after)
        except StaleTaskError:
            raise
        except Exception as error:
            raise error_class(error) from error
        self.task, self.run = after, run


def origin_of(error: Exception) -> Origin:
    """Errors that tell of somebody else's have a type of their own: they are no bugs of ours."""
    known = getattr(error, "origin", None)
    if isinstance(known, Origin):
        return known
    is_bug = isinstance(error, _BUGS) and not hasattr(error, "type")
    return Origin.LOGIC if is_bug else Origin.WORK


def effect_left_by(error: Exception) -> Effect:
    """A handler that fails says that nothing happened, unless it says otherwise. Code that broke
    off in the middle, or waited in vain, cannot know."""
    said = getattr(error, "effect", None)
    if isinstance(said, Effect):
        return said
    is_open = isinstance(error, TimeoutError) or origin_of(error) is Origin.LOGIC
    return Effect.UNKNOWN if is_open else Effect.NONE


def _kept(name: str, value: Any, room: int) -> Any:
    """As it will be read again: what is no JSON, or too much, is refused before it is written."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJsonError(name, error) from error
    if len(text) > room:
        raise ResultTooLargeError(name, len(text), room)
    return json.loads(text)


def _size(value: Any) -> int:
    return len(json.dumps(value))
