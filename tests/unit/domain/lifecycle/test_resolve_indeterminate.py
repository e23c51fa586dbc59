"""An effect that may or may not have happened: what a person may say of it, and what follows."""

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
ASKS = HandlerCapabilities(has_prepare=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON)
TELLS = HandlerCapabilities(
    has_prepare=True, has_emit=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON
)
PREPARED = {"lamp": 7}


def in_doubt(*, capabilities: HandlerCapabilities = ASKS, **fields: Any) -> Task:
    """Its worker died over the effect, and a person is asked. A series has gone on meanwhile."""
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


def kinds(old: Task, new: Task) -> list[str]:
    return [event.type for event in events_between(old, new, at=LATER)]


# It happened


def test_what_happened_is_done() -> None:
    task = resolve_indeterminate(in_doubt(), Resolution.APPLIED, at=LATER)
    assert (task.status, task.delivered_at) == (Status.COMPLETED, LATER)
    assert (run_of(task).phase, run_of(task).mutation.status) == (
        *(Phase.MUTATED, MutationStatus.APPLIED),
    )
    assert run_of(task).prepare_result == PREPARED


def test_what_happened_and_is_to_be_told_is_due_at_once() -> None:
    task = resolve_indeterminate(in_doubt(capabilities=TELLS), Resolution.APPLIED, at=LATER)
    assert (task.status, task.due_at, task.retry_count) == (Status.PENDING, LATER, 1)


def test_the_run_that_tells_of_what_happened_does_not_repeat_it() -> None:
    task = resolve_indeterminate(in_doubt(capabilities=TELLS), Resolution.APPLIED, at=LATER)
    run = run_of(claim_task(task, "run-2", at=LATER, capabilities=TELLS))
    assert (run.phase, run.mutation.status) == (Phase.EMITTING, MutationStatus.APPLIED)
    assert (run.retry_of, run.prepare_result) == ("run-1", PREPARED)


@pytest.mark.parametrize("capabilities", [ASKS, TELLS])
def test_a_series_whose_occurrence_happened_goes_on_as_planned(
    capabilities: HandlerCapabilities,
) -> None:
    before = in_doubt(capabilities=capabilities, **A_SERIES)
    task = resolve_indeterminate(before, Resolution.APPLIED, at=LATER)
    assert (task.status, task.due_at, task.nominal_at) == (
        *(Status.PENDING, before.due_at, before.nominal_at),
    )
    assert (task.failed_occurrences, run_of(task).is_applied) == (0, True)


# It did not


@pytest.mark.parametrize("capabilities", [ASKS, TELLS])
def test_what_did_not_happen_is_done_now_and_its_failures_count(
    capabilities: HandlerCapabilities,
) -> None:
    task = resolve_indeterminate(
        in_doubt(capabilities=capabilities), Resolution.NOT_APPLIED, at=LATER
    )
    assert (task.status, task.due_at, task.retry_count) == (Status.PENDING, LATER, 1)
    assert run_of(task).mutation.status is MutationStatus.FAILED


def test_the_run_that_makes_up_for_it_begins_afresh_with_the_same_key() -> None:
    task = resolve_indeterminate(in_doubt(), Resolution.NOT_APPLIED, at=LATER)
    run = run_of(claim_task(task, "run-2", at=LATER, capabilities=ASKS))
    assert (run.phase, run.mutation) == (Phase.PREPARING, Mutation(idempotency_key="run-1"))
    assert (run.retry_of, run.attempt, run.prepare_result) == ("run-1", 2, None)
    assert run.reason is Reason.CRASHED_RECOVERY


def test_a_series_makes_up_for_what_did_not_happen_and_keeps_its_next_occurrence() -> None:
    task = resolve_indeterminate(in_doubt(**A_SERIES), Resolution.NOT_APPLIED, at=LATER)
    assert (task.due_at, task.nominal_at) == (LATER, NOW + DAY)
    assert run_of(claim_task(task, "run-2", at=LATER, capabilities=ASKS)).is_early


# Nobody wants to know


@pytest.mark.parametrize("capabilities", [ASKS, TELLS])
def test_what_is_skipped_is_over(capabilities: HandlerCapabilities) -> None:
    task = resolve_indeterminate(in_doubt(capabilities=capabilities), Resolution.SKIP, at=LATER)
    assert (task.status, task.closed_at) == (Status.CANCELLED, LATER)
    assert (run_of(task).status, run_of(task).is_indeterminate) == (RunStatus.CANCELLED, True)


def test_a_series_goes_on_after_an_occurrence_that_is_skipped() -> None:
    before = in_doubt(**A_SERIES)
    task = resolve_indeterminate(before, Resolution.SKIP, at=LATER)
    assert (task.status, task.due_at) == (Status.PENDING, before.due_at)
    assert run_of(task).status is RunStatus.CANCELLED
    assert retryable_run(task) is None


# What every answer does


@pytest.mark.parametrize("resolution", Resolution)
@pytest.mark.parametrize("fields", [{}, A_SERIES])
def test_an_answer_is_one_version_and_leaves_nothing_to_wait_for(
    fields: dict[str, Any], resolution: Resolution
) -> None:
    before = in_doubt(**fields)
    task = resolve_indeterminate(before, resolution, at=LATER)
    assert (task.version, task.next_retry_at, task.wait) == (before.version + 1, None, None)


@pytest.mark.parametrize("resolution", Resolution)
def test_an_answer_is_rounded_down_to_what_can_be_stored(resolution: Resolution) -> None:
    task = resolve_indeterminate(in_doubt(), resolution, at=LATER + timedelta(microseconds=999))
    moments = {moment for moment in (task.delivered_at, task.closed_at) if moment} or {task.due_at}
    assert moments == {LATER}


@pytest.mark.parametrize(
    "resolution",
    [Resolution.SKIP, Resolution.APPLIED, Resolution.NOT_APPLIED],
)
@pytest.mark.parametrize("capabilities", [ASKS, TELLS])
def test_an_answer_is_given_once(capabilities: HandlerCapabilities, resolution: Resolution) -> None:
    task = resolve_indeterminate(in_doubt(capabilities=capabilities), resolution, at=LATER)
    with pytest.raises(InvalidStateError, match="it has no unknown outcome to resolve"):
        resolve_indeterminate(task, Resolution.APPLIED, at=LATER)


@pytest.mark.parametrize(
    ("capabilities", "resolution", "told"),
    [
        (ASKS, Resolution.APPLIED, ["task:resolved", "task:completed"]),
        (TELLS, Resolution.APPLIED, ["task:resolved"]),
        (ASKS, Resolution.NOT_APPLIED, ["task:resolved"]),
        (ASKS, Resolution.SKIP, ["task:resolved", "task:cancelled"]),
    ],
)
def test_an_answer_is_told_with_what_follows(
    capabilities: HandlerCapabilities, resolution: Resolution, told: list[str]
) -> None:
    before = in_doubt(capabilities=capabilities)
    assert kinds(before, resolve_indeterminate(before, resolution, at=LATER)) == told


@pytest.mark.parametrize("resolution", Resolution)
@pytest.mark.parametrize("fields", [{}, A_SERIES])
def test_an_answer_is_told_at_the_moment_it_was_given(
    fields: dict[str, Any], resolution: Resolution
) -> None:
    """Not when the run ended that it is about."""
    before = in_doubt(**fields)
    events = events_between(before, resolve_indeterminate(before, resolution, at=LATER), at=LATER)
    assert {event.at for event in events} == {LATER}


# Where nothing is in doubt


@pytest.mark.parametrize("status", sorted(set(Status) - {Status.BLOCKED}))
def test_only_what_waits_for_an_answer_can_be_resolved(status: Status) -> None:
    task = replace(in_doubt(), status=status)
    with pytest.raises(
        InvalidStateError, match=f"is {status}: it has no unknown outcome to resolve"
    ):
        resolve_indeterminate(task, Resolution.APPLIED, at=LATER)


@pytest.mark.parametrize("mutation", sorted(set(MutationStatus) - {MutationStatus.INDETERMINATE}))
@pytest.mark.parametrize("fields", [{}, A_SERIES])
def test_a_known_effect_cannot_be_resolved(
    fields: dict[str, Any], mutation: MutationStatus
) -> None:
    task = in_doubt(**fields)
    known = replace(task, run=run_of(task).with_mutation_status(mutation))
    with pytest.raises(InvalidStateError, match="it has no unknown outcome to resolve"):
        resolve_indeterminate(known, Resolution.NOT_APPLIED, at=LATER)


def test_a_task_that_never_ran_cannot_be_resolved() -> None:
    with pytest.raises(InvalidStateError):
        resolve_indeterminate(a_task(status=Status.BLOCKED), Resolution.SKIP, at=LATER)


def test_a_series_that_is_about_to_find_out_by_itself_cannot_be_resolved() -> None:
    task = in_doubt(**A_SERIES, next_retry_at=LATER)
    with pytest.raises(InvalidStateError):
        resolve_indeterminate(task, Resolution.APPLIED, at=LATER)


# While it is in doubt


@pytest.mark.parametrize("wish", [retry, unblock])
@pytest.mark.parametrize("capabilities", [ASKS, TELLS])
def test_what_is_in_doubt_is_resolved_before_it_is_tried_again(
    capabilities: HandlerCapabilities, wish: Callable[..., Task]
) -> None:
    with pytest.raises(
        InvalidStateError, match="resolve it first, as applied, not_applied or skip"
    ):
        wish(in_doubt(capabilities=capabilities), at=LATER)


@pytest.mark.parametrize("wish", [retry, unblock])
def test_what_is_blocked_for_another_reason_is_tried_again(wish: Callable[..., Task]) -> None:
    task = in_doubt()
    known = replace(task, run=run_of(task).with_mutation_status(MutationStatus.FAILED))
    assert wish(known, at=LATER).status is Status.PENDING


def test_what_is_in_doubt_can_be_called_off() -> None:
    assert cancel(in_doubt(), at=LATER).status is Status.CANCELLED


# A series that makes up for it


def made_up_for(**fields: Any) -> Task:
    """A person said that the occurrence of NOW did not happen; its make-up run is claimed."""
    task = resolve_indeterminate(
        in_doubt(capabilities=TELLS, **A_SERIES, **fields), Resolution.NOT_APPLIED, at=LATER
    )
    return claim_task(task, "run-2", at=LATER, capabilities=TELLS)


def test_a_make_up_run_is_linked_to_the_occurrence_that_was_lost() -> None:
    run = run_of(made_up_for())
    assert (run.retry_of, run.attempt, run.mutation.idempotency_key) == ("run-1", 2, "run-1")
    assert (run.nominal_at, run.reason) == (NOW, Reason.CRASHED_RECOVERY)


def test_the_next_occurrence_stays_and_has_a_run_of_its_own() -> None:
    task = run_transitions.commit(made_up_for(), None, at=LATER)
    assert (task.status, task.due_at, task.nominal_at) == (Status.PENDING, NOW + DAY, NOW + DAY)
    run = run_of(claim_task(task, "run-3", at=NOW + DAY, capabilities=TELLS))
    assert (run.retry_of, run.attempt, run.mutation.idempotency_key) == (None, 1, "run-3")
    assert run.nominal_at == NOW + DAY


def test_a_make_up_run_that_only_has_to_tell_others_does_not_repeat_its_effect() -> None:
    running = made_up_for(policy="omega")
    done = replace(running, run=run_of(running).mark_applied("lit"))
    waiting = fail_task(done, at=LATER)
    assert waiting.next_retry_at is not None
    run = run_of(claim_task(waiting, "run-3", at=waiting.due_at, capabilities=TELLS))
    assert (run.phase, run.retry_of, run.mutation.idempotency_key) == (
        Phase.EMITTING,
        "run-2",
        "run-1",
    )
    assert run.nominal_at == NOW


def test_a_make_up_run_that_failed_is_tried_again_with_its_key() -> None:
    waiting = fail_task(made_up_for(policy="omega"), at=LATER)
    run = run_of(claim_task(waiting, "run-3", at=waiting.due_at, capabilities=TELLS))
    assert (run.retry_of, run.attempt, run.mutation.idempotency_key) == ("run-2", 3, "run-1")


def test_a_make_up_run_that_was_approved_does_not_repeat_its_effect() -> None:
    done = request_verification(made_up_for(verify=True), "lit", at=LATER, verify_until=LATER + DAY)
    task = approve(done, at=LATER)
    run = run_of(claim_task(task, "run-3", at=LATER, capabilities=TELLS))
    assert (run.phase, run.retry_of, run.is_applied) == (Phase.EMITTING, "run-2", True)


def test_a_make_up_run_that_is_late_leaves_the_next_occurrence_all_the_same() -> None:
    waiting = fail_task(made_up_for(policy="omega"), at=NOW + DAY)
    late = claim_task(waiting, "run-3", at=waiting.due_at, capabilities=TELLS)
    after = run_transitions.commit(late, None, at=waiting.due_at)
    assert (after.due_at, after.nominal_at) == (NOW + DAY, NOW + DAY)


def test_a_make_up_run_that_was_given_up_is_over() -> None:
    task = fail_task(made_up_for(policy="omega", max_retries=1), at=LATER)
    assert (task.status, task.due_at, retryable_run(task)) == (*(Status.PENDING, NOW + DAY, None),)


# A task that is paused, or to be verified


def test_what_did_not_happen_is_not_made_up_for_while_it_is_paused() -> None:
    with pytest.raises(InvalidStateError, match="is paused: resume it first"):
        resolve_indeterminate(in_doubt(paused=True, **A_SERIES), Resolution.NOT_APPLIED, at=LATER)


@pytest.mark.parametrize("resolution", [Resolution.APPLIED, Resolution.SKIP])
def test_a_series_that_is_paused_stays_so_after_an_answer(resolution: Resolution) -> None:
    assert resolve_indeterminate(in_doubt(paused=True, **A_SERIES), resolution, at=LATER).paused


def test_what_happened_and_is_to_be_verified_goes_on_to_its_verdict() -> None:
    task = resolve_indeterminate(in_doubt(verify=True), Resolution.APPLIED, at=LATER)
    assert (task.status, task.due_at, task.delivered_at) == (Status.PENDING, LATER, None)
    run = run_of(claim_task(task, "run-2", at=LATER, capabilities=ASKS))
    assert (run.is_applied, run.is_verified) == (True, False)


@pytest.mark.parametrize("wish", [retry, unblock])
def test_what_may_be_repeated_without_harm_is_tried_again_unresolved(
    wish: Callable[..., Task],
) -> None:
    task = in_doubt(capabilities=HandlerCapabilities(has_prepare=True))
    assert (run_of(task).is_indeterminate, task.status) == (True, Status.BLOCKED)
    assert wish(task, at=LATER).status is Status.PENDING
