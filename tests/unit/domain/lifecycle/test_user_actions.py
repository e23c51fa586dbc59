"""The actions a user can take on a task, and when they are rejected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.errors import IllegalTransitionError, InvalidStateError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.tasks.run import IndeterminatePolicy, MutationStatus, RunStatus
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.skipped import SkippedOccurrences, SkipReason
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.task_edit import TaskEdit

from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import (
    a_requested_task,
    a_task,
    a_timing_edit,
    claim_task,
    quiet_hours_wait,
)

UserAction = Callable[[Task], Task]


def cancel_task(task: Task) -> Task:
    return user_actions.cancel(task, at=NOW)


USER_ACTIONS: dict[str, UserAction] = {
    "paused": user_actions.pause,
    "resumed": lambda task: user_actions.resume(task, at=NOW),
    "run": lambda task: user_actions.run_now(task, at=NOW - HOUR),
    "edited": lambda task: user_actions.edit(task, TaskEdit(description="walk")),
}
NOT_PENDING = [status for status in Status if status not in (Status.PENDING, Status.IN_PROGRESS)]


@pytest.mark.parametrize("verb", [*USER_ACTIONS, "cancelled"])
def test_a_running_task_cannot_be_changed(verb: str) -> None:
    user_action = {**USER_ACTIONS, "cancelled": cancel_task}[verb]
    with pytest.raises(InvalidStateError, match=f"is running right now: it cannot be {verb}$"):
        user_action(claim_task(a_task()))


@pytest.mark.parametrize("verb", USER_ACTIONS)
@pytest.mark.parametrize("status", NOT_PENDING)
def test_only_a_pending_task_can_be_changed(verb: str, status: Status) -> None:
    with pytest.raises(InvalidStateError, match=f"is {status}: it cannot be {verb}$"):
        USER_ACTIONS[verb](a_task(status=status))


# Cancel


@pytest.mark.parametrize("status", ["pending", "pending_verification", "blocked"])
def test_a_waiting_task_can_be_cancelled(status: str) -> None:
    assert user_actions.cancel(a_task(status=Status(status)), at=NOW).status is Status.CANCELLED


def test_a_paused_task_can_be_cancelled() -> None:
    assert user_actions.cancel(a_task(paused=True), at=NOW).status is Status.CANCELLED


def test_cancelling_twice_changes_nothing() -> None:
    task = user_actions.cancel(a_task(), at=NOW)
    assert user_actions.cancel(task, at=NOW) is task


@pytest.mark.parametrize("status", ["delivered", "completed", "failed"])
def test_an_ended_task_cannot_be_cancelled(status: str) -> None:
    with pytest.raises(IllegalTransitionError, match=f"is {status} and cannot become cancelled"):
        user_actions.cancel(a_task(status=Status(status)), at=NOW)


def test_a_cancelled_task_has_no_pending_retry() -> None:
    assert user_actions.cancel(fail_repeatedly(a_task(), 1), at=NOW).next_retry_at is None


# Pause and resume


def test_a_paused_task_keeps_its_due_time() -> None:
    task = user_actions.pause(a_task(due_at=NOW + HOUR))
    assert (task.paused, task.due_at) == (True, NOW + HOUR)


def test_pausing_twice_changes_nothing() -> None:
    task = user_actions.pause(a_task())
    assert user_actions.pause(task) is task


def test_resuming_a_task_that_is_not_paused_changes_nothing() -> None:
    task = a_task()
    assert user_actions.resume(task, at=NOW) is task


@pytest.mark.parametrize("repeat", [None, "daily"])
def test_a_task_resumed_before_its_due_time_keeps_it(repeat: str | None) -> None:
    task = user_actions.resume(a_task(paused=True, repeat=repeat, due_at=NOW + HOUR), at=NOW)
    assert (task.paused, task.due_at, task.skipped) == (False, NOW + HOUR, None)


def test_an_overdue_one_shot_runs_as_soon_as_it_is_resumed() -> None:
    task = user_actions.resume(a_task(paused=True), at=NOW + DAY)
    assert (task.is_waiting, task.due_at) == (True, NOW)


@pytest.mark.parametrize(("due_in", "rescheduled_at"), [(-HOUR, NOW), (HOUR, None)])
def test_resuming_an_overdue_task_sets_rescheduled_at(
    due_in: timedelta, rescheduled_at: datetime | None
) -> None:
    task = user_actions.resume(a_task(paused=True, due_at=NOW + due_in), at=NOW)
    assert task.rescheduled_at == rescheduled_at


@pytest.mark.parametrize("repeat", [None, "daily"])
def test_resuming_a_task_deferred_by_quiet_hours_clears_its_deferral(
    repeat: str | None,
) -> None:
    deferred = a_task(due_at=NOW + HOUR, repeat=repeat, wait=quiet_hours_wait("13:00"))
    task = user_actions.resume(user_actions.pause(deferred), at=NOW + MINUTE)
    assert (task.due_at, task.nominal_at, task.wait) == (NOW + MINUTE, deferred.nominal_at, None)


@pytest.mark.parametrize(
    ("after", "skip_count", "due_in"),
    [
        (-MILLISECOND, 0, timedelta(0)),
        (timedelta(0), 1, DAY),
        (MILLISECOND, 1, DAY),
        (DAY - MILLISECOND, 1, DAY),
        (DAY, 2, 2 * DAY),
        (3 * DAY + HOUR, 4, 4 * DAY),
    ],
)
def test_a_resumed_series_continues_with_its_next_future_occurrence(
    after: timedelta, skip_count: int, due_in: timedelta
) -> None:
    task = user_actions.resume(a_task(paused=True, repeat="daily"), at=NOW + after)
    assert (task.due_at, task.nominal_at) == (NOW + due_in, NOW + due_in)
    assert task.skipped == (
        SkippedOccurrences(skip_count, SkipReason.PAUSED) if skip_count else None
    )


def test_resuming_a_series_resets_its_failed_occurrences() -> None:
    task = fail_repeatedly(a_task(repeat="daily"), 9)
    assert user_actions.resume(task, at=NOW).failed_occurrences == 0


def test_a_resumed_series_keeps_its_pending_retry() -> None:
    task = user_actions.pause(fail_repeatedly(a_task(repeat="daily"), 1))
    assert user_actions.resume(task, at=NOW + DAY).due_at == NOW + 2 * MINUTE


def test_a_series_that_ended_while_paused_cannot_be_resumed() -> None:
    task = a_requested_task(due_at="2026-02-17T12:00:00Z", repeat="FREQ=DAILY;COUNT=2")
    with pytest.raises(InvalidStateError, match="no occurrence left"):
        user_actions.resume(user_actions.pause(task), at=NOW + 2 * DAY)


# Run now


def test_run_now_makes_a_task_due_now() -> None:
    assert user_actions.run_now(a_task(due_at=NOW + HOUR), at=NOW).due_at == NOW


@pytest.mark.parametrize("due_at", [NOW - HOUR, NOW])
def test_run_now_does_not_change_a_task_that_is_already_due(
    due_at: datetime,
) -> None:
    task = a_task(due_at=due_at)
    assert user_actions.run_now(task, at=NOW) is task


def test_run_now_keeps_nominal_at() -> None:
    assert user_actions.run_now(a_task(due_at=NOW + HOUR), at=NOW).nominal_at == NOW + HOUR


def test_run_now_rounds_the_due_time_down_to_milliseconds() -> None:
    at = NOW + timedelta(microseconds=1999)
    assert user_actions.run_now(a_task(due_at=NOW + HOUR), at=at).due_at == NOW + MILLISECOND


def test_a_paused_task_must_be_resumed_before_it_runs() -> None:
    with pytest.raises(InvalidStateError, match="is paused: resume it first"):
        user_actions.run_now(a_task(paused=True), at=NOW)


# Edit


def test_editing_the_description_keeps_a_pending_retry() -> None:
    task = user_actions.edit(fail_repeatedly(a_task(), 1), TaskEdit(description="walk"))
    assert (task.description, task.next_retry_at) == ("walk", NOW + 2 * MINUTE)


def test_editing_the_due_time_replaces_a_pending_retry() -> None:
    task = user_actions.edit(fail_repeatedly(a_task(), 1), a_timing_edit(NOW + HOUR))
    assert (task.due_at, task.next_retry_at) == (NOW + HOUR, None)


def test_an_edit_leaves_a_paused_task_paused() -> None:
    assert user_actions.edit(a_task(paused=True), TaskEdit(description="walk")).paused


@pytest.mark.parametrize("verb", ["paused", "run", "edited"])
def test_a_user_action_clears_the_skipped_occurrences(verb: str) -> None:
    task = a_task(repeat="daily", skipped=SkippedOccurrences(1, SkipReason.PAUSED))
    assert USER_ACTIONS[verb](task).skipped is None


# Rescheduling a task that may have had its effect

LATER = a_timing_edit(NOW + DAY)


def a_failed_run(
    mutation: MutationStatus,
    indeterminate_policy: IndeterminatePolicy = IndeterminatePolicy.RECONCILE,
    **fields: Any,
) -> Task:
    """Return a task whose run failed and has a pending retry."""
    run = a_run(
        status=RunStatus.PAUSED_TRANSIENT,
        indeterminate_policy=indeterminate_policy,
        ended_at=NOW,
        diagnosis=RunDiagnosis(delay=2 * MINUTE),
    )
    pending_retry = {
        "next_retry_at": NOW + 2 * MINUTE,
        "due_at": NOW + 2 * MINUTE,
        "nominal_at": NOW,
    }
    return a_task(
        type="lights", run=run.with_mutation_status(mutation), **{**pending_retry, **fields}
    )


@pytest.mark.parametrize("mutation", [MutationStatus.APPLIED, MutationStatus.INDETERMINATE])
@pytest.mark.parametrize("repeat", [None, "daily"])
def test_a_task_that_may_have_had_its_effect_cannot_be_rescheduled(
    mutation: MutationStatus, repeat: str | None
) -> None:
    with pytest.raises(InvalidStateError, match="may have happened already"):
        user_actions.edit(a_failed_run(mutation, repeat=repeat), LATER)


@pytest.mark.parametrize("mutation", [MutationStatus.APPLIED, MutationStatus.INDETERMINATE])
def test_other_fields_of_a_task_that_may_have_had_its_effect_can_be_edited(
    mutation: MutationStatus,
) -> None:
    before = a_failed_run(mutation)
    task = user_actions.edit(before, TaskEdit(description="walk"))
    assert (task.description, task.next_retry_at) == ("walk", before.next_retry_at)


@pytest.mark.parametrize(
    "task",
    [
        a_failed_run(MutationStatus.FAILED),
        a_failed_run(MutationStatus.INDETERMINATE, IndeterminatePolicy.REPEAT),
        replace(a_failed_run(MutationStatus.APPLIED, nominal_at=NOW + HOUR), repeat="daily"),
    ],
    ids=["mutation failed", "idempotent", "another occurrence"],
)
def test_a_task_that_can_start_over_can_be_rescheduled(task: Task) -> None:
    after = user_actions.edit(task, LATER)
    assert (after.nominal_at, after.next_retry_at) == (NOW + DAY, None)
