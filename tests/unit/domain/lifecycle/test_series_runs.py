"""How a series advances after success, failure and outages, until its rule ends."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from duecourse.domain.lifecycle import run_transitions, user_actions
from duecourse.domain.lifecycle.current_run import retryable_run
from duecourse.domain.lifecycle.verification import approve, request_verification
from duecourse.domain.tasks.handler import HandlerCapabilities
from duecourse.domain.tasks.run import IndeterminatePolicy, Mutation, Phase
from duecourse.domain.tasks.skipped import SkippedOccurrences, SkipReason
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import crash_task, fail_repeatedly, fail_task
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import (
    PROVIDER_DOWN,
    a_requested_task,
    a_task,
    an_action,
    claim_task,
)

WITH_EMIT = HandlerCapabilities(
    has_prepare=True, has_emit=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON
)


def run_at(task: Task, moment: datetime) -> Task:
    """Claim and commit the task at one moment."""
    return run_transitions.commit(
        claim_task(task, f"run-{task.version}", at=moment), None, at=moment
    )


def test_a_committed_occurrence_advances_to_the_next() -> None:
    task = run_at(a_task(repeat="daily"), NOW)
    assert (task.status, task.due_at, task.nominal_at) == (Status.PENDING, NOW + DAY, NOW + DAY)


def test_a_series_does_not_drift_with_its_runs() -> None:
    task = run_at(a_task(repeat="daily"), NOW + 3 * HOUR)
    assert task.due_at == NOW + DAY


def test_a_worker_with_a_slow_clock_does_not_repeat_the_occurrence() -> None:
    task = run_at(a_task(repeat="daily"), NOW - MILLISECOND)
    assert task.due_at == NOW + DAY


def test_a_late_success_after_retries_returns_to_the_schedule() -> None:
    task = fail_repeatedly(a_task(repeat="daily"), 2)
    task = run_at(task, task.due_at)
    assert (task.due_at, task.retry_count, task.next_retry_at) == (NOW + DAY, 0, None)


# Failed occurrences


def test_a_series_continues_after_an_occurrence_failed_permanently() -> None:
    task = fail_repeatedly(a_task(repeat="daily"), 3)
    assert (task.status, task.due_at) == (Status.PENDING, NOW + DAY)


def test_the_occurrence_after_a_failed_one_has_a_fresh_retry_count() -> None:
    task = fail_repeatedly(a_task(repeat="daily"), 3)
    assert (task.retry_count, task.next_retry_at) == (0, None)


@pytest.mark.parametrize(("failures", "is_paused"), [(3, False), (6, False), (8, False), (9, True)])
def test_a_series_is_paused_after_three_failed_occurrences_in_a_row(
    failures: int, is_paused: bool
) -> None:
    assert fail_repeatedly(a_task(repeat="daily"), failures).paused is is_paused


def test_a_success_resets_the_count_of_failed_occurrences() -> None:
    task = fail_repeatedly(a_task(repeat="daily"), 6)
    task = run_at(task, task.due_at)
    assert not fail_repeatedly(task, 6).paused


def test_a_paused_series_keeps_its_last_error() -> None:
    task = fail_repeatedly(a_task(repeat="daily"), 9)
    assert (task.last_error, task.failed_occurrences) == ("boom", 3)


def test_a_crash_at_the_last_attempt_advances_the_series() -> None:
    running = claim_task(fail_repeatedly(a_task(repeat="daily"), 2), "run-x")
    task = crash_task(running, at=NOW + HOUR)
    assert (task.status, task.due_at) == (Status.PENDING, NOW + DAY)


def test_an_escalated_occurrence_counts_as_failed() -> None:
    task = fail_task(claim_task(an_action(repeat="daily", retry_count=3)))
    assert (task.failed_occurrences, task.retry_count) == (1, 0)


def test_a_finite_series_whose_last_occurrence_needs_a_person_is_blocked() -> None:
    fields: dict[str, Any] = {
        "type": "action",
        "payload": {"provider": "scripted"},
        "max_retries": 1,
    }
    task = a_requested_task(due_at="2026-02-17T12:00:00Z", repeat="FREQ=DAILY;COUNT=1", **fields)
    assert fail_repeatedly(task, 2).status is Status.BLOCKED


# Early runs


def test_an_early_run_keeps_its_scheduled_occurrence() -> None:
    early = user_actions.run_now(a_task(repeat="daily", due_at=NOW + HOUR), at=NOW)
    task = run_at(early, NOW)
    assert (task.due_at, task.nominal_at) == (NOW + HOUR, NOW + HOUR)


def test_an_early_run_skips_nothing() -> None:
    early = user_actions.run_now(a_task(repeat="* * * * *", due_at=NOW + HOUR), at=NOW)
    assert run_at(early, NOW).skipped is None


def test_an_early_run_that_fails_permanently_keeps_its_scheduled_occurrence() -> None:
    early = user_actions.run_now(a_task(repeat="daily", due_at=NOW + HOUR, max_retries=1), at=NOW)
    assert fail_task(claim_task(early)).due_at == NOW + HOUR


def an_approved_early_run(**fields: Any) -> Task:
    """Return a task whose early run was approved and has yet to emit."""
    task = an_action(repeat="daily", due_at=NOW + HOUR, verify=True, policy="omega", **fields)
    running = claim_task(user_actions.run_now(task, at=NOW), capabilities=WITH_EMIT)
    return approve(request_verification(running, "done", at=NOW, verify_until=NOW + DAY), at=NOW)


def test_an_approved_early_run_is_the_one_that_emits() -> None:
    run = run_of(claim_task(an_approved_early_run(), "run-2", capabilities=WITH_EMIT))
    assert (run.phase, run.retry_of, run.is_applied) == (Phase.EMITTING, "run-1", True)


def test_an_approved_early_run_that_cannot_emit_ends_at_its_occurrence() -> None:
    task = fail_task(
        claim_task(an_approved_early_run(max_retries=1), "run-2", capabilities=WITH_EMIT)
    )
    assert (task.status, task.due_at) == (Status.PENDING, NOW + HOUR)
    assert retryable_run(task) is None
    run = run_of(claim_task(task, "run-3", at=NOW + HOUR, capabilities=WITH_EMIT))
    assert (run.phase, run.mutation) == (Phase.PREPARING, Mutation(idempotency_key="run-3"))


def test_a_one_shot_that_ran_early_is_delivered() -> None:
    early = user_actions.run_now(a_task(due_at=NOW + HOUR), at=NOW)
    assert run_at(early, NOW).status is Status.DELIVERED


# Outages


def test_after_an_outage_one_run_catches_up_and_the_rest_is_skipped() -> None:
    task = run_at(a_task(repeat="daily"), NOW + 3 * DAY + HOUR)
    assert (task.due_at, task.skipped) == (
        NOW + 4 * DAY,
        SkippedOccurrences(3, SkipReason.OUTAGE),
    )


def test_an_occurrence_due_exactly_at_the_catch_up_run_is_skipped() -> None:
    task = run_at(a_task(repeat="daily"), NOW + DAY)
    assert (task.due_at, task.skipped) == (
        NOW + 2 * DAY,
        SkippedOccurrences(1, SkipReason.OUTAGE),
    )


@pytest.mark.parametrize("retries", [0, 1])
def test_occurrences_missed_during_a_deferral_have_the_reason_deferred(retries: int) -> None:
    """The reason also holds when the deferred run fails and is retried."""
    deferred = run_transitions.defer(
        a_task(repeat="daily"), until=NOW + 2 * DAY, wait=PROVIDER_DOWN
    )
    task = fail_repeatedly(deferred, retries) if retries else deferred
    expected = SkippedOccurrences(2, SkipReason.DEFERRED)
    assert run_at(task, task.due_at).skipped == expected


def test_a_deferral_that_ended_in_time_is_not_the_reason_for_a_skip() -> None:
    deferred = run_transitions.defer(a_task(repeat="daily"), until=NOW + HOUR, wait=PROVIDER_DOWN)
    assert run_at(deferred, NOW + DAY).skipped == SkippedOccurrences(1, SkipReason.OUTAGE)


def test_occurrences_missed_before_run_now_have_the_reason_deferred() -> None:
    deferred = run_transitions.defer(
        a_task(repeat="daily"), until=NOW + 2 * DAY, wait=PROVIDER_DOWN
    )
    forced = user_actions.run_now(deferred, at=NOW + DAY)
    assert run_at(forced, NOW + DAY).skipped == SkippedOccurrences(1, SkipReason.DEFERRED)


def test_occurrences_missed_during_a_retry_have_the_reason_retry_overlapped() -> None:
    task = fail_task(claim_task(a_task(repeat="* * * * *")))
    expected = SkippedOccurrences(2, SkipReason.RETRY_OVERLAPPED)
    assert run_at(task, NOW + 2 * MINUTE).skipped == expected


def test_occurrences_missed_before_giving_up_have_the_reason_retry_overlapped() -> None:
    task = claim_task(
        fail_repeatedly(a_task(repeat="* * * * *", max_retries=2), 1), "x", at=NOW + HOUR
    )
    expected = SkippedOccurrences(60, SkipReason.RETRY_OVERLAPPED)
    assert fail_task(task, at=NOW + HOUR).skipped == expected


def test_occurrences_missed_by_a_long_run_have_the_reason_run_overlapped() -> None:
    task = claim_task(a_task(repeat="* * * * *"))
    after = run_transitions.commit(task, None, at=NOW + 3 * MINUTE)
    assert after.skipped == SkippedOccurrences(3, SkipReason.RUN_OVERLAPPED)


@pytest.mark.parametrize("emits", [True, False])
def test_occurrences_missed_before_approval_have_the_reason_verification_overlapped(
    emits: bool,
) -> None:
    """The reason also holds when a worker emits after the approval."""
    running = claim_task(
        an_action(repeat="* * * * *", verify=True), capabilities=HandlerCapabilities(has_emit=emits)
    )
    awaiting_verification = request_verification(running, "done", at=NOW, verify_until=NOW + DAY)
    task = approve(awaiting_verification, at=NOW + 3 * MINUTE)
    after = run_at(task, NOW + 3 * MINUTE) if emits else task
    assert after.skipped == SkippedOccurrences(3, SkipReason.VERIFICATION_OVERLAPPED)


def test_a_run_on_time_skips_nothing() -> None:
    assert run_at(a_task(repeat="daily"), NOW + MINUTE).skipped is None


def test_the_next_claim_clears_the_skipped_occurrences() -> None:
    task = run_at(a_task(repeat="daily"), NOW + 3 * DAY)
    assert claim_task(task, "run-2", at=task.due_at).skipped is None


# The end of a series


def test_a_finite_series_ends_with_its_last_occurrence() -> None:
    task = a_requested_task(due_at="2026-02-17T12:00:00Z", repeat="FREQ=DAILY;COUNT=3")
    statuses = []
    while task.status is Status.PENDING:
        task = run_at(task, task.due_at)
        statuses.append(str(task.status))
    assert statuses == ["pending", "pending", "delivered"]


def test_a_finite_series_whose_last_occurrence_fails_has_failed() -> None:
    task = a_requested_task(due_at="2026-02-17T12:00:00Z", repeat="FREQ=DAILY;COUNT=1")
    assert fail_repeatedly(task, 3).status is Status.FAILED


def test_occurrences_missed_at_the_end_of_a_series_are_recorded_as_skipped() -> None:
    task = a_requested_task(due_at="2026-02-17T12:00:00Z", repeat="FREQ=DAILY;COUNT=3")
    assert run_at(task, NOW + 9 * DAY).skipped == SkippedOccurrences(2, SkipReason.OUTAGE)
