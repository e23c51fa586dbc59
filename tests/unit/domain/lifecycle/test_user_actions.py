"""What a person may do to a task, and when it is refused."""

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

Wish = Callable[[Task], Task]


def cancelled(task: Task) -> Task:
    return user_actions.cancel(task, at=NOW)


WISHES: dict[str, Wish] = {
    "paused": user_actions.pause,
    "resumed": lambda task: user_actions.resume(task, at=NOW),
    "run": lambda task: user_actions.run_now(task, at=NOW - HOUR),
    "edited": lambda task: user_actions.edit(task, TaskEdit(description="walk")),
}
NOT_PENDING = [status for status in Status if status not in (Status.PENDING, Status.IN_PROGRESS)]


@pytest.mark.parametrize("verb", [*WISHES, "cancelled"])
def test_a_running_task_is_left_to_its_worker(verb: str) -> None:
    wish = {**WISHES, "cancelled": cancelled}[verb]
    with pytest.raises(InvalidStateError, match=f"is running right now: it cannot be {verb}$"):
        wish(claim_task(a_task()))


@pytest.mark.parametrize("verb", WISHES)
@pytest.mark.parametrize("status", NOT_PENDING)
def test_only_a_pending_task_can_be_changed(verb: str, status: Status) -> None:
    with pytest.raises(InvalidStateError, match=f"is {status}: it cannot be {verb}$"):
        WISHES[verb](a_task(status=status))


# Cancel


@pytest.mark.parametrize("status", ["pending", "pending_verification", "blocked"])
def test_what_waits_for_something_can_be_cancelled(status: str) -> None:
    assert user_actions.cancel(a_task(status=Status(status)), at=NOW).status is Status.CANCELLED


def test_a_paused_task_can_be_cancelled() -> None:
    assert user_actions.cancel(a_task(paused=True), at=NOW).status is Status.CANCELLED


def test_cancelling_twice_changes_nothing() -> None:
    task = user_actions.cancel(a_task(), at=NOW)
    assert user_actions.cancel(task, at=NOW) is task


@pytest.mark.parametrize("status", ["delivered", "completed", "failed"])
def test_what_has_ended_cannot_be_cancelled(status: str) -> None:
    with pytest.raises(IllegalTransitionError, match=f"is {status} and cannot become cancelled"):
        user_actions.cancel(a_task(status=Status(status)), at=NOW)


def test_a_cancelled_task_has_no_retry_to_come() -> None:
    assert user_actions.cancel(fail_repeatedly(a_task(), 1), at=NOW).next_retry_at is None


# Pause and resume


def test_a_paused_task_keeps_its_time() -> None:
    task = user_actions.pause(a_task(due_at=NOW + HOUR))
    assert (task.paused, task.due_at) == (True, NOW + HOUR)


def test_pausing_twice_changes_nothing() -> None:
    task = user_actions.pause(a_task())
    assert user_actions.pause(task) is task


def test_resuming_what_is_not_paused_changes_nothing() -> None:
    task = a_task()
    assert user_actions.resume(task, at=NOW) is task


@pytest.mark.parametrize("repeat", [None, "daily"])
def test_a_task_resumed_before_its_time_keeps_it(repeat: str | None) -> None:
    task = user_actions.resume(a_task(paused=True, repeat=repeat, due_at=NOW + HOUR), at=NOW)
    assert (task.paused, task.due_at, task.skipped) == (False, NOW + HOUR, None)


def test_an_overdue_one_shot_runs_as_soon_as_it_is_resumed() -> None:
    task = user_actions.resume(a_task(paused=True), at=NOW + DAY)
    assert (task.is_waiting, task.due_at) == (True, NOW)


@pytest.mark.parametrize(("due_in", "asked_at"), [(-HOUR, NOW), (HOUR, None)])
def test_who_resumes_what_is_overdue_asks_for_it(
    due_in: timedelta, asked_at: datetime | None
) -> None:
    task = user_actions.resume(a_task(paused=True, due_at=NOW + due_in), at=NOW)
    assert task.rescheduled_at == asked_at


@pytest.mark.parametrize("repeat", [None, "daily"])
def test_what_waited_for_quiet_hours_asks_for_them_again_when_it_is_resumed(
    repeat: str | None,
) -> None:
    held = a_task(due_at=NOW + HOUR, repeat=repeat, wait=quiet_hours_wait("13:00"))
    task = user_actions.resume(user_actions.pause(held), at=NOW + MINUTE)
    assert (task.due_at, task.nominal_at, task.wait) == (NOW + MINUTE, held.nominal_at, None)


@pytest.mark.parametrize(
    ("after", "skips", "due_in"),
    [
        (-MILLISECOND, 0, timedelta(0)),
        (timedelta(0), 1, DAY),
        (MILLISECOND, 1, DAY),
        (DAY - MILLISECOND, 1, DAY),
        (DAY, 2, 2 * DAY),
        (3 * DAY + HOUR, 4, 4 * DAY),
    ],
)
def test_a_resumed_series_goes_on_with_its_next_future_occurrence(
    after: timedelta, skips: int, due_in: timedelta
) -> None:
    task = user_actions.resume(a_task(paused=True, repeat="daily"), at=NOW + after)
    assert (task.due_at, task.nominal_at) == (NOW + due_in, NOW + due_in)
    assert task.skipped == (SkippedOccurrences(skips, SkipReason.PAUSED) if skips else None)


def test_a_resumed_series_starts_its_row_of_failures_anew() -> None:
    task = fail_repeatedly(a_task(repeat="daily"), 9)
    assert user_actions.resume(task, at=NOW).failed_occurrences == 0


def test_a_resumed_series_finishes_the_retry_it_was_in() -> None:
    task = user_actions.pause(fail_repeatedly(a_task(repeat="daily"), 1))
    assert user_actions.resume(task, at=NOW + DAY).due_at == NOW + 2 * MINUTE


def test_a_series_that_ended_while_paused_cannot_be_resumed() -> None:
    task = a_requested_task(due_at="2026-02-17T12:00:00Z", repeat="FREQ=DAILY;COUNT=2")
    with pytest.raises(InvalidStateError, match="no occurrence left"):
        user_actions.resume(user_actions.pause(task), at=NOW + 2 * DAY)


# Run now


def test_a_task_asked_to_run_now_is_due_now() -> None:
    assert user_actions.run_now(a_task(due_at=NOW + HOUR), at=NOW).due_at == NOW


@pytest.mark.parametrize("due_at", [NOW - HOUR, NOW])
def test_a_task_that_is_on_its_way_is_left_so_however_often_it_is_asked_to_run(
    due_at: datetime,
) -> None:
    task = a_task(due_at=due_at)
    assert user_actions.run_now(task, at=NOW) is task


def test_a_task_asked_to_run_now_keeps_its_own_time() -> None:
    assert user_actions.run_now(a_task(due_at=NOW + HOUR), at=NOW).nominal_at == NOW + HOUR


def test_now_is_rounded_down_to_what_can_be_stored() -> None:
    at = NOW + timedelta(microseconds=1999)
    assert user_actions.run_now(a_task(due_at=NOW + HOUR), at=at).due_at == NOW + MILLISECOND


def test_a_paused_task_must_be_resumed_before_it_runs() -> None:
    with pytest.raises(InvalidStateError, match="is paused: resume it first"):
        user_actions.run_now(a_task(paused=True), at=NOW)


# Edit


def test_an_edit_of_the_words_leaves_a_pending_retry() -> None:
    task = user_actions.edit(fail_repeatedly(a_task(), 1), TaskEdit(description="walk"))
    assert (task.description, task.next_retry_at) == ("walk", NOW + 2 * MINUTE)


def test_an_edit_of_the_time_replaces_a_pending_retry() -> None:
    task = user_actions.edit(fail_repeatedly(a_task(), 1), a_timing_edit(NOW + HOUR))
    assert (task.due_at, task.next_retry_at) == (NOW + HOUR, None)


def test_an_edit_leaves_a_paused_task_paused() -> None:
    assert user_actions.edit(a_task(paused=True), TaskEdit(description="walk")).paused


@pytest.mark.parametrize("verb", ["paused", "run", "edited"])
def test_a_change_forgets_what_was_skipped_before(verb: str) -> None:
    task = a_task(repeat="daily", skipped=SkippedOccurrences(1, SkipReason.PAUSED))
    assert WISHES[verb](task).skipped is None


# Another time for what may have happened

LATER = a_timing_edit(NOW + DAY)


def tried(
    mutation: MutationStatus,
    in_doubt: IndeterminatePolicy = IndeterminatePolicy.RECONCILE,
    **fields: Any,
) -> Task:
    """Its run failed and is to be tried again."""
    run = a_run(
        status=RunStatus.PAUSED_TRANSIENT,
        indeterminate_policy=in_doubt,
        ended_at=NOW,
        diagnosis=RunDiagnosis(delay=2 * MINUTE),
    )
    waiting = {"next_retry_at": NOW + 2 * MINUTE, "due_at": NOW + 2 * MINUTE, "nominal_at": NOW}
    return a_task(type="lights", run=run.with_mutation_status(mutation), **{**waiting, **fields})


@pytest.mark.parametrize("mutation", [MutationStatus.APPLIED, MutationStatus.INDETERMINATE])
@pytest.mark.parametrize("repeat", [None, "daily"])
def test_the_time_of_what_may_have_happened_cannot_be_changed(
    mutation: MutationStatus, repeat: str | None
) -> None:
    with pytest.raises(InvalidStateError, match="may have had its effect already"):
        user_actions.edit(tried(mutation, repeat=repeat), LATER)


@pytest.mark.parametrize("mutation", [MutationStatus.APPLIED, MutationStatus.INDETERMINATE])
def test_all_else_of_what_may_have_happened_can_be_changed(mutation: MutationStatus) -> None:
    before = tried(mutation)
    task = user_actions.edit(before, TaskEdit(description="walk"))
    assert (task.description, task.next_retry_at) == ("walk", before.next_retry_at)


@pytest.mark.parametrize(
    "task",
    [
        tried(MutationStatus.FAILED),
        tried(MutationStatus.INDETERMINATE, IndeterminatePolicy.REPEAT),
        replace(tried(MutationStatus.APPLIED, nominal_at=NOW + HOUR), repeat="daily"),
    ],
    ids=["it did not happen", "a repeat is harmless", "another occurrence"],
)
def test_the_time_of_what_can_begin_afresh_can_be_changed(task: Task) -> None:
    after = user_actions.edit(task, LATER)
    assert (after.nominal_at, after.next_retry_at) == (NOW + DAY, None)
