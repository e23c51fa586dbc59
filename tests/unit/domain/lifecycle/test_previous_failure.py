"""The previous failure that a retry records, and the retry delay if the retry honoured it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.failures.failure import Failure
from duecourse.domain.lifecycle.blocked_outcome import apply_review
from duecourse.domain.lifecycle.user_actions import retry, run_now
from duecourse.domain.requests.stored_run import run_from_stored, run_to_stored
from duecourse.domain.tasks.run import FirstFailure, PreviousFailure, Run
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import a_diagnosis, a_failure_report, apply_decision, fail_task
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.runs import a_run, run_of
from tests.support.builders.tasks import a_task, an_action, claim_task

SECOND = timedelta(seconds=1)


def a_failed_action(failure: Failure | None = None, **fields: Any) -> Task:
    """Return an action whose retry is due in two minutes."""
    task = claim_task(an_action(**fields))
    report = a_failure_report(task, failure or Failure.create("boom"))
    diagnosis = a_diagnosis("code_error", fingerprint="0123456789abcdef")
    return apply_decision(task, report, at=NOW, diagnosis=diagnosis)


def previous_failure_of_next_run(
    task: Task, *, after: timedelta = 130 * SECOND
) -> PreviousFailure | None:
    return run_of(claim_task(task, "run-2", at=NOW + after)).previous_failure


def test_a_first_run_has_no_previous_failure() -> None:
    assert run_of(claim_task(an_action())).previous_failure is None


def test_a_retry_records_the_previous_failure_and_its_delay() -> None:
    assert previous_failure_of_next_run(a_failed_action()) == PreviousFailure(
        category="code_error", fingerprint="0123456789abcdef", delay_seconds=120
    )


def test_a_previous_failure_without_a_fingerprint_is_recorded() -> None:
    task = fail_task(claim_task(an_action()))
    assert previous_failure_of_next_run(task) == PreviousFailure(
        category="unknown", delay_seconds=120
    )


def test_a_user_retry_after_giving_up_records_no_delay() -> None:
    task = fail_task(claim_task(an_action(max_retries=5, retry_count=4)))
    assert task.next_retry_at is None
    assert previous_failure_of_next_run(retry(task, at=NOW)) == PreviousFailure(category="unknown")


def test_the_retry_after_a_review_records_the_failure_without_a_delay() -> None:
    task = a_failed_action(retry_count=2, payload={"provider": "scripted", "spec": "x"})
    review = replace(a_task(), status=Status.COMPLETED)
    unblocked = apply_review(task, review, at=NOW + HOUR)
    assert unblocked.recovery_action == "retry_with_spec_refresh"
    assert previous_failure_of_next_run(unblocked, after=HOUR) == PreviousFailure(
        category="code_error", fingerprint="0123456789abcdef"
    )


def test_an_uncounted_budget_wait_is_not_recorded_as_a_previous_failure() -> None:
    task = claim_task(an_action(policy="enrichment"))
    task = fail_task(task, Failure.create("no money left", code="budget_exceeded"))
    assert previous_failure_of_next_run(task, after=DAY) is None


def test_run_now_before_the_delay_ends_records_no_delay() -> None:
    task = run_now(a_failed_action(), at=NOW + SECOND)
    previous_failure = previous_failure_of_next_run(task, after=SECOND)
    assert previous_failure is not None
    assert (previous_failure.category, previous_failure.delay_seconds) == ("code_error", None)


@pytest.mark.parametrize(
    ("retry_after", "delay_seconds"), [(90, 120), (119, 120), (120, None), (400, None)]
)
def test_a_delay_set_by_retry_after_is_not_recorded_as_the_policys(
    retry_after: int, delay_seconds: int | None
) -> None:
    previous_failure = previous_failure_of_next_run(
        a_failed_action(Failure.create("boom", retry_after=retry_after)), after=7 * MINUTE / 2
    )
    assert previous_failure is not None
    assert previous_failure.delay_seconds == delay_seconds


@pytest.mark.parametrize(("after", "delay_seconds"), [(210, 120), (211, None), (3600, None)])
def test_a_retry_that_started_much_too_late_records_no_delay(
    after: int, delay_seconds: int | None
) -> None:
    previous_failure = previous_failure_of_next_run(a_failed_action(), after=after * SECOND)
    assert previous_failure is not None
    assert previous_failure.delay_seconds == delay_seconds


@pytest.mark.parametrize(
    "previous_failure",
    [
        None,
        PreviousFailure(category="x"),
        PreviousFailure(category="x", fingerprint="y", delay_seconds=30),
    ],
)
def test_the_previous_failure_is_stored_with_the_run(
    previous_failure: PreviousFailure | None,
) -> None:
    run = replace(a_run(), previous_failure=previous_failure)
    stored = run_to_stored(run)
    assert run_from_stored(stored) == run
    assert ("follows" in stored) == (previous_failure is not None)


# The first failure of an occurrence


def fail_next_run(task: Task, *, days: int) -> Task:
    """Claim the task this many days later and fail it."""
    running = claim_task(task, f"run-{task.version}", at=NOW + days * DAY)
    return fail_task(running, at=NOW + days * DAY)


def next_run(task: Task) -> Run:
    return run_of(claim_task(task, "next", at=NOW + 9 * DAY))


def test_a_first_run_has_no_first_failure() -> None:
    assert run_of(claim_task(an_action())).first_failure is None


def test_every_retry_knows_the_first_failure_of_its_occurrence() -> None:
    once = fail_next_run(an_action(), days=0)
    first = FirstFailure("2026-02-17", "unknown")
    assert next_run(once).first_failure == first
    twice = fail_next_run(once, days=1)
    assert next_run(twice).first_failure == first


def test_a_deadline_begins_with_the_first_counted_failure() -> None:
    assert run_of(claim_task(an_action())).first_failed_at is None
    once = fail_next_run(an_action(), days=0)
    twice = fail_next_run(once, days=1)
    assert [next_run(task).first_failed_at for task in (once, twice)] == [NOW, NOW]


def test_a_deadline_begins_again_when_somebody_resets_the_count() -> None:
    twice = fail_next_run(fail_next_run(an_action(), days=0), days=1)
    reset = replace(twice, retry_count=0)
    assert next_run(reset).first_failed_at is None
    failed_again = fail_next_run(reset, days=3)
    assert next_run(failed_again).first_failed_at == NOW + 3 * DAY


def test_a_reclassified_first_failure_is_known_by_its_new_category() -> None:
    once = fail_next_run(an_action(), days=0)
    once = replace(once, run=replace(run_of(once), category="timeout"))
    assert next_run(once).first_failure == FirstFailure("2026-02-17", "timeout")


def test_the_next_occurrence_has_a_first_failure_of_its_own() -> None:
    given_up = fail_next_run(an_action(repeat="daily", max_retries=5, retry_count=4), days=0)
    assert (given_up.status, given_up.next_retry_at) == (Status.PENDING, None)
    assert run_of(claim_task(given_up, "run-2", at=given_up.due_at)).first_failure is None


def test_a_stored_run_keeps_its_first_failure() -> None:
    run = a_run(first_failure=FirstFailure("2026-02-17", "unknown"))
    stored = json.loads(json.dumps(run_to_stored(run)))
    assert stored["first_failure"] == ["2026-02-17", "unknown"]
    assert run_from_stored(stored) == run
