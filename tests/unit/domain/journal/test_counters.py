"""What is counted of runs, and what the counters tell."""

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


def counted(increments: list[Increment]) -> dict[str, dict[str, int]]:
    return {one.counter: dict(one.sums) for one in increments}


def succeeded(old: Task, new: Task, run: Run | None) -> list[Increment]:
    return success_increments(old, new, run, late_after=MINUTE)


def failed(**fields: Any) -> dict[str, dict[str, int]]:
    return counted(failure_increments(*a_logged_error(**fields), is_newly_blocked=False))


# Failures


def test_a_failure_counts_in_its_category_and_its_pattern() -> None:
    assert failed() == {
        "category#timeout": {"errors": 1, "retries": 1, "failures": 1, "hc": 1},
        "pattern#timeout#http-504": {"errors": 1},
    }


def test_only_the_first_attempt_is_a_first_failure() -> None:
    assert "failures" not in failed(attempt=2)["category#timeout"]


def test_what_no_rule_decided_has_no_pattern() -> None:
    assert failed(diagnosis=None).keys() == {"category#timeout"}


def test_a_provider_counts_its_failures_and_what_they_took() -> None:
    found = failed(task=WITH_PROVIDER, started_at=NOW - timedelta(milliseconds=1500))
    assert found["provider#openai"] == {"runs": 1, "timed": 1, "ms": 1500, "failures": 1}


def test_a_run_whose_worker_vanished_has_no_duration() -> None:
    found = failed(task=WITH_PROVIDER, status=RunStatus.CRASHED, started_at=NOW - HOUR)
    assert found["provider#openai"] == {"runs": 1, "failures": 1}


def test_a_failure_is_counted_on_its_own_day_and_tells_when_it_was() -> None:
    error, run = a_logged_error(at=NOW - DAY)
    found = failure_increments(error, run, is_newly_blocked=False)
    assert {one.day for one in found} == {"2026-02-16"}
    assert found[0].earliest == {"first_seen": "2026-02-16T12:00:00.000Z"}
    assert found[0].latest == {"last_seen": "2026-02-16T12:00:00.000Z"}


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
    ids=["early", "late", "elsewhere", "a retry", "a hiccup", "no budget"],
)
def test_a_failure_that_counts_is_one_of_its_hour(fields: Any, names: list[str]) -> None:
    found = failed(**fields)[f"category#{fields.get('category', 'timeout')}"]
    assert [name for name in found if name.startswith("h")] == names


def test_who_is_newly_blocked_is_counted_besides() -> None:
    [category, _] = failure_increments(*a_logged_error(), is_newly_blocked=True)
    assert category.sums["blocked"] == 1


# Recoveries


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_success_is_a_recovery_from_the_second_attempt_on(attempt: int) -> None:
    found = find_recovery(a_task(), a_task(), a_committed_run(attempt=attempt))
    assert (found is not None) is (attempt > 1)


def test_a_failed_retry_is_no_recovery() -> None:
    assert find_recovery(a_task(), a_task(), a_failed_run(attempt=2)) is None


def test_a_recovery_knows_how_often_the_occurrence_was_tried() -> None:
    before, after = a_task(repeat="daily", retry_count=2), a_task(repeat="daily", retry_count=0)
    found = find_recovery(before, after, a_committed_run(attempt=3))
    assert found is not None
    assert found.retry_count == 2


def test_a_recovery_counts_where_the_occurrence_failed_first() -> None:
    first = FirstFailure(day="2026-02-10", category="rate_limit")
    recovery = a_recovery(retry_count=2, provider="openai")
    found = {(one.day, one.counter): dict(one.sums) for one in recovery_increments(recovery, first)}
    assert found == {
        (TODAY, "after_retries"): {"runs": 1, "retries": 2, "r2": 1},
        ("2026-02-10", "category#rate_limit"): {"recovered": 1},
        (TODAY, "provider#openai"): {"recovered": 1},
    }


def test_a_recovery_from_nobody_knows_what_counts_its_retries() -> None:
    assert counted(recovery_increments(a_recovery(), None)).keys() == {"after_retries"}


def test_the_counts_of_retries_do_not_grow_without_end() -> None:
    assert "r50" in counted(recovery_increments(a_recovery(retry_count=999), None))["after_retries"]


# Successes


def test_a_success_tells_how_late_it_was() -> None:
    [late] = succeeded(a_task(), a_task(), a_committed_run(at=NOW + MINUTE))
    assert late == Increment(TODAY, "lateness", {"runs": 1, "b46": 1, "hc": 1}, {"max": 60_000})


def test_nothing_is_later_than_never() -> None:
    [late] = succeeded(a_task(due_at=NOW + HOUR), a_task(), a_committed_run())
    assert (late.sums, late.maximums) == ({"runs": 1, "b0": 1, "hc": 1}, {"max": 0})


@pytest.mark.parametrize(("late_by", "is_late"), [(MINUTE, False), (MINUTE + MILLISECOND, True)])
def test_what_is_later_than_it_should_be_is_counted_in_the_hour_it_ended(
    late_by: timedelta, is_late: bool
) -> None:
    due_at = NOW - HOUR
    [late] = succeeded(a_task(due_at=due_at), a_task(), a_committed_run(at=due_at + late_by))
    hours = {name: n for name, n in late.sums.items() if name[0] in "hl"}
    assert hours == ({"hb": 1, "lb": 1} if is_late else {"hb": 1})


def test_a_verdict_is_a_success_of_its_hour_and_never_late() -> None:
    checked = a_task(status=Status.PENDING_VERIFICATION)
    [late] = succeeded(checked, a_task(), a_committed_run(at=NOW + HOUR))
    assert late == Increment(TODAY, "lateness", {"hd": 1})


def test_a_success_tells_what_its_provider_took() -> None:
    run = a_committed_run(started_at=NOW - MINUTE)
    [_, provider] = succeeded(a_task(), a_task(**WITH_PROVIDER), run)
    assert provider == Increment(TODAY, "provider#openai", {"runs": 1, "timed": 1, "ms": 60_000})


@pytest.mark.parametrize("run", [None, a_failed_run()], ids=["no run", "a failed run"])
def test_only_a_success_is_counted_as_one(run: Any) -> None:
    assert succeeded(a_task(), a_task(), run) == []


def test_increments_of_one_counter_become_one() -> None:
    one = Increment("d", "c", {"a": 1}, {"max": 3}, {"f": "2"}, {"l": "2"})
    other = Increment("d", "c", {"a": 2, "b": 1}, {"max": 2}, {"f": "1"}, {"l": "3"})
    assert merge_increments([one, other]) == [
        Increment("d", "c", {"a": 3, "b": 1}, {"max": 3}, {"f": "1"}, {"l": "3"})
    ]


# Trackers


def tracked(*days_ago: float, **fields: Any) -> FailureTracker:
    tracker = FailureTracker.for_error(a_logged_error()[0])
    for n in days_ago:
        tracker = tracker.record(a_logged_error(at=NOW - n * DAY, **fields)[0])
    return tracker


def test_a_subject_is_tracked_for_all_its_tasks() -> None:
    tracker = FailureTracker.for_error(a_logged_error(task={"subject": "story-1"})[0])
    assert (tracker.subject, tracker.task_id) == ("story-1", None)


def test_three_errors_are_not_yet_repeated() -> None:
    assert tracked(3, 2, 1).repeated_since is None


def test_the_fourth_error_back_tells_which_windows_hold_a_repetition() -> None:
    assert tracked(9, 3, 2, 1, 0).repeated_since == NOW - 3 * DAY


def test_an_error_that_comes_late_is_counted_on_its_day() -> None:
    tracker = tracked(0, 1, category="late").record(a_logged_error(at=NOW - 2 * DAY)[0])
    assert tracker.errors_by_day == {TODAY: 1, "2026-02-16": 1, "2026-02-15": 1}
    assert (tracker.last_error_at, tracker.last_error_category) == (NOW, "late")


def test_days_that_no_window_holds_are_forgotten() -> None:
    assert tracked(30, 29, 0).errors_by_day.keys() == {"2026-01-19", TODAY}


def test_one_is_newly_blocked_once_a_day() -> None:
    error, _ = a_logged_error(category="budget_exceeded")
    next_day, _ = a_logged_error(category="budget_exceeded", at=NOW + DAY)
    before = FailureTracker.for_error(error)
    after = before.record(error)
    assert [tracker.is_newly_blocked(error) for tracker in (before, after)] == [True, False]
    assert after.is_newly_blocked(next_day)


def test_only_the_budget_blocks() -> None:
    error, _ = a_logged_error(category="timeout")
    assert not FailureTracker.for_error(error).is_newly_blocked(error)


# What the counters tell


def told(*counters: DailyCounter, **fields: Any) -> dict[str, Any]:
    known: dict[str, Any] = {"failed_subjects": [], "repeated_failures": [], **fields}
    return stats_to_json(StatsWindow(days=[TODAY, "2026-02-16"], counters=counters, **known))


def test_where_nothing_happened_nothing_is_told() -> None:
    assert told() == {
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


def test_categories_are_told_most_first_over_all_days() -> None:
    found = told(
        DailyCounter(TODAY, "category#timeout", {"errors": 1, "retries": 3}, {"last_seen": "c"}),
        DailyCounter(
            "2026-02-16",
            "category#timeout",
            {"errors": 2, "retries": 2},
            {"first_seen": "a", "last_seen": "b"},
        ),
        DailyCounter(TODAY, "category#rate_limit", {"errors": 9, "retries": 9}),
    )["errors_by_category"]
    assert [one["category"] for one in found] == ["rate_limit", "timeout"]
    assert found[1] == {
        "category": "timeout",
        "count": 3,
        "avg_retry_count": 1.7,
        "first_seen": "a",
        "last_seen": "c",
    }


def test_the_rate_of_recovery_is_that_of_first_failures() -> None:
    numbers = {"errors": 5, "failures": 3, "recovered": 2}
    assert told(DailyCounter(TODAY, "category#timeout", numbers))["recovery_rate"] == [
        {"category": "timeout", "failures": 3, "recovered": 2, "percent": 66.7}
    ]


def test_subjects_that_were_given_up_are_told() -> None:
    subject = Subject(
        id="story-1",
        failure_count=5,
        status=SubjectStatus.PERMANENT_FAILURE,
        last_error_category="rate_limit",
        last_error_message="slow down",
        last_attempt_at=NOW,
    )
    assert told(failed_subjects=[subject])["top_failing"] == [
        {
            "subject": "story-1",
            "failure_count": 5,
            "status": "permanent_failure",
            "last_error_category": "rate_limit",
            "last_error_message": "slow down",
            "last_attempt_at": "2026-02-17T12:00:00.000Z",
        }
    ]


def test_repeated_failures_are_told_most_first_as_counted_within_the_window() -> None:
    few = tracked(5, 1, 0.5, 0.1, 0)
    many = FailureTracker(subject="s", errors_by_day={TODAY: 9}, recent_errors_at=(NOW,) * 4)
    found = told(repeated_failures=[few, many])["repeated_failures"]
    assert [(one["subject"], one["total_errors"]) for one in found] == [("s", 9), (None, 4)]
    assert found[1]["task_id"] == a_task().id


def test_the_budget_is_told_by_day_newest_first() -> None:
    found = told(
        DailyCounter("2026-02-16", "category#budget_exceeded", {"errors": 4, "blocked": 2}),
        DailyCounter(TODAY, "category#budget_exceeded", {"errors": 1, "blocked": 1}),
        DailyCounter(TODAY, "category#timeout", {"errors": 1}),
    )["budget_timeline"]
    assert found == [
        {"day": TODAY, "errors": 1, "unique_blocked": 1},
        {"day": "2026-02-16", "errors": 4, "unique_blocked": 2},
    ]


def test_retries_to_success_are_those_of_what_recovered() -> None:
    numbers = {"runs": 3, "retries": 12, "r0": 1, "r2": 1, "r10": 1}
    assert told(DailyCounter(TODAY, "after_retries", numbers))["retries_to_success"] == {
        "average": 4.0,
        "histogram": {"0": 1, "2": 1, "10": 1},
    }


def test_a_pattern_may_hold_any_character() -> None:
    found = told(DailyCounter(TODAY, "pattern#timeout#a#b", {"errors": 2}, {"last_seen": "z"}))
    assert found["common_patterns"] == [
        {"pattern": "a#b", "category": "timeout", "count": 2, "last_seen": "z"}
    ]


def test_the_largest_lateness_of_all_days_is_exact() -> None:
    found = told(
        DailyCounter(TODAY, "lateness", {"runs": 1, "b3": 1, "max": 3}),
        DailyCounter("2026-02-16", "lateness", {"runs": 1, "b10": 1, "max": 14}),
    )["lateness"]
    histogram = found.pop("histogram")
    assert found == {"count": 2, "p50": 3, "p95": 14, "p99": 14, "max": 14}
    assert [bar for bar in histogram if bar["count"]] == [{"up_to_ms": 32, "count": 2}]


def test_the_errors_of_each_day_come_oldest_day_first() -> None:
    yesterday = "2026-02-16"
    found = told(
        DailyCounter(TODAY, "category#timeout", {"errors": 1}),
        DailyCounter(TODAY, "category#auth", {"errors": 3}),
        DailyCounter(TODAY, "category#recovered-only", {"recovered": 1}),
        DailyCounter(TODAY, "provider#timeout", {"runs": 1}),
        DailyCounter(yesterday, "category#timeout", {"errors": 2}),
    )["errors_by_day"]
    assert found == [
        {"day": yesterday, "category": "timeout", "count": 2},
        {"day": TODAY, "category": "auth", "count": 3},
        {"day": TODAY, "category": "timeout", "count": 1},
    ]


def test_what_is_counted_by_the_hour_changes_no_statistics() -> None:
    late = {"runs": 1, "b3": 1, "max": 3}
    errors = {"errors": 1, "retries": 1, "failures": 1}
    hours = {f"{name}{hour}": 7 for hour in "0123456789abcdefghijklmn" for name in "hl"}
    found = [
        told(
            DailyCounter(TODAY, "lateness", late | more),
            DailyCounter(TODAY, "category#x", errors | more),
        )
        for more in ({}, hours)
    ]
    assert found[0] == found[1]


def test_a_provider_is_told_by_its_runs() -> None:
    numbers = {"runs": 3, "failures": 1, "recovered": 1, "timed": 2, "ms": 300}
    assert told(DailyCounter(TODAY, "provider#open#ai", numbers))["by_provider"] == [
        {
            "provider": "open#ai",
            "runs": 3,
            "failures": 1,
            "recovered": 1,
            "failure_percent": 33.3,
            "avg_duration_ms": 150.0,
        }
    ]


def test_what_was_diagnosed_as_uncounted_stays_in_the_log_of_its_category() -> None:
    found = failed(diagnosis=replace(DIAGNOSIS, counted=False, retry_count=0))
    assert found["category#timeout"] == {"errors": 1, "retries": 0, "failures": 1}
