"""Run one attempt through its phases: prepare, mutate and emit.

The runner stores only what recovery needs: a marker before the effect begins and, if more phases
follow, the result of the effect. docs/handlers.md says what a crash at each point leads to.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from duecourse.domain.errors import (
    ChannelUnauthorizedError,
    DuecourseError,
    LeaseLostError,
    NotAttemptedError,
    NotRecordedError,
    ResultTooLargeError,
    StaleTaskError,
    SubjectPermanentlyFailedError,
    UnresolvedEffectError,
)
from duecourse.domain.failures.error_origin import effect_of, origin_of
from duecourse.domain.lifecycle.current_run import current_run
from duecourse.domain.lifecycle.lease import OutlivedLeaseError
from duecourse.domain.lifecycle.run_transitions import advance
from duecourse.domain.origin import Effect
from duecourse.domain.tasks.handler import Applied, Handler, RunContext, Unknown, capabilities_of
from duecourse.domain.tasks.run import Mutation, Phase, ProviderCall, Run
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.usecases.runs.checked_json import checked_json, json_size

if TYPE_CHECKING:
    from duecourse.domain.failures.failure_report import FailureReport
    from duecourse.domain.failures.subject import Subject
    from duecourse.ports.runtime import Clock
    from duecourse.ports.tasks import TaskStore

MAX_RESULT_SIZE = 300 * 1024
_MAX_REPORTED_SIZE = 150_000  # an SQS message holds 256 KB, the failure included
_MAX_STORED_SIZE = 350_000  # a DynamoDB item holds 400 KB, the rest of the task included


@dataclass(frozen=True, kw_only=True)
class FinishedPhases:
    """What a run that finished its phases hands over to be saved.

    `task`: the task as last saved. `run`: its run as it is to be saved. `call`: the provider call
    that this attempt made. `needs_verification`: `emit` is still to run, after the verification.
    """

    task: Task
    run: Run
    result: Any
    call: ProviderCall | None
    needs_verification: bool

    @property
    def updated_task(self) -> Task:
        return replace(self.task, run=self.run)


class PhaseRunner:
    """Runs the phases of one claimed task: `run` once, then `failure_report` if anything failed.

    `_task` is the task as last saved, `_run` its run in memory, and `_effect` whether the effect
    has happened. They stay valid after an error and say how far the attempt came.
    """

    def __init__(
        self, task: Task, handler: Handler, *, store: TaskStore, clock: Clock, deadline: datetime
    ) -> None:
        run = current_run(task)
        is_resumed = run.is_applied or run.is_indeterminate
        self._task = task
        self._run = run
        self._effect = run.effect_after_crash if is_resumed else Effect.NONE
        self._context = RunContext(
            task=task,
            idempotency_key=run.mutation.idempotency_key,
            attempt=run.attempt,
            run_id=run.id,
            deadline=min(deadline, run.lease_expires_at),
            prepared=run.prepare_result,
            result=run.mutation.result,
        )
        self._is_finished = False
        self._handler = handler
        self._store = store
        self._clock = clock

    def run(self, subject: Subject | None) -> FinishedPhases:
        """Run the phases that are left. Without verification, that includes `emit`.

        Raises whatever the handler raises, SubjectPermanentlyFailedError if `subject` was given up
        before the effect happened, and StaleTaskError if another worker holds the task now.
        """
        if subject is not None and subject.is_given_up and self._effect is Effect.NONE:
            raise SubjectPermanentlyFailedError(subject.id, subject.last_error_category)
        self._run_mutation()
        needs_verification = self._task.verify and not self._run.is_verified
        if not needs_verification:
            self._run_emit()
            self._is_finished = True
        return FinishedPhases(
            task=self._task,
            run=replace(self._run, call=self._context.call or self._run.call),
            result=self._context.result,
            call=self._context.call,
            needs_verification=needs_verification,
        )

    def failure_report(self, error: Exception) -> FailureReport:
        """Return the report of `error`, which the phases or the commit of their result raised.

        Raises ResultTooLargeError if the report would have to carry a result that no message can
        hold. Then no report is sent and the lease expires, rather than losing the result silently.
        """
        # Loaded by the first failure: a cold start does without.
        from duecourse.domain.failures.failure import Failure
        from duecourse.domain.failures.failure_report import FailureReport

        failed_at = truncate_to_millisecond(self._clock.now())
        is_unsaved = isinstance(error, NotRecordedError)
        return FailureReport(
            task_id=self._task.id,
            run_id=self._run.id,
            failure=Failure.from_exception(error, phase=str(self._run.phase), at=failed_at),
            failed_at=failed_at,
            origin=origin_of(error),
            effect=self._effect,
            call=self._context.call,
            result=self._unsaved_result() if is_unsaved else None,
            started_at=self._run.started_at,
            is_finished=is_unsaved and self._is_finished,
            is_over_budget=isinstance(error, DuecourseError) and error.is_over_budget,
            is_wait_expired=isinstance(error, DuecourseError) and error.is_wait_expired,
            refused_channel=error.channel if isinstance(error, ChannelUnauthorizedError) else None,
        )

    def lease_lost(self) -> DuecourseError:
        """Return the error to report if another process has ended this run meanwhile."""
        if self._effect is Effect.APPLIED and self._run.is_applied:
            return NotRecordedError(OutlivedLeaseError())
        return LeaseLostError(self._task.short_id)

    def _unsaved_result(self) -> Any:
        if self._effect is not Effect.APPLIED or not self._run.is_applied:
            return None
        size = json_size(self._context.result)
        if size > _MAX_REPORTED_SIZE:
            raise ResultTooLargeError("result", size, _MAX_REPORTED_SIZE)
        return self._context.result

    def _run_mutation(self) -> None:
        """Run `prepare` and `mutate`, unless already done. On return the effect is applied."""
        if self._run.is_indeterminate:
            self._reconcile()
        if self._run.phase is Phase.PREPARING:
            prepared = self._handler.prepare(self._context)
            self._context.prepared = checked_json(
                "prepared result", prepared, self._max_result_size
            )
        if not self._run.is_applied:
            self._mutate()

    def _run_emit(self) -> None:
        """Run `emit`. The mutation's result is stored first, so a retry resumes here."""
        if not capabilities_of(self._handler, self._task).has_emit:
            return
        if self._run.phase is not Phase.EMITTING:
            self._save_run(replace(self._run, phase=Phase.EMITTING), NotRecordedError)
        self._handler.emit(self._context)

    @property
    def _max_result_size(self) -> int:
        return min(MAX_RESULT_SIZE, _MAX_STORED_SIZE - json_size(dict(self._task.payload)))

    def _reconcile(self) -> None:
        """Ask the handler whether the effect of an interrupted attempt happened.

        If it did, record its result. If it did not, or the handler is idempotent, start over. Else
        raise UnresolvedEffectError.
        """
        finding = self._handler.reconcile(self._context)
        if isinstance(finding, Applied):
            self._record_applied(finding.result)
        elif isinstance(finding, Unknown) and not self._handler.is_idempotent(self._task):
            raise UnresolvedEffectError(self._task.short_id)
        else:
            fresh = Mutation(idempotency_key=self._run.mutation.idempotency_key)
            self._run = replace(
                self._run, phase=Phase.PREPARING, mutation=fresh, prepare_result=None
            )
            self._effect = Effect.NONE

    def _mutate(self) -> None:
        try:
            self._mark_in_flight()
        except (NotAttemptedError, LeaseLostError, StaleTaskError):
            self._handler.release(self._context)
            raise
        try:
            result = self._handler.mutate(self._context)
        except Exception as error:
            self._effect = effect_of(error)
            raise
        self._record_applied(result)

    def _mark_in_flight(self) -> None:
        """Store that the effect is about to begin. Raises LeaseLostError if the lease is over."""
        in_flight = self._run.mark_in_flight(self._context.prepared)
        if in_flight != self._run:
            self._save_run(in_flight, NotAttemptedError)
        if self._clock.now() >= self._run.lease_expires_at:
            raise LeaseLostError(self._task.short_id)

    def _record_applied(self, result: Any) -> None:
        self._effect = Effect.APPLIED
        self._context.result = checked_json(
            "result", result, self._max_result_size - json_size(self._context.prepared)
        )
        self._run = self._run.mark_applied(self._context.result)

    def _save_run(self, run: Run, error_class: type[NotAttemptedError | NotRecordedError]) -> None:
        after = advance(self._task, run)
        with store_errors_as(error_class):
            self._store.save(self._task, after)
        self._task, self._run = after, run


@contextmanager
def store_errors_as(error_class: type[NotAttemptedError | NotRecordedError]) -> Iterator[None]:
    """Raise errors of the body as `error_class`, which says what they mean for the effect.

    StaleTaskError passes through: the lease was lost and another worker holds the task.
    """
    try:
        yield
    except StaleTaskError:
        raise
    except Exception as error:
        raise error_class(error) from error
