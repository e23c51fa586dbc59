"""The counters of runs, and the statistics computed from them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta, timezone
from typing import Any

import pytest
from duecourse.domain.failures.subject import Subject, SubjectStatus
from duecourse.domain.journal.counters import (
    FirstFailure,
    Increment,
    failure_increments,
    find_recovery,
    merge_increments,
    recovery_increments,
    success_increments,
)
from duecourse.domain.journal.failure_tracker import FailureTracker
from duecourse.domain.journal.lateness import BAR_BOUNDS_MS
from duecourse.domain.journal.stats import DailyCounter, StatsWindow, stats_to_json
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import a_logged_error, a_recovery
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import DIAGNOSIS, a_committed_run, a_failed_run
from tests.support.builders.tasks import a_task

TODAY = "2026-02-17"
WITH_PROVIDER: dict[str, Any] = {"type": "action", "payload": {"provider": "openai"}}


def sums_by_counter(increments: list[Increment]) -> dict[str, dict[str, int]]:
    return {increment.counter: dict(increment.sums) for increment in increments}


def success_increments_of(old: Task, new: Task, run: Run | None) -> list[Increment]:
    return success_increments(old, new, run, late_after=MINUTE)


def failure_sums(**fields: Any) -> dict[str, dict[str, int]]:
    return sums_by_counter(failure_increments(*a_logged_error(**fields), is_newly_blocked=False))


# Failures


def test_a_failure_is_counted_in_its_category_and_its_pattern() -> None:
    assert failure_sums() == {
        "category#timeout": {"errors": 1, "retries": 1, "failures": 1, "hc": 1},
        "pattern#timeout#http-504": {"errors": 1},
    }


def test_only_the_first_attempt_is_a_first_failure() -> None:
    assert "failures" not in failure_sums(attempt=2)["category#timeout"]


def test_a_failure_without_a_diagnosis_has_no_pattern_counter() -> None:
    assert failure_sums(diagnosis=None).keys() == {"category#timeout"}


def test_a_provider_counter_sums_failures_and_their_duration() -> None:
    sums = failure_sums(task=WITH_PROVIDER, started_at=NOW - timedelta(milliseconds=1500))
    assert sums["provider#openai"] == {"runs": 1, "timed": 1, "ms": 1500, "failures": 1}


def test_a_crashed_run_has_no_duration() -> None:
    sums = failure_sums(task=WITH_PROVIDER, status=RunStatus.CRASHED, started_at=NOW - HOUR)
    assert sums["provider#openai"] == {"runs": 1, "failures": 1}


def test_a_failure_is_counted_on_its_own_day_with_first_and_last_seen() -> None:
    error, run = a_logged_error(at=NOW - DAY)
    increments = failure_increments(error, run, is_newly_blocked=False)
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


def test_a_newly_blocked_failure_increments_blocked() -> None:
    [category, _] = failure_increments(*a_logged_error(), is_newly_blocked=True)
    assert category.sums["blocked"] == 1


# Recoveries


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_success_is_a_recovery_from_the_second_attempt_on(attempt: int) -> None:
    recovery = find_recovery(a_task(), a_task(), a_committed_run(attempt=attempt))
    assert (recovery is not None) is (attempt > 1)


def test_a_failed_retry_is_not_a_recovery() -> None:
    assert find_recovery(a_task(), a_task(), a_failed_run(attempt=2)) is None


def test_a_recovery_has_the_retry_count_of_its_occurrence() -> None:
    before, after = a_task(repeat="daily", retry_count=2), a_task(repeat="daily", retry_count=0)
    recovery = find_recovery(before, after, a_committed_run(attempt=3))
    assert recovery is not None
    assert recovery.retry_count == 2


def test_a_recovery_is_counted_on_the_day_of_the_first_failure() -> None:
    first = FirstFailure(day="2026-02-10", category="rate_limit")
    recovery = a_recovery(retry_count=2, provider="openai")
    sums = {
        (increment.day, increment.counter): dict(increment.sums)
        for increment in recovery_increments(recovery, first)
    }
    assert sums == {
        (TODAY, "after_retries"): {"runs": 1, "retries": 2, "r2": 1},
        ("2026-02-10", "category#rate_limit"): {"recovered": 1},
        (TODAY, "provider#openai"): {"recovered": 1},
    }


def test_a_recovery_without_a_known_first_failure_counts_only_its_retries() -> None:
    assert sums_by_counter(recovery_increments(a_recovery(), None)).keys() == {"after_retries"}


def test_the_retry_histogram_is_capped() -> None:
    assert (
        "r50"
        in sums_by_counter(recovery_increments(a_recovery(retry_count=999), None))["after_retries"]
    )


# Successes


def test_a_success_counts_its_lateness() -> None:
    [lateness] = success_increments_of(a_task(), a_task(), a_committed_run(at=NOW + MINUTE))
    assert lateness == Increment(TODAY, "lateness", {"runs": 1, "b46": 1, "hc": 1}, {"max": 60_000})


def test_an_early_run_has_a_lateness_of_zero() -> None:
    [lateness] = success_increments_of(a_task(due_at=NOW + HOUR), a_task(), a_committed_run())
    assert (lateness.sums, lateness.maximums) == ({"runs": 1, "b0": 1, "hc": 1}, {"max": 0})


@pytest.mark.parametrize(("late_by", "is_late"), [(MINUTE, False), (MINUTE + MILLISECOND, True)])
def test_a_late_run_is_counted_in_the_hour_it_ended(late_by: timedelta, is_late: bool) -> None:
    due_at = NOW - HOUR
    [lateness] = success_increments_of(
        a_task(due_at=due_at), a_task(), a_committed_run(at=due_at + late_by)
    )
    hours = {name: n for name, n in lateness.sums.items() if name[0] in "hl"}
    assert hours == ({"hb": 1, "lb": 1} if is_late else {"hb": 1})


def test_an_approval_counts_as_a_success_of_its_hour_and_never_as_late() -> None:
    awaiting_verification = a_task(status=Status.PENDING_VERIFICATION)
    [lateness] = success_increments_of(
        awaiting_verification, a_task(), a_committed_run(at=NOW + HOUR)
    )
    assert lateness == Increment(TODAY, "lateness", {"hd": 1})


def test_a_success_counts_the_duration_of_its_provider() -> None:
    run = a_committed_run(started_at=NOW - MINUTE)
    [_, provider] = success_increments_of(a_task(), a_task(**WITH_PROVIDER), run)
    assert provider == Increment(TODAY, "provider#openai", {"runs": 1, "timed": 1, "ms": 60_000})


@pytest.mark.parametrize("run", [None, a_failed_run()], ids=["no run", "a failed run"])
def test_only_a_committed_run_is_counted_as_a_success(run: Any) -> None:
    assert success_increments_of(a_task(), a_task(), run) == []


def test_increments_of_one_counter_are_merged() -> None:
    first = Increment("d", "c", {"a": 1}, {"max": 3}, {"f": "2"}, {"l": "2"})
    second = Increment("d", "c", {"a": 2, "b": 1}, {"max": 2}, {"f": "1"}, {"l": "3"})
    assert merge_increments([first, second]) == [
        Increment("d", "c", {"a": 3, "b": 1}, {"max": 3}, {"f": "1"}, {"l": "3"})
    ]


# Trackers


def track_errors(*days_ago: float, **fields: Any) -> FailureTracker:
    tracker = FailureTracker.for_error(a_logged_error()[0])
    for n in days_ago:
        tracker = tracker.record(a_logged_error(at=NOW - n * DAY, **fields)[0])
    return tracker


def test_a_subject_has_one_tracker_for_all_its_tasks() -> None:
    tracker = FailureTracker.for_error(a_logged_error(task={"subject": "story-1"})[0])
    assert (tracker.subject, tracker.task_id) == ("story-1", None)


def test_three_errors_are_not_a_repeated_failure() -> None:
    assert track_errors(3, 2, 1).repeated_since is None


def test_repeated_since_is_the_time_of_the_fourth_latest_error() -> None:
    assert track_errors(9, 3, 2, 1, 0).repeated_since == NOW - 3 * DAY


def test_an_error_recorded_late_is_counted_on_its_own_day() -> None:
    tracker = track_errors(0, 1, category="late").record(a_logged_error(at=NOW - 2 * DAY)[0])
    assert tracker.errors_by_day == {TODAY: 1, "2026-02-16": 1, "2026-02-15": 1}
    assert (tracker.last_error_at, tracker.last_error_category) == (NOW, "late")


def test_days_outside_every_window_are_dropped() -> None:
    assert track_errors(30, 29, 0).errors_by_day.keys() == {"2026-01-19", TODAY}


def test_a_tracker_is_newly_blocked_once_a_day() -> None:
    error, _ = a_logged_error(category="budget_exceeded")
    next_day, _ = a_logged_error(category="budget_exceeded", at=NOW + DAY)
    before = FailureTracker.for_error(error)
    after = before.record(error)
    assert [tracker.is_newly_blocked(error) for tracker in (before, after)] == [True, False]
    assert after.is_newly_blocked(next_day)


def test_only_budget_errors_count_as_blocked() -> None:
    error, _ = a_logged_error(category="timeout")
    assert not FailureTracker.for_error(error).is_newly_blocked(error)


# Statistics


def stats_of(*counters: DailyCounter, **fields: Any) -> dict[str, Any]:
    window_fields: dict[str, Any] = {"failed_subjects": [], "repeated_failures": [], **fields}
    return stats_to_json(
        StatsWindow(days=[TODAY, "2026-02-16"], counters=counters, **window_fields)
    )


def test_statistics_without_counters_are_empty() -> None:
    assert stats_of() == {
        "days": 2,
        "errors_by_category": [],
        "errors_by_day": [],
        "recovery_rate": [],
        "top_failing": [],
        "repeated_failures": [],
        "budget_timeline": [],
        "retries_to_success": {"average": None, "histogram": {}},
        "common_patterns": [],
        "lateness": {
            **{"count": 0, "p50": None, "p95": None, "p99": None, "max": None},
            "histogram": [
                {"up_to_ms": up_to_ms, "count": 0} for up_to_ms in [*BAR_BOUNDS_MS, None]
            ],
        },
        "by_provider": [],
    }


def test_categories_are_summed_over_all_days_and_sorted_by_count() -> None:
    rows = stats_of(
        DailyCounter(TODAY, "category#timeout", {"errors": 1, "retries": 3}, {"last_seen": "c"}),
        DailyCounter(
            "2026-02-16",
            "category#timeout",
            {"errors": 2, "retries": 2},
            {"first_seen": "a", "last_seen": "b"},
        ),
        DailyCounter(TODAY, "category#rate_limit", {"errors": 9, "retries": 9}),
    )["errors_by_category"]
    assert [row["category"] for row in rows] == ["rate_limit", "timeout"]
    assert rows[1] == {
        "category": "timeout",
        "count": 3,
        "avg_retry_count": 1.7,
        "first_seen": "a",
        "last_seen": "c",
    }


def test_the_recovery_rate_is_relative_to_first_failures() -> None:
    numbers = {"errors": 5, "failures": 3, "recovered": 2}
    assert stats_of(DailyCounter(TODAY, "category#timeout", numbers))["recovery_rate"] == [
        {"category": "timeout", "failures": 3, "recovered": 2, "percent": 66.7}
    ]


def test_subjects_with_a_permanent_failure_are_listed() -> None:
    subject = Subject(
        id="story-1",
        failure_count=5,
        status=SubjectStatus.PERMANENT_FAILURE,
        last_error_category="rate_limit",
        last_error_message="slow down",
        last_attempt_at=NOW,
    )
    assert stats_of(failed_subjects=[subject])["top_failing"] == [
        {
            "subject": "story-1",
            "failure_count": 5,
            "status": "permanent_failure",
            "last_error_category": "rate_limit",
            "last_error_message": "slow down",
            "last_attempt_at": "2026-02-17T12:00:00.000Z",
        }
    ]


def test_repeated_failures_are_sorted_by_their_count_within_the_window() -> None:
    few_errors = track_errors(5, 1, 0.5, 0.1, 0)
    many_errors = FailureTracker(subject="s", errors_by_day={TODAY: 9}, recent_errors_at=(NOW,) * 4)
    rows = stats_of(repeated_failures=[few_errors, many_errors])["repeated_failures"]
    assert [(row["subject"], row["total_errors"]) for row in rows] == [("s", 9), (None, 4)]
    assert rows[1]["task_id"] == a_task().id


def test_the_budget_timeline_lists_the_newest_day_first() -> None:
    rows = stats_of(
        DailyCounter("2026-02-16", "category#budget_exceeded", {"errors": 4, "blocked": 2}),
        DailyCounter(TODAY, "category#budget_exceeded", {"errors": 1, "blocked": 1}),
        DailyCounter(TODAY, "category#timeout", {"errors": 1}),
    )["budget_timeline"]
    assert rows == [
        {"day": TODAY, "errors": 1, "unique_blocked": 1},
        {"day": "2026-02-16", "errors": 4, "unique_blocked": 2},
    ]


def test_retries_to_success_cover_recovered_occurrences() -> None:
    numbers = {"runs": 3, "retries": 12, "r0": 1, "r2": 1, "r10": 1}
    assert stats_of(DailyCounter(TODAY, "after_retries", numbers))["retries_to_success"] == {
        "average": 4.0,
        "histogram": {"0": 1, "2": 1, "10": 1},
    }


def test_a_pattern_can_contain_any_character() -> None:
    stats = stats_of(DailyCounter(TODAY, "pattern#timeout#a#b", {"errors": 2}, {"last_seen": "z"}))
    assert stats["common_patterns"] == [
        {"pattern": "a#b", "category": "timeout", "count": 2, "last_seen": "z"}
    ]


def test_the_largest_lateness_of_all_days_is_exact() -> None:
    lateness = stats_of(
        DailyCounter(TODAY, "lateness", {"runs": 1, "b3": 1, "max": 3}),
        DailyCounter("2026-02-16", "lateness", {"runs": 1, "b10": 1, "max": 14}),
    )["lateness"]
    histogram = lateness.pop("histogram")
    assert lateness == {"count": 2, "p50": 3, "p95": 14, "p99": 14, "max": 14}
    assert [bar for bar in histogram if bar["count"]] == [{"up_to_ms": 32, "count": 2}]


def test_errors_by_day_list_the_oldest_day_first() -> None:
    yesterday = "2026-02-16"
    rows = stats_of(
        DailyCounter(TODAY, "category#timeout", {"errors": 1}),
        DailyCounter(TODAY, "category#auth", {"errors": 3}),
        DailyCounter(TODAY, "category#recovered-only", {"recovered": 1}),
        DailyCounter(TODAY, "provider#timeout", {"runs": 1}),
        DailyCounter(yesterday, "category#timeout", {"errors": 2}),
    )["errors_by_day"]
    assert rows == [
        {"day": yesterday, "category": "timeout", "count": 2},
        {"day": TODAY, "category": "auth", "count": 3},
        {"day": TODAY, "category": "timeout", "count": 1},
    ]


def test_hourly_sums_do_not_change_the_statistics() -> None:
    lateness = {"runs": 1, "b3": 1, "max": 3}
    errors = {"errors": 1, "retries": 1, "failures": 1}
    hours = {f"{name}{hour}": 7 for hour in "0123456789abcdefghijklmn" for name in "hl"}
    both_stats = [
        stats_of(
            DailyCounter(TODAY, "lateness", lateness | hourly_sums),
            DailyCounter(TODAY, "category#x", errors | hourly_sums),
        )
        for hourly_sums in ({}, hours)
    ]
    assert both_stats[0] == both_stats[1]


def test_provider_statistics_are_computed_from_its_runs() -> None:
    numbers = {"runs": 3, "failures": 1, "recovered": 1, "timed": 2, "ms": 300}
    assert stats_of(DailyCounter(TODAY, "provider#open#ai", numbers))["by_provider"] == [
        {
            "provider": "open#ai",
            "runs": 3,
            "failures": 1,
            "recovered": 1,
            "failure_percent": 33.3,
            "avg_duration_ms": 150.0,
        }
    ]


def test_an_uncounted_failure_is_still_an_error_of_its_category() -> None:
    sums = failure_sums(diagnosis=replace(DIAGNOSIS, counted=False, retry_count=0))
    assert sums["category#timeout"] == {"errors": 1, "retries": 0, "failures": 1}
