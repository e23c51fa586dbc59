"""One attempt at a task: put off, claimed, a phase further, done. Failures: `failed_attempt`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.errors import IllegalMoveError
from duecourse.domain.lifecycle.advance_series import missed, next_occurrence, waited_too_long_for
from duecourse.domain.lifecycle.spec_review import was_reviewed
from duecourse.domain.origin import Effect
from duecourse.domain.tasks.handler import Manner
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import (
    Followed,
    InDoubt,
    Mutation,
    MutationStatus,
    Phase,
    Reason,
    Run,
    RunStatus,
)
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.instant import to_millisecond

REPORT_MAY_TAKE = timedelta(minutes=2)  # until its queue hands it out once more
_REASON_AFTER = {
    RunStatus.CRASHED: Reason.CRASHED_RECOVERY,
    RunStatus.PAUSED_TRANSIENT: Reason.TRANSIENT,
    RunStatus.PAUSED_BUDGET: Reason.TRANSIENT,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Lease:
    """Who runs the task, until when, and with which code."""

    owner: str
    expires_at: datetime
    handler_version: str


def claimed(task: Task, lease: Lease, manner: Manner, *, at: datetime) -> Task:
    """Take the task for one worker. Where there is nothing to prepare, its effect is recorded as
    in flight by the same write."""
    if task.status is Status.IN_PROGRESS:
        raise IllegalMoveError(task.short_id, task.status, Status.IN_PROGRESS)
    before = run_to_try_again(task)
    reason = _reason(task, before, lease)
    run = Run(
        id=lease.owner,
        attempt=before.attempt + 1 if before else 1,
        retry_of=before.id if before else None,
        reason=reason,
        mutation=Mutation(key=_key(before) or lease.owner),
        nominal_at=before.nominal_at if before else task.nominal_at,
        started_at=at,
        lease_expires_at=lease.expires_at,
        handler_version=lease.handler_version,
        in_doubt=manner.in_doubt,
        emits=manner.emits,
        is_early=_leaves_its_occurrence(task, before),
        follows=followed(task, before, at=at) if before else None,
        waited_for=(before.waited_for if before else None) or waited_too_long_for(task),
        late_since=_late_since(task, before, reason),
    )
    run = _where_it_begins(run, before, manner)
    mine = replace(task, run=run, next_retry_at=None, skipped=None, wait=None)
    return mine.move_to(Status.IN_PROGRESS)


def _late_since(task: Task, before: Run | None, reason: Reason) -> datetime | None:
    """None where it waited for more than its recovery: for a person, or for quiet hours, say."""
    came_by_itself = task.next_retry_at is not None and task.wait is None
    is_recovery = reason is Reason.CRASHED_RECOVERY and came_by_itself
    return before.late_since if before is not None and is_recovery else None


def _leaves_its_occurrence(task: Task, before: Run | None) -> bool:
    """It was asked for ahead of time, or makes up for an occurrence before this one."""
    is_late = before is not None and before.nominal_at < task.nominal_at
    return is_late or task.due_at < task.nominal_at


def _key(before: Run | None) -> str | None:
    """The same for every attempt, but for work that was rejected: it is wanted anew."""
    if before is None or (before.verify_by is not None and not before.is_applied):
        return None
    return before.mutation.key


def _where_it_begins(run: Run, before: Run | None, manner: Manner) -> Run:
    """What was applied is never repeated; what may have been is found out about first."""
    if before is not None and before.is_applied:
        return replace(
            run,
            phase=Phase.EMITTING,
            mutation=before.mutation,
            prepare_result=before.prepare_result,
            is_early=before.is_early,
            is_verified=before.is_verified,
        )
    if before is not None and before.is_indeterminate and manner.in_doubt is not InDoubt.REPEAT:
        doubtful = run.with_mutation(MutationStatus.INDETERMINATE)
        return replace(doubtful, phase=Phase.MUTATING, prepare_result=before.prepare_result)
    return run if manner.prepares else run.in_flight()


def reached(task: Task, run: Run) -> Task:
    """The run came a phase further; that is written down."""
    return replace(task, run=run).move_to(Status.IN_PROGRESS)


def committed(task: Task, result: Any, *, at: datetime) -> Task:
    """The attempt did its work: a one-shot is done, a series goes on to its next occurrence."""
    done = replace(
        task,
        run=running(task).applied(result).committed(at=at),
        delivered_at=at,
        failed_occurrences=0,
        wait=None,
    )
    following = next_occurrence(task, done, at=at)
    return following or replace(done, skipped=missed(task, until=at)).move_to(_done(task))


def parked(task: Task, *, until: datetime, wait: Wait) -> Task:
    """Not now: something it depends on is not there. Nothing was tried, nothing is counted."""
    until = to_millisecond(until)
    next_retry_at = until if task.next_retry_at else None
    deferred = replace(task, due_at=until, next_retry_at=next_retry_at, wait=wait, skipped=None)
    return deferred.move_to(Status.PENDING)


def undelivered(task: Task, error: str, category: str, *, at: datetime) -> Task:
    """Its message died before anybody took it: it is due again, and that costs no retry."""
    due_at = max(task.due_at, at)
    requeued = replace(
        task,
        due_at=due_at,
        next_retry_at=due_at if task.next_retry_at else None,
        last_error=error,
        last_error_category=category,
        skipped=None,
        wait=Wait(WaitReason.REQUEUED),
    )
    return requeued.move_to(Status.PENDING)


def has_vanished(task: Task, *, at: datetime) -> bool:
    """Somebody claimed the task and has not been heard of for the length of a lease.

    Before a person is asked whether its effect has happened, what the worker knew has time to
    arrive: its report may have met a hiccup on the way.
    """
    if task.status is not Status.IN_PROGRESS or task.run is None:
        return task.status is Status.IN_PROGRESS
    run = task.run
    would_ask = run.in_doubt is InDoubt.ASK and run.effect_if_it_died is Effect.UNKNOWN
    return run.lease_expires_at + (REPORT_MAY_TAKE if would_ask else timedelta(0)) <= at


def _done(task: Task) -> Status:
    return Status.DELIVERED if task.is_reminder else Status.COMPLETED


def run_to_try_again(task: Task) -> Run | None:
    """The last run, if it was at this very occurrence and left it undone."""
    run = task.run
    if run is None or run.status is RunStatus.COMMITTED:
        return None
    if _is_to_be_made_up_for(run):
        return run
    if task.repeat is not None and _was_given_up(run) and not _was_approved(run):
        return None  # an early run left its occurrence, and this is it
    is_meant = run.nominal_at == task.nominal_at or _makes_up_for_another(run, task)
    return run if is_meant else None


def _is_to_be_made_up_for(run: Run) -> bool:
    """Somebody found out that its effect, which was in doubt, has not happened. A series may have
    gone on to its next occurrence meanwhile."""
    was_in_doubt = run.status in (RunStatus.CRASHED, RunStatus.PAUSED_RECONCILIATION)
    return was_in_doubt and run.mutation.status is MutationStatus.FAILED


def _makes_up_for_another(run: Run, task: Task) -> bool:
    """It began after its own time, and early all the same: the next occurrence is to come yet."""
    is_late = run.is_early and run.started_at >= run.nominal_at
    return is_late and run.nominal_at < task.nominal_at


def _was_approved(run: Run) -> bool:
    return run.is_verified and run.status is RunStatus.PAUSED_APPROVAL


def _was_given_up(run: Run) -> bool:
    return run.diagnosis is None or run.diagnosis.delay is None


def _was_asked_about(run: Run) -> bool:
    """A person said what became of it: it is recovered from where it was lost."""
    return run.diagnosis is not None and run.diagnosis.action is Action.ASK_PERSON


def _reason(task: Task, before: Run | None, lease: Lease) -> Reason:
    if before is not None:
        is_mended = before.handler_version != lease.handler_version
        if before.status is RunStatus.FAILED_LOGIC and is_mended:
            return Reason.LOGIC_FIX
        if was_reviewed(task):
            return Reason.TRANSIENT  # by itself, however long it waited
        if _was_given_up(before) and not _was_asked_about(before):
            return Reason.USER_RETRY  # nothing more would have been tried by itself
        return _REASON_AFTER.get(before.status, Reason.USER_RETRY)
    if task.run is None:
        return Reason.FIRST
    is_by_the_rule = task.repeat is not None and task.due_at >= task.nominal_at
    return Reason.RECURRENCE if is_by_the_rule else Reason.USER_RETRY


def running(task: Task) -> Run:
    """The run in course. An item that lost its run is treated as if it had just begun."""
    if task.run is not None:
        return task.run
    return Run(
        id=task.id,
        attempt=1,
        reason=Reason.FIRST,
        mutation=Mutation(key=task.id, status=MutationStatus.IN_FLIGHT),
        nominal_at=task.nominal_at,
        started_at=task.due_at,
        lease_expires_at=task.due_at,
        handler_version="unknown",
    )


_MOST_TIMES_AS_LONG = 1.5
_SLACK = timedelta(seconds=30)


def followed(task: Task, before: Run, *, at: datetime) -> Followed | None:
    """None unless the run before failed, and that was counted."""
    note = before.diagnosis
    if before.category is None or note is None or not note.counted:
        return None
    return Followed(
        category=before.category,
        fingerprint=note.fingerprint,
        waited=_waited(task, before, note, at=at),
    )


def _waited(task: Task, before: Run, note: RunDiagnosis, *, at: datetime) -> int | None:
    """None where a review, a person or a server chose the time, or a storm, a breaker or a pause
    came in between: then it is not known what the delay is good for."""
    delay, asked = note.delay, note.retry_after
    if task.next_retry_at is None or delay is None:
        return None
    is_servers = asked is not None and asked >= delay
    latest = (before.ended_at or before.started_at) + delay * _MOST_TIMES_AS_LONG + _SLACK
    if is_servers or at > latest:
        return None
    return round(delay.total_seconds())
