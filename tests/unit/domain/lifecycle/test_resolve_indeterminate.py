"""Resolving an unknown outcome as applied, not_applied or skip."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.errors import InvalidStateError
from duecourse.domain.journal.history import events_between
from duecourse.domain.lifecycle import run_transitions
from duecourse.domain.lifecycle.current_run import retryable_run
from duecourse.domain.lifecycle.resolve_indeterminate import Resolution, resolve_indeterminate
from duecourse.domain.lifecycle.user_actions import cancel, retry, unblock
from duecourse.domain.lifecycle.verification import approve, request_verification
from duecourse.domain.tasks.handler import HandlerCapabilities
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import (
    IndeterminatePolicy,
    Mutation,
    MutationStatus,
    Phase,
    Reason,
    RunStatus,
)
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import fail_task
from tests.support.builders.moments import DAY, HOUR, NOW
from tests.support.builders.runs import a_run, run_of
from tests.support.builders.tasks import a_task, claim_task

LATER = NOW + HOUR
WITHOUT_EMIT = HandlerCapabilities(
    has_prepare=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON
)
WITH_EMIT = HandlerCapabilities(
    has_prepare=True, has_emit=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON
)
PREPARED = {"lamp": 7}


def an_indeterminate_task(
    *, capabilities: HandlerCapabilities = WITHOUT_EMIT, **fields: Any
) -> Task:
    """Return a task whose worker crashed in its mutation; a series is at its next occurrence."""
    run = a_run(
        phase=Phase.MUTATING,
        status=RunStatus.CRASHED,
        mutation=Mutation(idempotency_key="run-1", status=MutationStatus.INDETERMINATE),
        prepare_result=PREPARED,
        indeterminate_policy=capabilities.indeterminate_policy,
        has_emit=capabilities.has_emit,
        ended_at=NOW,
        error="the worker stopped before it could finish, and its lease expired",
        diagnosis=RunDiagnosis(action=Action.ASK_PERSON),
    )
    status = Status.PENDING if fields.get("repeat") else Status.BLOCKED
    due_at = NOW + DAY if fields.get("repeat") else NOW
    defaults: dict[str, Any] = {"type": "lights", "status": status, "run": run, "retry_count": 1}
    defaults |= {"due_at": due_at, "recovery_action": Action.ASK_PERSON}
    return a_task(**{**defaults, **fields})


A_SERIES: dict[str, Any] = {"repeat": "daily", "failed_occurrences": 1, "retry_count": 0}


def event_types(old: Task, new: Task) -> list[str]:
    return [event.type for event in events_between(old, new, at=LATER)]


# Applied


def test_an_applied_task_is_completed() -> None:
    task = resolve_indeterminate(an_indeterminate_task(), Resolution.APPLIED, at=LATER)
    assert (task.status, task.delivered_at) == (Status.COMPLETED, LATER)
    assert (run_of(task).phase, run_of(task).mutation.status) == (
        *(Phase.MUTATED, MutationStatus.APPLIED),
    )
    assert run_of(task).prepare_result == PREPARED


def test_an_applied_task_with_emit_is_due_at_once() -> None:
    task = resolve_indeterminate(
        an_indeterminate_task(capabilities=WITH_EMIT), Resolution.APPLIED, at=LATER
    )
    assert (task.status, task.due_at, task.retry_count) == (Status.PENDING, LATER, 1)


def test_the_run_that_emits_does_not_repeat_the_mutation() -> None:
    task = resolve_indeterminate(
        an_indeterminate_task(capabilities=WITH_EMIT), Resolution.APPLIED, at=LATER
    )
    run = run_of(claim_task(task, "run-2", at=LATER, capabilities=WITH_EMIT))
    assert (run.phase, run.mutation.status) == (Phase.EMITTING, MutationStatus.APPLIED)
    assert (run.retry_of, run.prepare_result) == ("run-1", PREPARED)


@pytest.mark.parametrize("capabilities", [WITHOUT_EMIT, WITH_EMIT])
def test_an_applied_occurrence_leaves_the_series_on_schedule(
    capabilities: HandlerCapabilities,
) -> None:
    before = an_indeterminate_task(capabilities=capabilities, **A_SERIES)
    task = resolve_indeterminate(before, Resolution.APPLIED, at=LATER)
    assert (task.status, task.due_at, task.nominal_at) == (
        *(Status.PENDING, before.due_at, before.nominal_at),
    )
    assert (task.failed_occurrences, run_of(task).is_applied) == (0, True)


# Not applied


@pytest.mark.parametrize("capabilities", [WITHOUT_EMIT, WITH_EMIT])
def test_a_task_not_applied_is_due_now_and_keeps_its_retry_count(
    capabilities: HandlerCapabilities,
) -> None:
    task = resolve_indeterminate(
        an_indeterminate_task(capabilities=capabilities), Resolution.NOT_APPLIED, at=LATER
    )
    assert (task.status, task.due_at, task.retry_count) == (Status.PENDING, LATER, 1)
    assert run_of(task).mutation.status is MutationStatus.FAILED


def test_the_new_run_starts_over_with_the_same_idempotency_key() -> None:
    task = resolve_indeterminate(an_indeterminate_task(), Resolution.NOT_APPLIED, at=LATER)
    run = run_of(claim_task(task, "run-2", at=LATER, capabilities=WITHOUT_EMIT))
    assert (run.phase, run.mutation) == (Phase.PREPARING, Mutation(idempotency_key="run-1"))
    assert (run.retry_of, run.attempt, run.prepare_result) == ("run-1", 2, None)
    assert run.reason is Reason.CRASHED_RECOVERY


def test_a_series_runs_a_not_applied_occurrence_now_and_keeps_its_next_one() -> None:
    task = resolve_indeterminate(
        an_indeterminate_task(**A_SERIES), Resolution.NOT_APPLIED, at=LATER
    )
    assert (task.due_at, task.nominal_at) == (LATER, NOW + DAY)
    assert run_of(claim_task(task, "run-2", at=LATER, capabilities=WITHOUT_EMIT)).is_early


# Skip


@pytest.mark.parametrize("capabilities", [WITHOUT_EMIT, WITH_EMIT])
def test_a_skipped_task_is_cancelled(capabilities: HandlerCapabilities) -> None:
    task = resolve_indeterminate(
        an_indeterminate_task(capabilities=capabilities), Resolution.SKIP, at=LATER
    )
    assert (task.status, task.closed_at) == (Status.CANCELLED, LATER)
    assert (run_of(task).status, run_of(task).is_indeterminate) == (RunStatus.CANCELLED, True)


def test_a_series_continues_after_a_skipped_occurrence() -> None:
    before = an_indeterminate_task(**A_SERIES)
    task = resolve_indeterminate(before, Resolution.SKIP, at=LATER)
    assert (task.status, task.due_at) == (Status.PENDING, before.due_at)
    assert run_of(task).status is RunStatus.CANCELLED
    assert retryable_run(task) is None


# Every resolution


@pytest.mark.parametrize("resolution", Resolution)
@pytest.mark.parametrize("fields", [{}, A_SERIES])
def test_a_resolution_adds_one_version_and_clears_retry_and_wait(
    fields: dict[str, Any], resolution: Resolution
) -> None:
    before = an_indeterminate_task(**fields)
    task = resolve_indeterminate(before, resolution, at=LATER)
    assert (task.version, task.next_retry_at, task.wait) == (before.version + 1, None, None)


@pytest.mark.parametrize("resolution", Resolution)
def test_a_resolution_time_is_rounded_down_to_milliseconds(resolution: Resolution) -> None:
    task = resolve_indeterminate(
        an_indeterminate_task(), resolution, at=LATER + timedelta(microseconds=999)
    )
    moments = {moment for moment in (task.delivered_at, task.closed_at) if moment} or {task.due_at}
    assert moments == {LATER}


@pytest.mark.parametrize(
    "resolution",
    [Resolution.SKIP, Resolution.APPLIED, Resolution.NOT_APPLIED],
)
@pytest.mark.parametrize("capabilities", [WITHOUT_EMIT, WITH_EMIT])
def test_a_task_can_be_resolved_only_once(
    capabilities: HandlerCapabilities, resolution: Resolution
) -> None:
    task = resolve_indeterminate(
        an_indeterminate_task(capabilities=capabilities), resolution, at=LATER
    )
    with pytest.raises(InvalidStateError, match="it has no unknown outcome to resolve"):
        resolve_indeterminate(task, Resolution.APPLIED, at=LATER)


@pytest.mark.parametrize(
    ("capabilities", "resolution", "expected"),
    [
        (WITHOUT_EMIT, Resolution.APPLIED, ["task:resolved", "task:completed"]),
        (WITH_EMIT, Resolution.APPLIED, ["task:resolved"]),
        (WITHOUT_EMIT, Resolution.NOT_APPLIED, ["task:resolved"]),
        (WITHOUT_EMIT, Resolution.SKIP, ["task:resolved", "task:cancelled"]),
    ],
)
def test_a_resolution_and_its_consequence_are_recorded_as_events(
    capabilities: HandlerCapabilities, resolution: Resolution, expected: list[str]
) -> None:
    before = an_indeterminate_task(capabilities=capabilities)
    assert event_types(before, resolve_indeterminate(before, resolution, at=LATER)) == expected


@pytest.mark.parametrize("resolution", Resolution)
@pytest.mark.parametrize("fields", [{}, A_SERIES])
def test_resolution_events_carry_the_time_of_the_resolution(
    fields: dict[str, Any], resolution: Resolution
) -> None:
    """The events do not carry the time at which the run ended."""
    before = an_indeterminate_task(**fields)
    events = events_between(before, resolve_indeterminate(before, resolution, at=LATER), at=LATER)
    assert {event.at for event in events} == {LATER}


# Nothing to resolve


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.BLOCKED}))
def test_only_a_blocked_task_can_be_resolved(status: Status) -> None:
    task = replace(an_indeterminate_task(), status=status)
    with pytest.raises(
        InvalidStateError, match=f"is {status}: it has no unknown outcome to resolve"
    ):
        resolve_indeterminate(task, Resolution.APPLIED, at=LATER)


@pytest.mark.parametrize("mutation", sorted(set(MutationStatus) - {MutationStatus.INDETERMINATE}))
@pytest.mark.parametrize("fields", [{}, A_SERIES])
def test_a_known_effect_cannot_be_resolved(
    fields: dict[str, Any], mutation: MutationStatus
) -> None:
    task = an_indeterminate_task(**fields)
    task_with_known_outcome = replace(task, run=run_of(task).with_mutation_status(mutation))
    with pytest.raises(InvalidStateError, match="it has no unknown outcome to resolve"):
        resolve_indeterminate(task_with_known_outcome, Resolution.NOT_APPLIED, at=LATER)


def test_a_task_that_never_ran_cannot_be_resolved() -> None:
    with pytest.raises(InvalidStateError):
        resolve_indeterminate(a_task(status=Status.BLOCKED), Resolution.SKIP, at=LATER)


def test_a_series_with_a_pending_retry_cannot_be_resolved() -> None:
    task = an_indeterminate_task(**A_SERIES, next_retry_at=LATER)
    with pytest.raises(InvalidStateError):
        resolve_indeterminate(task, Resolution.APPLIED, at=LATER)


# Other actions on an indeterminate task


@pytest.mark.parametrize("user_action", [retry, unblock])
@pytest.mark.parametrize("capabilities", [WITHOUT_EMIT, WITH_EMIT])
def test_an_indeterminate_task_must_be_resolved_before_a_retry(
    capabilities: HandlerCapabilities, user_action: Callable[..., Task]
) -> None:
    with pytest.raises(
        InvalidStateError, match="resolve it first, as applied, not_applied or skip"
    ):
        user_action(an_indeterminate_task(capabilities=capabilities), at=LATER)


@pytest.mark.parametrize("user_action", [retry, unblock])
def test_a_task_blocked_for_another_reason_can_be_retried(user_action: Callable[..., Task]) -> None:
    task = an_indeterminate_task()
    task_with_known_outcome = replace(
        task, run=run_of(task).with_mutation_status(MutationStatus.FAILED)
    )
    assert user_action(task_with_known_outcome, at=LATER).status is Status.PENDING


def test_an_indeterminate_task_can_be_cancelled() -> None:
    assert cancel(an_indeterminate_task(), at=LATER).status is Status.CANCELLED


# Make-up runs of a series


def claim_make_up_run(**fields: Any) -> Task:
    """Resolve the occurrence of NOW as not applied, and claim its make-up run."""
    task = resolve_indeterminate(
        an_indeterminate_task(capabilities=WITH_EMIT, **A_SERIES, **fields),
        Resolution.NOT_APPLIED,
        at=LATER,
    )
    return claim_task(task, "run-2", at=LATER, capabilities=WITH_EMIT)


def test_a_make_up_run_is_linked_to_the_not_applied_occurrence() -> None:
    run = run_of(claim_make_up_run())
    assert (run.retry_of, run.attempt, run.mutation.idempotency_key) == ("run-1", 2, "run-1")
    assert (run.nominal_at, run.reason) == (NOW, Reason.CRASHED_RECOVERY)


def test_the_next_occurrence_is_kept_and_gets_its_own_run() -> None:
    task = run_transitions.commit(claim_make_up_run(), None, at=LATER)
    assert (task.status, task.due_at, task.nominal_at) == (Status.PENDING, NOW + DAY, NOW + DAY)
    run = run_of(claim_task(task, "run-3", at=NOW + DAY, capabilities=WITH_EMIT))
    assert (run.retry_of, run.attempt, run.mutation.idempotency_key) == (None, 1, "run-3")
    assert run.nominal_at == NOW + DAY


def test_a_make_up_run_that_only_has_to_emit_does_not_repeat_its_mutation() -> None:
    running = claim_make_up_run(policy="omega")
    applied = replace(running, run=run_of(running).mark_applied("lit"))
    pending_retry = fail_task(applied, at=LATER)
    assert pending_retry.next_retry_at is not None
    run = run_of(
        claim_task(pending_retry, "run-3", at=pending_retry.due_at, capabilities=WITH_EMIT)
    )
    assert (run.phase, run.retry_of, run.mutation.idempotency_key) == (
        Phase.EMITTING,
        "run-2",
        "run-1",
    )
    assert run.nominal_at == NOW


def test_a_failed_make_up_run_is_retried_with_its_idempotency_key() -> None:
    pending_retry = fail_task(claim_make_up_run(policy="omega"), at=LATER)
    run = run_of(
        claim_task(pending_retry, "run-3", at=pending_retry.due_at, capabilities=WITH_EMIT)
    )
    assert (run.retry_of, run.attempt, run.mutation.idempotency_key) == ("run-2", 3, "run-1")


def test_an_approved_make_up_run_does_not_repeat_its_mutation() -> None:
    applied = request_verification(
        claim_make_up_run(verify=True), "lit", at=LATER, verify_until=LATER + DAY
    )
    task = approve(applied, at=LATER)
    run = run_of(claim_task(task, "run-3", at=LATER, capabilities=WITH_EMIT))
    assert (run.phase, run.retry_of, run.is_applied) == (Phase.EMITTING, "run-2", True)


def test_a_late_make_up_run_keeps_the_next_occurrence() -> None:
    pending_retry = fail_task(claim_make_up_run(policy="omega"), at=NOW + DAY)
    late_run = claim_task(pending_retry, "run-3", at=pending_retry.due_at, capabilities=WITH_EMIT)
    after = run_transitions.commit(late_run, None, at=pending_retry.due_at)
    assert (after.due_at, after.nominal_at) == (NOW + DAY, NOW + DAY)


def test_a_make_up_run_that_gave_up_is_not_retryable() -> None:
    task = fail_task(claim_make_up_run(policy="omega", max_retries=1), at=LATER)
    assert (task.status, task.due_at, retryable_run(task)) == (*(Status.PENDING, NOW + DAY, None),)


# Paused, verified and idempotent tasks


def test_a_paused_series_rejects_not_applied() -> None:
    with pytest.raises(InvalidStateError, match="is paused: resume it first"):
        resolve_indeterminate(
            an_indeterminate_task(paused=True, **A_SERIES), Resolution.NOT_APPLIED, at=LATER
        )


@pytest.mark.parametrize("resolution", [Resolution.APPLIED, Resolution.SKIP])
def test_a_paused_series_stays_paused_after_a_resolution(resolution: Resolution) -> None:
    assert resolve_indeterminate(
        an_indeterminate_task(paused=True, **A_SERIES), resolution, at=LATER
    ).paused


def test_an_applied_task_with_verify_continues_to_verification() -> None:
    task = resolve_indeterminate(an_indeterminate_task(verify=True), Resolution.APPLIED, at=LATER)
    assert (task.status, task.due_at, task.delivered_at) == (Status.PENDING, LATER, None)
    run = run_of(claim_task(task, "run-2", at=LATER, capabilities=WITHOUT_EMIT))
    assert (run.is_applied, run.is_verified) == (True, False)


@pytest.mark.parametrize("user_action", [retry, unblock])
def test_an_idempotent_task_can_be_retried_without_a_resolution(
    user_action: Callable[..., Task],
) -> None:
    task = an_indeterminate_task(capabilities=HandlerCapabilities(has_prepare=True))
    assert (run_of(task).is_indeterminate, task.status) == (True, Status.BLOCKED)
    assert user_action(task, at=LATER).status is Status.PENDING
