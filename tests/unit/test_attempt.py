"""One attempt: how it is numbered and linked, and what each way of ending leaves behind."""

from __future__ import annotations

from datetime import datetime

import pytest
from duecourse.domain import attempt, change
from duecourse.domain.errors import IllegalMoveError
from duecourse.domain.failure import Failure
from duecourse.domain.run import MutationStatus, Phase, Reason, RunStatus
from duecourse.domain.status import Status

from tests.unit.builders import (
    BOOM,
    DAY,
    HOUR,
    LEASE,
    MILLISECOND,
    MINUTE,
    NOW,
    a_task,
    claimed,
    failed_times,
    run_of,
)

# The claim


def test_a_claimed_task_is_in_progress() -> None:
    assert claimed(a_task()).status is Status.IN_PROGRESS


def test_a_claim_records_its_effect_as_in_flight_before_it_begins() -> None:
    run = run_of(claimed(a_task()))
    assert (run.phase, run.mutation.status) == (Phase.MUTATING, MutationStatus.IN_FLIGHT)


def test_a_run_is_named_after_the_owner_of_its_lease() -> None:
    assert run_of(claimed(a_task(), "worker-7")).id == "worker-7"


def test_a_run_carries_its_lease() -> None:
    assert run_of(claimed(a_task(), at=NOW)).lease_expires_at == NOW + LEASE


def test_the_first_run_retries_nothing() -> None:
    run = run_of(claimed(a_task()))
    assert (run.attempt, run.retry_of, run.reason) == (1, None, Reason.FIRST)


def test_a_retry_is_linked_to_the_attempt_before_it() -> None:
    run = run_of(claimed(failed_times(a_task(), 1), "run-2"))
    assert (run.attempt, run.retry_of, run.reason) == (2, "run-1", Reason.TRANSIENT)


def test_a_retry_after_a_crash_says_so() -> None:
    run = run_of(claimed(attempt.crashed(claimed(a_task()), at=NOW + LEASE), "run-2"))
    assert (run.attempt, run.retry_of, run.reason) == (2, "run-1", Reason.CRASHED_RECOVERY)


def test_a_retry_after_giving_up_is_a_persons_wish() -> None:
    given_up = failed_times(a_task(), 3)
    run = run_of(claimed(given_up.moved(Status.PENDING), "run-4"))
    assert (run.attempt, run.reason) == (4, Reason.USER_RETRY)


def test_the_mutation_key_is_the_same_for_every_attempt_at_one_occurrence() -> None:
    keys = [run_of(claimed(failed_times(a_task(), n), f"run-x{n}")).mutation.key for n in (1, 2)]
    assert keys == ["run-1", "run-1"]


def test_the_next_occurrence_has_a_mutation_key_of_its_own() -> None:
    done = attempt.committed(claimed(a_task(repeat="daily")), None, at=NOW)
    run = run_of(claimed(done, "run-2", at=done.due_at))
    assert run.mutation.key == "run-2"


def test_the_next_occurrence_starts_counting_at_one() -> None:
    done = attempt.committed(claimed(a_task(repeat="daily")), None, at=NOW)
    run = run_of(claimed(done, "run-2", at=done.due_at))
    assert (run.attempt, run.retry_of, run.reason) == (1, None, Reason.RECURRENCE)


def test_the_occurrence_after_a_failed_one_is_no_retry() -> None:
    run = run_of(claimed(failed_times(a_task(repeat="daily"), 3), "run-4", at=NOW + DAY))
    assert (run.attempt, run.retry_of, run.reason) == (1, None, Reason.RECURRENCE)


def test_an_occurrence_that_also_ran_early_is_no_retry() -> None:
    early = change.run_now(a_task(repeat="daily", due_at=NOW + DAY), at=NOW)
    done = attempt.committed(claimed(early), None, at=NOW)
    run = run_of(claimed(done, "run-2", at=NOW + DAY))
    assert (run.attempt, run.retry_of, run.mutation.key) == (1, None, "run-2")


def test_an_occurrence_whose_early_run_failed_for_good_is_no_retry() -> None:
    early = change.run_now(a_task(repeat="daily", due_at=NOW + DAY), at=NOW)
    run = run_of(claimed(failed_times(early, 3), "run-4", at=NOW + DAY))
    assert (run.attempt, run.retry_of, run.reason) == (1, None, Reason.RECURRENCE)


def test_what_already_runs_cannot_be_claimed_again() -> None:
    with pytest.raises(IllegalMoveError):
        claimed(claimed(a_task()), "another")


# The good end


@pytest.mark.parametrize(
    ("type_", "status"), [("reminder", "delivered"), ("action", "completed"), ("x", "completed")]
)
def test_a_one_shot_is_done_once_committed(type_: str, status: str) -> None:
    done = attempt.committed(claimed(a_task(type=type_)), None, at=NOW)
    assert (done.status, done.delivered_at) == (status, NOW)


def test_a_committed_run_keeps_the_result_of_its_effect() -> None:
    run = run_of(attempt.committed(claimed(a_task()), {"ts": 1}, at=NOW + MINUTE))
    assert (run.mutation.status, run.mutation.result) == (MutationStatus.APPLIED, {"ts": 1})


def test_a_committed_run_has_ended() -> None:
    run = run_of(attempt.committed(claimed(a_task()), None, at=NOW + MINUTE))
    assert (run.status, run.phase, run.ended_at) == (
        RunStatus.COMMITTED,
        Phase.COMMITTED,
        NOW + MINUTE,
    )


# A failure


def test_a_failure_is_tried_again_two_minutes_later() -> None:
    task = attempt.failed(claimed(a_task()), BOOM, at=NOW + MINUTE)
    assert (task.status, task.due_at, task.next_retry_at) == (
        Status.PENDING,
        NOW + 3 * MINUTE,
        NOW + 3 * MINUTE,
    )


def test_a_retry_does_not_move_the_occurrences_own_time() -> None:
    assert failed_times(a_task(), 2).nominal_at == NOW


def test_a_failure_is_counted_and_told() -> None:
    task = attempt.failed(claimed(a_task()), Failure("no route", "network"), at=NOW)
    assert (task.retry_count, task.last_error, task.last_error_category) == (
        1,
        "no route",
        "network",
    )


def test_a_failed_run_keeps_its_phase() -> None:
    run = run_of(attempt.failed(claimed(a_task()), BOOM, at=NOW))
    assert (run.phase, run.mutation.status) == (Phase.MUTATING, MutationStatus.FAILED)


@pytest.mark.parametrize(
    ("failures", "status"), [(1, Status.PENDING), (2, Status.PENDING), (3, Status.FAILED)]
)
def test_the_third_failure_is_final(failures: int, status: Status) -> None:
    assert failed_times(a_task(), failures).status is status


@pytest.mark.parametrize("most", [1, 2, 5])
def test_a_task_runs_as_often_as_max_retries_says(most: int) -> None:
    given_up = failed_times(a_task(max_retries=most), most)
    assert (given_up.status, run_of(given_up).attempt) == (Status.FAILED, most)


def test_the_last_failure_leaves_no_retry_behind() -> None:
    given_up = failed_times(a_task(), 3)
    assert (given_up.next_retry_at, run_of(given_up).status) == (None, RunStatus.FAILED_PERMANENT)


# A crash


@pytest.mark.parametrize(
    ("moment", "vanished"),
    [(NOW + LEASE - MILLISECOND, False), (NOW + LEASE, True), (NOW + LEASE + MILLISECOND, True)],
)
def test_a_worker_has_vanished_once_its_lease_ran_out(moment: datetime, vanished: bool) -> None:
    assert attempt.has_vanished(claimed(a_task()), at=moment) is vanished


def test_nobody_has_vanished_from_a_task_that_waits() -> None:
    assert not attempt.has_vanished(failed_times(a_task(), 1), at=NOW + DAY)


def test_a_task_in_progress_without_a_run_has_lost_its_worker() -> None:
    assert attempt.has_vanished(a_task(status=Status.IN_PROGRESS), at=NOW)


def test_a_task_that_lost_its_run_can_still_be_recovered() -> None:
    task = attempt.crashed(a_task(status=Status.IN_PROGRESS), at=NOW)
    assert (task.status, run_of(task).status) == (Status.PENDING, RunStatus.CRASHED)


def test_a_crashed_run_is_tried_again_at_once() -> None:
    task = attempt.crashed(claimed(a_task()), at=NOW + HOUR)
    assert (task.status, task.due_at, task.retry_count) == (Status.PENDING, NOW + HOUR, 1)


def test_the_effect_of_a_crashed_run_is_indeterminate() -> None:
    run = run_of(attempt.crashed(claimed(a_task()), at=NOW + LEASE))
    assert (run.status, run.mutation.status) == (RunStatus.CRASHED, MutationStatus.INDETERMINATE)


def test_a_crash_counts_as_a_failure() -> None:
    running = claimed(failed_times(a_task(), 2), "run-3")
    assert attempt.crashed(running, at=NOW + HOUR).status is Status.FAILED
