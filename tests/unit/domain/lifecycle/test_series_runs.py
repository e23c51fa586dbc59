"""A series goes on: after success, after failure, after an outage, until its rule ends."""

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

TELLS = HandlerCapabilities(
    has_prepare=True, has_emit=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON
)


def run_at(task: Task, moment: datetime) -> Task:
    """Claimed and committed at that moment."""
    return run_transitions.commit(
        claim_task(task, f"run-{task.version}", at=moment), None, at=moment
    )


def test_a_committed_occurrence_is_followed_by_the_next() -> None:
    task = run_at(a_task(repeat="daily"), NOW)
    assert (task.status, task.due_at, task.nominal_at) == (Status.PENDING, NOW + DAY, NOW + DAY)


def test_a_series_does_not_drift_with_its_runs() -> None:
    task = run_at(a_task(repeat="daily"), NOW + 3 * HOUR)
    assert task.due_at == NOW + DAY


def test_a_worker_whose_clock_is_slow_does_not_double_its_occurrence() -> None:
    task = run_at(a_task(repeat="daily"), NOW - MILLISECOND)
    assert task.due_at == NOW + DAY


def test_a_late_success_after_retries_returns_to_the_rule() -> None:
    task = fail_repeatedly(a_task(repeat="daily"), 2)
    task = run_at(task, task.due_at)
    assert (task.due_at, task.retry_count, task.next_retry_at) == (NOW + DAY, 0, None)


# Failed occurrences


def test_a_series_goes_on_after_an_occurrence_failed_for_good() -> None:
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


def test_a_success_in_between_starts_the_row_anew() -> None:
    task = fail_repeatedly(a_task(repeat="daily"), 6)
    task = run_at(task, task.due_at)
    assert not fail_repeatedly(task, 6).paused


def test_a_paused_series_keeps_why_it_failed() -> None:
    task = fail_repeatedly(a_task(repeat="daily"), 9)
    assert (task.last_error, task.failed_occurrences) == ("boom", 3)


def test_a_crash_at_the_last_attempt_lets_the_series_go_on() -> None:
    running = claim_task(fail_repeatedly(a_task(repeat="daily"), 2), "run-x")
    task = crash_task(running, at=NOW + HOUR)
    assert (task.status, task.due_at) == (Status.PENDING, NOW + DAY)


def test_an_occurrence_that_nobody_answered_for_counts_as_lost() -> None:
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


# Runs asked for early


def test_a_run_asked_for_early_leaves_its_occurrence_to_come() -> None:
    early = user_actions.run_now(a_task(repeat="daily", due_at=NOW + HOUR), at=NOW)
    task = run_at(early, NOW)
    assert (task.due_at, task.nominal_at) == (NOW + HOUR, NOW + HOUR)


def test_a_run_asked_for_early_skips_nothing() -> None:
    early = user_actions.run_now(a_task(repeat="* * * * *", due_at=NOW + HOUR), at=NOW)
    assert run_at(early, NOW).skipped is None


def test_an_early_run_that_fails_for_good_leaves_its_occurrence_to_come() -> None:
    early = user_actions.run_now(a_task(repeat="daily", due_at=NOW + HOUR, max_retries=1), at=NOW)
    assert fail_task(claim_task(early)).due_at == NOW + HOUR


def approved_early(**fields: Any) -> Task:
    """Work that was done ahead of its occurrence, and found good: others are yet to be told."""
    task = an_action(repeat="daily", due_at=NOW + HOUR, verify=True, policy="omega", **fields)
    done = claim_task(user_actions.run_now(task, at=NOW), capabilities=TELLS)
    return approve(request_verification(done, "done", at=NOW, verify_until=NOW + DAY), at=NOW)


def test_an_early_run_that_was_approved_is_the_one_that_is_told_of() -> None:
    run = run_of(claim_task(approved_early(), "run-2", capabilities=TELLS))
    assert (run.phase, run.retry_of, run.is_applied) == (Phase.EMITTING, "run-1", True)


def test_an_approved_early_run_that_nobody_was_told_of_is_over_at_its_occurrence() -> None:
    task = fail_task(claim_task(approved_early(max_retries=1), "run-2", capabilities=TELLS))
    assert (task.status, task.due_at) == (Status.PENDING, NOW + HOUR)
    assert retryable_run(task) is None
    run = run_of(claim_task(task, "run-3", at=NOW + HOUR, capabilities=TELLS))
    assert (run.phase, run.mutation) == (Phase.PREPARING, Mutation(idempotency_key="run-3"))


def test_a_one_shot_run_early_is_done() -> None:
    early = user_actions.run_now(a_task(due_at=NOW + HOUR), at=NOW)
    assert run_at(early, NOW).status is Status.DELIVERED


# Outages


def test_after_an_outage_one_run_makes_up_for_all_and_the_rest_is_skipped() -> None:
    task = run_at(a_task(repeat="daily"), NOW + 3 * DAY + HOUR)
    assert (task.due_at, task.skipped) == (
        NOW + 4 * DAY,
        SkippedOccurrences(3, SkipReason.OUTAGE),
    )


def test_an_occurrence_that_falls_on_the_very_end_of_the_catch_up_is_skipped() -> None:
    task = run_at(a_task(repeat="daily"), NOW + DAY)
    assert (task.due_at, task.skipped) == (
        NOW + 2 * DAY,
        SkippedOccurrences(1, SkipReason.OUTAGE),
    )


@pytest.mark.parametrize("retries", [0, 1])
def test_what_was_missed_while_it_waited_says_what_for(retries: int) -> None:
    """Also where it failed after that, and came with a retry."""
    parked = run_transitions.defer(a_task(repeat="daily"), until=NOW + 2 * DAY, wait=PROVIDER_DOWN)
    task = fail_repeatedly(parked, retries) if retries else parked
    told = SkippedOccurrences(2, SkipReason.DEFERRED)
    assert run_at(task, task.due_at).skipped == told


def test_a_wait_that_was_over_in_time_is_not_what_made_it_miss() -> None:
    parked = run_transitions.defer(a_task(repeat="daily"), until=NOW + HOUR, wait=PROVIDER_DOWN)
    assert run_at(parked, NOW + DAY).skipped == SkippedOccurrences(1, SkipReason.OUTAGE)


def test_what_was_missed_before_a_person_let_it_through_waited() -> None:
    parked = run_transitions.defer(a_task(repeat="daily"), until=NOW + 2 * DAY, wait=PROVIDER_DOWN)
    let_through = user_actions.run_now(parked, at=NOW + DAY)
    assert run_at(let_through, NOW + DAY).skipped == SkippedOccurrences(1, SkipReason.DEFERRED)


def test_what_was_missed_while_it_was_retried_says_so() -> None:
    task = fail_task(claim_task(a_task(repeat="* * * * *")))
    told = SkippedOccurrences(2, SkipReason.RETRY_OVERLAPPED)
    assert run_at(task, NOW + 2 * MINUTE).skipped == told


def test_what_was_missed_until_it_was_given_up_says_so() -> None:
    task = claim_task(
        fail_repeatedly(a_task(repeat="* * * * *", max_retries=2), 1), "x", at=NOW + HOUR
    )
    told = SkippedOccurrences(60, SkipReason.RETRY_OVERLAPPED)
    assert fail_task(task, at=NOW + HOUR).skipped == told


def test_what_was_missed_by_a_run_that_took_long_says_so() -> None:
    task = claim_task(a_task(repeat="* * * * *"))
    after = run_transitions.commit(task, None, at=NOW + 3 * MINUTE)
    assert after.skipped == SkippedOccurrences(3, SkipReason.RUN_OVERLAPPED)


@pytest.mark.parametrize("emits", [True, False])
def test_what_was_missed_until_a_verdict_says_so(emits: bool) -> None:
    """Also where a worker tells others of it after that."""
    done = claim_task(
        an_action(repeat="* * * * *", verify=True), capabilities=HandlerCapabilities(has_emit=emits)
    )
    waiting = request_verification(done, "done", at=NOW, verify_until=NOW + DAY)
    task = approve(waiting, at=NOW + 3 * MINUTE)
    after = run_at(task, NOW + 3 * MINUTE) if emits else task
    assert after.skipped == SkippedOccurrences(3, SkipReason.VERIFICATION_OVERLAPPED)


def test_a_run_in_time_skips_nothing() -> None:
    assert run_at(a_task(repeat="daily"), NOW + MINUTE).skipped is None


def test_the_next_claim_forgets_what_was_skipped() -> None:
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


def test_occurrences_missed_at_the_end_of_a_series_are_told_as_skipped() -> None:
    task = a_requested_task(due_at="2026-02-17T12:00:00Z", repeat="FREQ=DAILY;COUNT=3")
    assert run_at(task, NOW + 9 * DAY).skipped == SkippedOccurrences(2, SkipReason.OUTAGE)
