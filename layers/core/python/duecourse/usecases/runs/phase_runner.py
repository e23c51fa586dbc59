"""Run one attempt through its phases: prepare, mutate and emit.

The runner stores only what recovery needs: a marker before the effect begins and, if more phases
follow, the result of the effect. docs/handlers.md says what a crash at each point leads to.
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
    UnresolvedEffectError,
)
from duecourse.domain.lifecycle.run_transitions import advance, current_run
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.tasks.handler import Applied, Handler, RunContext, Unknown, capabilities_of
from duecourse.domain.tasks.run import Mutation, Phase, Run
from duecourse.domain.tasks.task import Task
from duecourse.ports.runtime import Clock
from duecourse.ports.tasks import TaskStore

MAX_RESULT_SIZE = 300 * 1024
_MAX_REPORTED_SIZE = 150_000  # an SQS message holds 256 KB, the failure included
_MAX_STORED_SIZE = 350_000  # a DynamoDB item holds 400 KB, the rest of the task included
# These mean a bug in the handler's code, which a retry does not fix.
_BUG_EXCEPTIONS = (
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


class PhaseRunner:
    """One attempt. Its attributes stay valid after an error and say how far the attempt came.

    `task` is the task as last saved, `run` its current state in memory, and `effect` whether the
    effect has happened.
    """

    def __init__(
        self, task: Task, handler: Handler, *, store: TaskStore, clock: Clock, deadline: datetime
    ) -> None:
        run = current_run(task)
        is_resumed = run.is_applied or run.is_indeterminate
        self.task = task
        self.run = run
        self.effect = run.effect_after_crash if is_resumed else Effect.NONE
        self.context = RunContext(
            task=task,
            idempotency_key=run.mutation.idempotency_key,
            attempt=run.attempt,
            run_id=run.id,
            deadline=min(deadline, run.lease_expires_at),
            prepared=run.prepare_result,
            result=run.mutation.result,
        )
        self._handler = handler
        self._store = store
        self._clock = clock

    def run_mutation(self) -> None:
        """Run `prepare` and `mutate`, unless already done. On return the effect is applied."""
        if self.run.is_indeterminate:
            self._reconcile()
        if self.run.phase is Phase.PREPARING:
            prepared = self._handler.prepare(self.context)
            self.context.prepared = _checked_json(
                "prepared result", prepared, self._max_result_size
            )
        if not self.run.is_applied:
            self._mutate()

    def run_emit(self) -> None:
        """Run `emit`. The mutation's result is stored first, so a retry resumes here."""
        if not capabilities_of(self._handler, self.task).has_emit:
            return
        if self.run.phase is not Phase.EMITTING:
            self._save_run(replace(self.run, phase=Phase.EMITTING), NotRecordedError)
        self._handler.emit(self.context)

    @property
    def result_to_report(self) -> Any:
        """Return the result of an applied effect, for the failure report; else None.

        Raises ResultTooLargeError if a message cannot hold it. Then no report is sent and the lease
        expires, rather than losing the result silently.
        """
        if self.effect is not Effect.APPLIED or not self.run.is_applied:
            return None
        size = _json_size(self.context.result)
        if size > _MAX_REPORTED_SIZE:
            raise ResultTooLargeError("result", size, _MAX_REPORTED_SIZE)
        return self.context.result

    @property
    def _max_result_size(self) -> int:
        return min(MAX_RESULT_SIZE, _MAX_STORED_SIZE - _json_size(dict(self.task.payload)))

    def _reconcile(self) -> None:
        """Ask the handler whether the effect of an interrupted attempt happened.

        If it did, record its result. If it did not, or the handler is idempotent, start over. Else
        raise UnresolvedEffectError.
        """
        finding = self._handler.reconcile(self.context)
        if isinstance(finding, Applied):
            self._record_applied(finding.result)
        elif isinstance(finding, Unknown) and not self._handler.is_idempotent(self.task):
            raise UnresolvedEffectError(self.task.short_id)
        else:
            fresh = Mutation(idempotency_key=self.run.mutation.idempotency_key)
            self.run = replace(self.run, phase=Phase.PREPARING, mutation=fresh, prepare_result=None)
            self.effect = Effect.NONE

    def _mutate(self) -> None:
        try:
            self._mark_in_flight()
        except (NotAttemptedError, LeaseLostError, StaleTaskError):
            self._handler.release(self.context)
            raise
        try:
            result = self._handler.mutate(self.context)
        except Exception as error:
            self.effect = effect_of(error)
            raise
        self._record_applied(result)

    def _mark_in_flight(self) -> None:
        """Store that the effect is about to begin. Raises LeaseLostError if the lease is over."""
        in_flight = self.run.mark_in_flight(self.context.prepared)
        if in_flight != self.run:
            self._save_run(in_flight, NotAttemptedError)
        if self._clock.now() >= self.run.lease_expires_at:
            raise LeaseLostError(self.task.short_id)

    def _record_applied(self, result: Any) -> None:
        self.effect = Effect.APPLIED
        self.context.result = _checked_json(
            "result", result, self._max_result_size - _json_size(self.context.prepared)
        )
        self.run = self.run.mark_applied(self.context.result)

    def _save_run(self, run: Run, error_class: type[NotAttemptedError | NotRecordedError]) -> None:
        """Save `run`, wrapping errors in `error_class`.

        StaleTaskError passes through: the lease was lost and another worker holds the task.
        """
        after = advance(self.task, run)
        try:
            self._store.save(self.task, after)
        except StaleTaskError:
            raise
        except Exception as error:
            raise error_class(error) from error
        self.task, self.run = after, run


def origin_of(error: Exception) -> Origin:
    """Return the error's own `origin`, else LOGIC for a bug in the handler, else WORK.

    An error with a `type` attribute reports somebody else's error, so it is no bug of the handler.
    """
    known = getattr(error, "origin", None)
    if isinstance(known, Origin):
        return known
    is_bug = isinstance(error, _BUG_EXCEPTIONS) and not hasattr(error, "type")
    return Origin.LOGIC if is_bug else Origin.WORK


def effect_of(error: Exception) -> Effect:
    """Return the error's own `effect`, else UNKNOWN for a timeout or a bug, else NONE."""
    said = getattr(error, "effect", None)
    if isinstance(said, Effect):
        return said
    is_open = isinstance(error, TimeoutError) or origin_of(error) is Origin.LOGIC
    return Effect.UNKNOWN if is_open else Effect.NONE


def _checked_json(name: str, value: Any, max_size: int) -> Any:
    """Return `value` as it will be read back from JSON.

    Raises NotJsonError or ResultTooLargeError before anything is written.
    """
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJsonError(name, error) from error
    if len(text) > max_size:
        raise ResultTooLargeError(name, len(text), max_size)
    return json.loads(text)


def _json_size(value: Any) -> int:
    return len(json.dumps(value))
