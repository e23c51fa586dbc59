"""A retry knows what it follows, and the delay where that was kept to."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.failures.failure import Failure
from duecourse.domain.lifecycle.blocked_outcome import apply_review
from duecourse.domain.lifecycle.user_actions import retry, run_now
from duecourse.domain.requests.json import run_from_stored, run_to_stored
from duecourse.domain.tasks.run import PreviousFailure
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import a_diagnosis, a_failure_report, apply_decision, fail_task
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.runs import a_run, run_of
from tests.support.builders.tasks import a_task, an_action, claim_task

SECOND = timedelta(seconds=1)


def a_failed_action(failure: Failure | None = None, **fields: Any) -> Task:
    """Waits two minutes for its retry."""
    task = claim_task(an_action(**fields))
    report = a_failure_report(task, failure or Failure.create("boom"))
    diagnosis = a_diagnosis("code_error", fingerprint="0123456789abcdef")
    return apply_decision(task, report, at=NOW, diagnosis=diagnosis)


def follows(task: Task, *, after: timedelta = 130 * SECOND) -> PreviousFailure | None:
    return run_of(claim_task(task, "run-2", at=NOW + after)).previous_failure


def test_a_first_run_follows_nothing() -> None:
    assert run_of(claim_task(an_action())).previous_failure is None


def test_a_retry_follows_a_failure_and_its_delay() -> None:
    assert follows(a_failed_action()) == PreviousFailure(
        category="code_error", fingerprint="0123456789abcdef", delay_seconds=120
    )


def test_a_failure_from_before_fingerprints_were_taken_is_followed_too() -> None:
    task = fail_task(claim_task(an_action()))
    assert follows(task) == PreviousFailure(category="unknown", delay_seconds=120)


def test_a_retry_that_only_a_person_wanted_follows_no_delay() -> None:
    task = fail_task(claim_task(an_action(max_retries=5, retry_count=4)))
    assert task.next_retry_at is None
    assert follows(retry(task, at=NOW)) == PreviousFailure(category="unknown")


def test_the_retry_after_a_review_follows_the_failure_and_no_delay() -> None:
    task = a_failed_action(retry_count=2, payload={"provider": "scripted", "spec": "x"})
    review = replace(a_task(), status=Status.COMPLETED)
    again = apply_review(task, review, at=NOW + HOUR)
    assert again.recovery_action == "retry_with_spec_refresh"
    assert follows(again, after=HOUR) == PreviousFailure(
        category="code_error", fingerprint="0123456789abcdef"
    )


def test_a_wait_that_was_not_counted_is_not_followed() -> None:
    task = claim_task(an_action(policy="enrichment"))
    task = fail_task(task, Failure.create("no money left", code="budget_exceeded"))
    assert follows(task, after=DAY) is None


def test_whoever_wants_it_at_once_keeps_to_no_delay() -> None:
    task = run_now(a_failed_action(), at=NOW + SECOND)
    found = follows(task, after=SECOND)
    assert found is not None
    assert (found.category, found.delay_seconds) == ("code_error", None)


@pytest.mark.parametrize(("asked", "waited"), [(90, 120), (119, 120), (120, None), (400, None)])
def test_a_wait_that_the_server_asked_for_is_not_the_policys(
    asked: int, waited: int | None
) -> None:
    found = follows(
        a_failed_action(Failure.create("boom", retry_after=asked)), after=7 * MINUTE / 2
    )
    assert found is not None
    assert found.delay_seconds == waited


@pytest.mark.parametrize(("after", "waited"), [(210, 120), (211, None), (3600, None)])
def test_one_that_was_held_up_for_long_says_nothing_of_its_delay(
    after: int, waited: int | None
) -> None:
    found = follows(a_failed_action(), after=after * SECOND)
    assert found is not None
    assert found.delay_seconds == waited


@pytest.mark.parametrize(
    "follows",
    [
        None,
        PreviousFailure(category="x"),
        PreviousFailure(category="x", fingerprint="y", delay_seconds=30),
    ],
)
def test_it_is_kept_with_the_run(follows: PreviousFailure | None) -> None:
    run = replace(a_run(), previous_failure=follows)
    stored = run_to_stored(run)
    assert run_from_stored(stored) == run
    assert ("follows" in stored) == (follows is not None)
