"""What a change of a task adds to the counters of a day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta, timezone
from typing import Any

import pytest
from duecourse.domain.journal.counters import count_change, is_recovery
from duecourse.domain.journal.increment import Increment, merge_increments
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.run import FirstFailure, MutationStatus, PreviousFailure, Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import Reading
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import DIAGNOSIS, a_committed_run, a_failed_run, a_run, run_of
from tests.support.builders.tasks import a_task, claim_task

TODAY = "2026-02-17"
WITH_PROVIDER: dict[str, Any] = {"type": "action", "payload": {"provider": "openai"}}
CATEGORY = "category#timeout"


def count_run(run: Run, *, old: Task | None = None, **task: Any) -> list[Increment]:
    """Count the change that ended the run."""
    before = old or a_task(**task, run=replace(run, status=RunStatus.ACTIVE, ended_at=None))
    return count_change(before, a_task(**task, run=run), late_after=MINUTE)


def sums_by_counter(increments: Sequence[Increment]) -> dict[str, dict[str, int]]:
    return {increment.counter: dict(increment.sums) for increment in increments}


def failure_sums(*, task: dict[str, Any] | None = None, **fields: Any) -> dict[str, dict[str, int]]:
    return sums_by_counter(count_run(a_failed_run(**fields), **(task or {})))


# Failures


def test_a_failure_is_counted_in_its_category_and_its_pattern() -> None:
    assert failure_sums() == {
        CATEGORY: {"errors": 1, "retries": 1, "failures": 1, "hc": 1, "k#timeout": 1},
        "pattern#timeout#http-504": {"errors": 1, "k#timeout": 1},
    }


def test_a_failure_stored_without_a_kind_is_counted_in_none() -> None:
    counted = failure_sums(diagnosis=replace(DIAGNOSIS, kind=None))
    assert counted[CATEGORY] == {"errors": 1, "retries": 1, "failures": 1, "hc": 1}


def test_another_kind_of_the_same_category_moves_the_count() -> None:
    before = a_failed_run()
    after = replace(before, diagnosis=replace(DIAGNOSIS, kind=Kind.NETWORK, pattern="person"))
    increments = count_change(a_task(run=before), a_task(run=after), late_after=MINUTE)
    assert sums_by_counter(merge_increments(increments)) == {
        CATEGORY: {"k#timeout": -1, "k#network": 1},
        "pattern#timeout#http-504": {"errors": -1, "k#timeout": -1},
        "pattern#timeout#person": {"errors": 1, "k#network": 1},
    }


def test_only_the_first_attempt_is_a_first_failure() -> None:
    assert "failures" not in failure_sums(attempt=2)[CATEGORY]


def test_a_failure_without_a_diagnosis_has_no_pattern_counter() -> None:
    assert failure_sums(diagnosis=None).keys() == {CATEGORY}


def test_a_crash_without_a_category_is_counted_as_unknown() -> None:
    assert failure_sums(status=RunStatus.CRASHED, category=None, error=None).keys() == {
        "category#unknown",
        "pattern#unknown#http-504",
    }


def test_a_provider_counter_sums_failures_and_their_duration() -> None:
    sums = failure_sums(task=WITH_PROVIDER, started_at=NOW - timedelta(milliseconds=1500))
    assert sums["provider#openai"] == {"runs": 1, "timed": 1, "ms": 1500, "failures": 1}


def test_a_crashed_run_has_no_duration() -> None:
    sums = failure_sums(task=WITH_PROVIDER, status=RunStatus.CRASHED, started_at=NOW - HOUR)
    assert sums["provider#openai"] == {"runs": 1, "failures": 1}


def test_a_failure_is_counted_on_its_own_day_with_first_and_last_seen() -> None:
    increments = count_run(a_failed_run(at=NOW - DAY))
    assert {increment.day for increment in increments} == {"2026-02-16"}
    assert increments[0].earliest == {"first_seen": "2026-02-16T12:00:00.000Z"}
    assert increments[0].latest == {"last_seen": "2026-02-16T12:00:00.000Z"}


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"at": NOW - 3 * HOUR}, ["h9"]),
        ({"at": NOW + 12 * HOUR - MINUTE}, ["hn"]),
        ({"at": (NOW + HOUR).astimezone(timezone(timedelta(hours=5)))}, ["hd"]),
        ({"attempt": 3}, ["hc"]),
        ({"diagnosis": replace(DIAGNOSIS, counted=False)}, []),
        ({"category": "budget_exceeded"}, []),
    ],
    ids=["early", "late", "another zone", "a retry", "uncounted", "no budget"],
)
def test_a_counted_failure_increments_its_hour(fields: Any, names: list[str]) -> None:
    sums = failure_sums(**fields)[f"category#{fields.get('category', 'timeout')}"]
    assert [name for name in sums if name.startswith("h")] == names


@pytest.mark.parametrize("is_newly_blocked", [True, False])
def test_a_newly_blocked_failure_increments_blocked(is_newly_blocked: bool) -> None:
    diagnosis = replace(DIAGNOSIS, is_newly_blocked=is_newly_blocked)
    sums = failure_sums(diagnosis=diagnosis, category="budget_exceeded")
    assert sums["category#budget_exceeded"].get("blocked") == (1 if is_newly_blocked else None)


def test_an_uncounted_failure_is_still_an_error_of_its_category() -> None:
    sums = failure_sums(diagnosis=replace(DIAGNOSIS, counted=False, retry_count=0))
    assert sums[CATEGORY] == {"errors": 1, "retries": 0, "failures": 1, "k#timeout": 1}


def test_long_names_are_truncated_in_keys() -> None:
    diagnosis = replace(DIAGNOSIS, pattern="p" * 300)
    [category, pattern] = count_run(a_failed_run(category="c" * 300, diagnosis=diagnosis))
    assert category.counter == "category#" + "c" * 200
    assert pattern.counter == f"pattern#{'c' * 200}#{'p' * 200}"


# Changes that count nothing


def test_a_change_that_ends_no_run_counts_nothing() -> None:
    running = claim_task(a_task())
    for old, new in ((None, a_task()), (a_task(), running), (running, replace(running, version=9))):
        assert count_change(old, new, late_after=MINUTE) == []


@pytest.mark.parametrize("status", [RunStatus.CANCELLED, RunStatus.PAUSED_APPROVAL])
def test_a_run_that_neither_failed_nor_succeeded_counts_nothing(status: RunStatus) -> None:
    assert count_run(a_run(status=status, ended_at=NOW), **WITH_PROVIDER) == []


def test_an_edit_after_the_run_counts_nothing_again() -> None:
    failed = a_task(run=a_failed_run())
    assert count_change(failed, replace(failed, description="x"), late_after=MINUTE) == []


# Recoveries


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_success_is_a_recovery_from_the_second_attempt_on(attempt: int) -> None:
    assert is_recovery(a_task(), a_task(), a_committed_run(attempt=attempt)) is (attempt > 1)


def test_a_failed_retry_is_not_a_recovery() -> None:
    assert not is_recovery(a_task(), a_task(), a_failed_run(attempt=2))


@pytest.mark.parametrize("retry_count", [0, 1])
def test_a_verification_after_no_failure_is_not_a_recovery(retry_count: int) -> None:
    run = a_committed_run(attempt=2, is_verified=True)
    assert is_recovery(a_task(retry_count=retry_count), a_task(), run) is (retry_count > 0)


def recovery_sums(
    run: Run, *, retry_count: int = 2, **task: Any
) -> dict[tuple[str, str], dict[str, int]]:
    """Return the sums of a series whose occurrence succeeded after this many retries."""
    old = a_task(repeat="daily", retry_count=retry_count)
    increments = count_change(old, a_task(repeat="daily", run=run, **task), late_after=MINUTE)
    sums = {(increment.day, increment.counter): dict(increment.sums) for increment in increments}
    del sums[TODAY, "lateness"]
    return sums


def test_a_recovery_is_counted_on_the_day_of_the_first_failure() -> None:
    run = a_committed_run(attempt=3, first_failure=FirstFailure("2026-02-10", "rate_limit"))
    sums = recovery_sums(run, **WITH_PROVIDER)
    assert sums[TODAY, "provider#openai"].keys() == {"recovered"}
    assert sums == {
        (TODAY, "after_retries"): {"runs": 1, "retries": 2, "r2": 1},
        ("2026-02-10", "category#rate_limit"): {"recovered": 1},
        (TODAY, "provider#openai"): {"recovered": 1},
    }


def test_a_recovered_run_counts_as_a_run_of_its_provider() -> None:
    run = a_committed_run(attempt=2, started_at=NOW - MINUTE)
    merged = merge_increments(
        count_change(a_task(retry_count=1), a_task(run=run, **WITH_PROVIDER), late_after=MINUTE)
    )
    assert sums_by_counter(merged)["provider#openai"] == {
        **{"runs": 1, "timed": 1, "ms": 60_000, "recovered": 1},
    }


def test_a_recovery_without_a_known_first_failure_counts_only_its_retries() -> None:
    """A run that started before an upgrade does not know its first failure."""
    assert recovery_sums(a_committed_run(attempt=2)).keys() == {(TODAY, "after_retries")}


def test_the_retry_histogram_is_capped() -> None:
    sums = recovery_sums(a_committed_run(attempt=2), retry_count=999)
    assert sums[TODAY, "after_retries"] == {"runs": 1, "retries": 999, "r50": 1}


# Successes


def success_increments(run: Run, *, old: Task | None = None, **task: Any) -> list[Increment]:
    return count_change(old or a_task(), a_task(**task, run=run), late_after=MINUTE)


def test_a_success_counts_its_lateness() -> None:
    [lateness] = success_increments(a_committed_run(at=NOW + MINUTE))
    assert lateness == Increment(TODAY, "lateness", {"runs": 1, "b46": 1, "hc": 1}, {"max": 60_000})


def test_an_early_run_has_a_lateness_of_zero() -> None:
    [lateness] = success_increments(a_committed_run(), old=a_task(due_at=NOW + HOUR))
    assert (lateness.sums, lateness.maximums) == ({"runs": 1, "b0": 1, "hc": 1}, {"max": 0})


def test_a_recovery_from_a_crash_is_measured_against_the_original_due_time() -> None:
    run = a_committed_run(originally_due_at=NOW - HOUR)
    [lateness] = success_increments(run)
    assert lateness.maximums == {"max": 3_600_000}


@pytest.mark.parametrize(("late_by", "is_late"), [(MINUTE, False), (MINUTE + MILLISECOND, True)])
def test_a_late_run_is_counted_in_the_hour_it_ended(late_by: timedelta, is_late: bool) -> None:
    due_at = NOW - HOUR
    [lateness] = success_increments(a_committed_run(at=due_at + late_by), old=a_task(due_at=due_at))
    hours = {name: n for name, n in lateness.sums.items() if name[0] in "hl"}
    assert hours == ({"hb": 1, "lb": 1} if is_late else {"hb": 1})


def test_an_approval_counts_as_a_success_of_its_hour_and_never_as_late() -> None:
    waiting = a_task(status=Status.PENDING_VERIFICATION)
    [lateness] = success_increments(a_committed_run(at=NOW + HOUR), old=waiting)
    assert lateness == Increment(TODAY, "lateness", {"hd": 1})


def test_a_success_counts_the_duration_of_its_provider() -> None:
    [_, provider] = success_increments(a_committed_run(started_at=NOW - MINUTE), **WITH_PROVIDER)
    assert provider == Increment(TODAY, "provider#openai", {"runs": 1, "timed": 1, "ms": 60_000})


# Amendments


def reclassify(task: Task, **run: Any) -> Task:
    return replace(task, run=replace(run_of(task), **run))


def test_a_reclassification_moves_the_counts_to_the_new_category() -> None:
    failed = a_task(run=a_failed_run(), **WITH_PROVIDER)
    corrected = replace(
        DIAGNOSIS, kind=Kind.DISK, pattern="person", read_as=Reading(category="timeout")
    )
    after = reclassify(failed, category="rate_limit", diagnosis=corrected)
    merged = merge_increments(count_change(failed, after, late_after=MINUTE))
    assert {one.counter: dict(one.sums) for one in merged if one.sums} == {
        CATEGORY: {"errors": -1, "retries": -1, "failures": -1, "hc": -1, "k#timeout": -1},
        "pattern#timeout#http-504": {"errors": -1, "k#timeout": -1},
        "category#rate_limit": {"errors": 1, "retries": 1, "failures": 1, "hc": 1, "k#disk": 1},
        "pattern#rate_limit#person": {"errors": 1, "k#disk": 1},
    }


def test_a_reclassified_failure_adds_up_to_one_failure_of_the_new_category() -> None:
    """Also its provider has failed once, not twice."""
    failed = a_task(run=a_failed_run(), **WITH_PROVIDER)
    after = reclassify(failed, category="rate_limit")
    moved = [
        *count_run(run_of(failed), **WITH_PROVIDER),
        *count_change(failed, after, late_after=MINUTE),
    ]
    at_once = count_run(run_of(after), **WITH_PROVIDER)
    sums = {one.counter: one.sums for one in merge_increments(moved) if one.sums}
    assert sums == {one.counter: one.sums for one in merge_increments(at_once)}


def test_a_reclassification_teaches_no_retry_again() -> None:
    run = a_failed_run(
        diagnosis=replace(DIAGNOSIS, fingerprint="0a"),
        previous_failure=PreviousFailure(category="timeout", fingerprint="0a", delay_seconds=30),
    )
    failed = a_task(run=run)
    counted = count_change(failed, reclassify(failed, category="x"), late_after=MINUTE)
    assert {one.counter.partition("#")[0] for one in counted} == {"category", "pattern"}


@pytest.mark.parametrize(
    "change",
    [
        {"diagnosis": replace(DIAGNOSIS, by="ada")},
        {"mutation": replace(a_run().mutation, status=MutationStatus.APPLIED)},
        {"status": RunStatus.CANCELLED, "category": "another"},
    ],
    ids=["same category", "resolved", "no failure any more"],
)
def test_another_amendment_counts_nothing(change: dict[str, Any]) -> None:
    failed = a_task(run=a_failed_run())
    assert count_change(failed, reclassify(failed, **change), late_after=MINUTE) == []
