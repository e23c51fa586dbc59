"""The transitions of one run: claim, commit, failure, crash, deferral and requeue."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.errors import IllegalTransitionError
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.lifecycle import apply_failure, run_transitions, user_actions
from duecourse.domain.lifecycle.lease import lease_expired_report
from duecourse.domain.lifecycle.retry_throttle import next_attempt
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import MutationStatus, Phase, Reason, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason

from tests.support.builders.failures import (
    BOOM,
    a_diagnosis,
    a_failure_report,
    apply_decision,
    crash_task,
    diagnosis_of,
    fail_repeatedly,
    fail_task,
)
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import LEASE, run_of
from tests.support.builders.tasks import PROVIDER_DOWN, a_task, an_action, claim_task

TIMED_OUT = Failure.create(
    "no route", type="Timeout", code="function_timeout", status=504, phase="x"
)
OVER_BUDGET = Failure.create("no money left", code="budget_exceeded")

# The claim


def test_a_claimed_task_is_in_progress() -> None:
    assert claim_task(a_task()).status is Status.IN_PROGRESS


def test_a_claim_records_its_effect_as_in_flight_before_it_begins() -> None:
    run = run_of(claim_task(a_task()))
    assert (run.phase, run.mutation.status) == (Phase.MUTATING, MutationStatus.IN_FLIGHT)


def test_a_run_id_is_the_owner_of_its_lease() -> None:
    assert run_of(claim_task(a_task(), "worker-7")).id == "worker-7"


def test_a_run_carries_its_lease() -> None:
    assert run_of(claim_task(a_task(), at=NOW)).lease_expires_at == NOW + LEASE


def test_the_first_run_is_not_a_retry() -> None:
    run = run_of(claim_task(a_task()))
    assert (run.attempt, run.retry_of, run.reason) == (1, None, Reason.FIRST)


def test_a_retry_is_linked_to_the_attempt_before_it() -> None:
    run = run_of(claim_task(fail_repeatedly(a_task(), 1), "run-2"))
    assert (run.attempt, run.retry_of, run.reason) == (2, "run-1", Reason.TRANSIENT)


def test_a_retry_after_a_crash_has_the_reason_crashed_recovery() -> None:
    run = run_of(claim_task(crash_task(claim_task(a_task()), at=NOW + LEASE), "run-2"))
    assert (run.attempt, run.retry_of, run.reason) == (2, "run-1", Reason.CRASHED_RECOVERY)


def test_a_retry_after_giving_up_has_the_reason_user_retry() -> None:
    given_up = fail_repeatedly(a_task(), 3)
    run = run_of(claim_task(given_up.move_to(Status.PENDING), "run-4"))
    assert (run.attempt, run.reason) == (4, Reason.USER_RETRY)


def test_the_idempotency_key_is_the_same_for_every_attempt_at_one_occurrence() -> None:
    keys = [
        run_of(claim_task(fail_repeatedly(a_task(), n), f"run-x{n}")).mutation.idempotency_key
        for n in (1, 2)
    ]
    assert keys == ["run-1", "run-1"]


def test_the_next_occurrence_has_its_own_idempotency_key() -> None:
    committed = run_transitions.commit(claim_task(a_task(repeat="daily")), None, at=NOW)
    run = run_of(claim_task(committed, "run-2", at=committed.due_at))
    assert run.mutation.idempotency_key == "run-2"


def test_the_next_occurrence_starts_at_attempt_one() -> None:
    committed = run_transitions.commit(claim_task(a_task(repeat="daily")), None, at=NOW)
    run = run_of(claim_task(committed, "run-2", at=committed.due_at))
    assert (run.attempt, run.retry_of, run.reason) == (1, None, Reason.RECURRENCE)


def test_the_occurrence_after_a_failed_one_is_not_a_retry() -> None:
    run = run_of(claim_task(fail_repeatedly(a_task(repeat="daily"), 3), "run-4", at=NOW + DAY))
    assert (run.attempt, run.retry_of, run.reason) == (1, None, Reason.RECURRENCE)


def test_an_occurrence_that_also_ran_early_is_not_a_retry() -> None:
    early = user_actions.run_now(a_task(repeat="daily", due_at=NOW + DAY), at=NOW)
    committed = run_transitions.commit(claim_task(early), None, at=NOW)
    run = run_of(claim_task(committed, "run-2", at=NOW + DAY))
    assert (run.attempt, run.retry_of, run.mutation.idempotency_key) == (1, None, "run-2")


def test_an_occurrence_whose_early_run_failed_permanently_is_not_a_retry() -> None:
    early = user_actions.run_now(a_task(repeat="daily", due_at=NOW + DAY), at=NOW)
    run = run_of(claim_task(fail_repeatedly(early, 3), "run-4", at=NOW + DAY))
    assert (run.attempt, run.retry_of, run.reason) == (1, None, Reason.RECURRENCE)


def test_a_running_task_cannot_be_claimed_again() -> None:
    with pytest.raises(IllegalTransitionError):
        claim_task(claim_task(a_task()), "another")


# The commit


@pytest.mark.parametrize(
    ("type_", "status"), [("reminder", "delivered"), ("action", "completed"), ("x", "completed")]
)
def test_a_committed_one_shot_reaches_its_final_status(type_: str, status: str) -> None:
    committed = run_transitions.commit(claim_task(a_task(type=type_)), None, at=NOW)
    assert (committed.status, committed.delivered_at) == (status, NOW)


def test_a_committed_run_keeps_the_result_of_its_effect() -> None:
    run = run_of(run_transitions.commit(claim_task(a_task()), {"ts": 1}, at=NOW + MINUTE))
    assert (run.mutation.status, run.mutation.result) == (MutationStatus.APPLIED, {"ts": 1})


def test_a_committed_run_has_ended() -> None:
    run = run_of(run_transitions.commit(claim_task(a_task()), None, at=NOW + MINUTE))
    assert (run.status, run.phase, run.ended_at) == (
        RunStatus.COMMITTED,
        Phase.COMMITTED,
        NOW + MINUTE,
    )


# A failure


def test_a_failure_is_retried_two_minutes_later() -> None:
    task = fail_task(claim_task(a_task()), at=NOW + MINUTE)
    assert (task.status, task.due_at, task.next_retry_at) == (
        Status.PENDING,
        NOW + 3 * MINUTE,
        NOW + 3 * MINUTE,
    )


def test_a_retry_does_not_change_nominal_at() -> None:
    assert fail_repeatedly(a_task(), 2).nominal_at == NOW


def test_a_failure_is_counted_and_sets_the_last_error() -> None:
    task = fail_task(claim_task(a_task()), TIMED_OUT)
    assert (task.retry_count, task.last_error, task.last_error_category) == (
        1,
        "no route",
        "timeout",
    )


def test_a_failed_run_keeps_its_phase() -> None:
    run = run_of(fail_task(claim_task(a_task())))
    assert (run.phase, run.mutation.status) == (Phase.MUTATING, MutationStatus.FAILED)


@pytest.mark.parametrize(
    ("failures", "status"), [(1, Status.PENDING), (2, Status.PENDING), (3, Status.FAILED)]
)
def test_the_third_failure_is_final(failures: int, status: Status) -> None:
    assert fail_repeatedly(a_task(), failures).status is status


@pytest.mark.parametrize("max_retries", [1, 2, 5])
def test_a_task_runs_max_retries_times(max_retries: int) -> None:
    given_up = fail_repeatedly(a_task(max_retries=max_retries), max_retries)
    assert (given_up.status, run_of(given_up).attempt) == (Status.FAILED, max_retries)


def test_the_last_failure_leaves_no_pending_retry() -> None:
    given_up = fail_repeatedly(a_task(), 3)
    assert (given_up.next_retry_at, run_of(given_up).status) == (None, RunStatus.FAILED_PERMANENT)


# A crash


def test_a_task_in_progress_without_a_run_can_be_recovered() -> None:
    task = crash_task(a_task(status=Status.IN_PROGRESS), at=NOW)
    assert (task.status, run_of(task).status) == (Status.PENDING, RunStatus.CRASHED)


def test_a_crash_detected_late_is_retried_at_once() -> None:
    task = crash_task(claim_task(a_task()), at=NOW + HOUR)
    assert (task.status, task.due_at, task.retry_count) == (Status.PENDING, NOW + HOUR, 1)


@pytest.mark.parametrize(
    ("detected_after", "due_after"),
    [
        (timedelta(0), 2 * MINUTE),
        (MINUTE, 2 * MINUTE),
        (2 * MINUTE, 2 * MINUTE),
        (3 * MINUTE, 3 * MINUTE),
    ],
)
def test_the_delay_after_a_crash_counts_from_the_end_of_the_lease(
    detected_after: timedelta, due_after: timedelta
) -> None:
    ended_at = NOW + LEASE
    assert (
        crash_task(claim_task(a_task()), at=ended_at + detected_after).due_at
        == ended_at + due_after
    )


def test_a_late_report_never_sets_a_due_time_in_the_past() -> None:
    task = claim_task(a_task())
    report = a_failure_report(task, BOOM, at=NOW)
    assert apply_decision(task, report, at=NOW + HOUR).due_at == NOW + HOUR


def test_the_effect_of_a_crashed_run_is_indeterminate() -> None:
    run = run_of(crash_task(claim_task(a_task()), at=NOW + LEASE))
    assert (run.status, run.mutation.status) == (RunStatus.CRASHED, MutationStatus.INDETERMINATE)


def test_a_crash_counts_as_a_failure() -> None:
    running = claim_task(fail_repeatedly(a_task(), 2), "run-3")
    assert crash_task(running, at=NOW + HOUR).status is Status.FAILED


# What a failure leaves on its run


def test_a_failed_run_records_its_error_and_category() -> None:
    run = run_of(fail_task(claim_task(a_task()), TIMED_OUT, at=NOW + MINUTE))
    assert (run.error, run.category, run.ended_at) == ("no route", "timeout", NOW + MINUTE)


def test_a_failed_run_records_the_matched_pattern_and_the_action() -> None:
    diagnosis = diagnosis_of(fail_task(claim_task(a_task()), TIMED_OUT))
    assert (diagnosis.pattern, diagnosis.action, diagnosis.counted) == (
        *("function-timeout", Action.RETRY, True),
    )


def test_a_failed_run_records_the_evidence() -> None:
    diagnosis = diagnosis_of(fail_task(claim_task(a_task()), TIMED_OUT))
    assert (diagnosis.type, diagnosis.code, diagnosis.status, diagnosis.phase) == (
        *("Timeout", "function_timeout", 504, "x"),
    )


def test_a_failed_run_records_the_retry_delay() -> None:
    diagnosis = diagnosis_of(fail_task(claim_task(a_task())))
    assert (diagnosis.delay, diagnosis.retry_count) == (2 * MINUTE, 1)


def test_unknown_fields_of_a_diagnosis_are_not_stored() -> None:
    diagnosis = diagnosis_of(fail_repeatedly(a_task(), 3))
    assert (diagnosis.delay, diagnosis.code) == (None, None)
    assert None not in diagnosis.to_stored().values()


def test_a_long_error_is_truncated_in_the_middle() -> None:
    task = fail_task(claim_task(a_task()), Failure.create("a" * 5_000 + " " + "b" * 400))
    assert len(task.last_error or "") <= 1_000
    assert run_of(task).error == task.last_error


# Failures that are not counted


def test_a_task_over_its_budget_waits_for_midnight_and_keeps_its_retry_count() -> None:
    task = fail_task(claim_task(a_task(retry_count=1)), OVER_BUDGET)
    assert (task.status, task.due_at, task.retry_count) == (Status.PENDING, NOW + DAY / 2, 1)


def test_a_run_stopped_by_its_budget_has_the_status_paused_budget() -> None:
    assert run_of(fail_task(claim_task(a_task()), OVER_BUDGET)).status is RunStatus.PAUSED_BUDGET


def test_a_retry_after_the_budget_reset_is_not_a_user_retry() -> None:
    pending_retry = fail_task(claim_task(a_task()), OVER_BUDGET)
    assert (
        run_of(claim_task(pending_retry, "run-2", at=pending_retry.due_at)).reason
        is Reason.TRANSIENT
    )


# The recovery ladder


def test_guidance_does_not_change_the_description() -> None:
    task = fail_task(claim_task(an_action(description="ship it")), TIMED_OUT)
    assert (task.description, len(task.guidance)) == ("ship it", 1)


def test_each_failure_adds_guidance() -> None:
    task = fail_repeatedly(an_action(guidance=("look here",)), 2)
    assert (len(task.guidance), task.guidance[0]) == (3, "look here")


def test_only_the_latest_guidance_is_kept() -> None:
    hints = tuple(f"hint {n}" for n in range(10))
    task = fail_task(claim_task(an_action(guidance=hints)))
    assert (len(task.guidance), task.guidance[0]) == (10, "hint 1")


@pytest.mark.parametrize(
    ("failures", "action", "run_status"),
    [
        (1, "retry_with_guidance", "paused:transient"),
        (3, "retry_with_spec_refresh", "paused:approval"),
        (4, "escalate_to_human", "paused:approval"),
        (5, "mark_as_blocked", "failed:permanent"),
    ],
)
def test_each_rung_of_the_recovery_ladder_is_recorded_on_task_and_run(
    failures: int, action: str, run_status: str
) -> None:
    running = claim_task(an_action(payload={"spec": "SPEC.md"}, retry_count=failures - 1))
    task = apply_decision(
        running, a_failure_report(running), at=NOW, diagnosis=a_diagnosis("code_error")
    )
    assert (task.recovery_action, run_of(task).status) == (action, run_status)


@pytest.mark.parametrize("failures", [4, 5])
def test_a_task_that_needs_a_person_is_blocked_without_a_retry(failures: int) -> None:
    task = fail_task(claim_task(an_action(retry_count=failures - 1)))
    assert (task.status, task.next_retry_at) == (Status.BLOCKED, None)


def test_a_failed_occurrence_does_not_block_the_series() -> None:
    task = fail_task(claim_task(an_action(repeat="daily", retry_count=3)))
    assert (task.status, task.due_at, task.guidance) == (Status.PENDING, NOW + DAY, ())


# Deferred and requeued without a run


def test_a_deferred_task_has_a_due_time_and_a_wait_reason() -> None:
    task = run_transitions.defer(a_task(), until=NOW + HOUR, wait=PROVIDER_DOWN)
    assert (task.status, task.due_at, task.wait) == (*(Status.PENDING, NOW + HOUR, PROVIDER_DOWN),)


def test_deferral_keeps_retry_count_and_nominal_at() -> None:
    task = run_transitions.defer(a_task(retry_count=2), until=NOW + HOUR, wait=PROVIDER_DOWN)
    assert (task.retry_count, task.nominal_at) == (2, NOW)


@pytest.mark.parametrize("failures", [0, 1])
def test_a_deferred_retry_stays_a_retry_and_a_first_attempt_stays_one(failures: int) -> None:
    task = run_transitions.defer(
        fail_repeatedly(a_task(), failures), until=NOW + HOUR, wait=PROVIDER_DOWN
    )
    assert task.next_retry_at == (NOW + HOUR if failures else None)


def test_claiming_a_deferred_task_clears_its_wait() -> None:
    assert claim_task(run_transitions.defer(a_task(), until=NOW, wait=PROVIDER_DOWN)).wait is None


def test_a_requeued_task_is_due_again_and_keeps_its_retry_count() -> None:
    task = run_transitions.requeue(a_task(), "nobody took it", "transient", at=NOW + HOUR)
    assert (task.status, task.due_at, task.retry_count) == (Status.PENDING, NOW + HOUR, 0)


def test_a_requeued_task_records_the_error() -> None:
    task = run_transitions.requeue(a_task(), "nobody took it", "transient", at=NOW)
    assert (task.last_error, task.last_error_category) == ("nobody took it", "transient")


@pytest.mark.parametrize("failures", [0, 1])
def test_a_requeued_retry_stays_a_retry(failures: int) -> None:
    task = run_transitions.requeue(
        fail_repeatedly(a_task(), failures), "x", "transient", at=NOW + HOUR
    )
    assert task.next_retry_at == (NOW + HOUR if failures else None)


def test_requeueing_replaces_the_wait_of_a_deferred_task() -> None:
    deferred = run_transitions.defer(a_task(), until=NOW, wait=PROVIDER_DOWN)
    after = run_transitions.requeue(deferred, "x", "transient", at=NOW + HOUR)
    assert after.wait == Wait(WaitReason.REQUEUED)


def test_deferral_does_not_raise_the_next_attempt() -> None:
    task = run_transitions.defer(fail_repeatedly(a_task(), 1), until=NOW + HOUR, wait=PROVIDER_DOWN)
    assert next_attempt(task) == 2


# Which run a report applies to


def a_crash_report(task: Task, **fields: Any) -> FailureReport:
    return replace(lease_expired_report(task), **fields)


def test_a_report_applies_to_the_current_run() -> None:
    task = claim_task(a_task())
    assert apply_failure.applies_to(task, a_failure_report(task), at=NOW)


def test_a_report_of_another_run_does_not_apply() -> None:
    task = claim_task(a_task())
    assert not apply_failure.applies_to(
        task, replace(a_failure_report(task), run_id="another"), at=NOW
    )


def test_a_report_of_an_ended_run_does_not_apply() -> None:
    task = claim_task(a_task())
    assert not apply_failure.applies_to(fail_task(task), a_failure_report(task), at=NOW)


@pytest.mark.parametrize(("after", "applies"), [(LEASE - MILLISECOND, False), (LEASE, True)])
def test_a_crash_report_applies_once_the_lease_expired(after: timedelta, applies: bool) -> None:
    task = claim_task(a_task())
    assert apply_failure.applies_to(task, a_crash_report(task), at=NOW + after) is applies
