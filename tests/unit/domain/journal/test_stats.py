"""The statistics of the last days, computed from counters, subjects and trackers."""

from __future__ import annotations

from typing import Any

from duecourse.domain.failures.subject import Subject, SubjectStatus
from duecourse.domain.journal.daily_counter import DailyCounter
from duecourse.domain.journal.failure_tracker import FailureTracker
from duecourse.domain.journal.lateness import BAR_BOUNDS_MS
from duecourse.domain.journal.stats import StatsWindow, stats_to_json
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recent_errors import NO_ERRORS

from tests.support.builders.moments import DAY, NOW
from tests.support.builders.tasks import ID

TODAY = "2026-02-17"


def stats_of(*counters: DailyCounter, **fields: Any) -> dict[str, Any]:
    window_fields: dict[str, Any] = {"failed_subjects": [], "repeated_failures": [], **fields}
    return stats_to_json(
        StatsWindow(days=[TODAY, "2026-02-16"], counters=counters, **window_fields)
    )


def test_statistics_without_counters_are_empty() -> None:
    assert stats_of() == {
        "days": 2,
        "errors_by_category": [],
        "errors_by_kind": [],
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


def test_kinds_are_summed_over_days_and_categories() -> None:
    rows = stats_of(
        DailyCounter(TODAY, "category#timeout", {"errors": 3, "k#timeout": 2, "k#network": 1}),
        DailyCounter(
            "2026-02-16", "category#transient", {"errors": 4, "k#network": 2, "k#disk": 0}
        ),
    )["errors_by_kind"]
    assert rows == [
        {"kind": "network", "clears_by": "waiting", "count": 3},
        {"kind": "timeout", "clears_by": "waiting", "count": 2},
    ]


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
        last_error_kind=Kind.RATE_LIMIT,
        last_error_message="slow down",
        last_attempt_at=NOW,
    )
    assert stats_of(failed_subjects=[subject])["top_failing"] == [
        {
            "subject": "story-1",
            "failure_count": 5,
            "status": "permanent_failure",
            "last_error_category": "rate_limit",
            "last_error_kind": "rate_limit",
            "last_error_clears_by": "waiting",
            "last_error_message": "slow down",
            "last_attempt_at": "2026-02-17T12:00:00.000Z",
        }
    ]


def test_repeated_failures_are_sorted_by_their_count_within_the_window() -> None:
    few, many = NO_ERRORS, NO_ERRORS
    for days_ago in (5, 1, 0.5, 0.1, 0):
        few = few.record("timeout", at=NOW - days_ago * DAY)
    for _ in range(9):
        many = many.record("timeout", at=NOW)
    few_errors = FailureTracker(task_id=ID, errors=few)
    many_errors = FailureTracker(subject="s", errors=many)
    rows = stats_of(repeated_failures=[few_errors, many_errors])["repeated_failures"]
    assert [(row["subject"], row["total_errors"]) for row in rows] == [("s", 9), (None, 4)]
    assert rows[1] == {
        "subject": None,
        "task_id": ID,
        "total_errors": 4,
        "last_error_category": "timeout",
        "last_error_kind": None,
        "last_error_clears_by": None,
        "last_error_at": "2026-02-17T12:00:00.000Z",
    }


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
        {
            **{"pattern": "a#b", "category": "timeout", "kind": None, "clears_by": None},
            **{"count": 2, "last_seen": "z"},
        }
    ]


def test_a_pattern_has_the_kind_that_it_gave_most_often() -> None:
    numbers = {"errors": 5, "k#auth": 2, "k#quota": 3, "k#network": 0}
    [pattern] = stats_of(DailyCounter(TODAY, "pattern#unknown#person", numbers))["common_patterns"]
    assert (pattern["kind"], pattern["clears_by"]) == ("quota", "money")


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


def test_a_category_that_a_reclassification_emptied_is_not_listed() -> None:
    """The counts of a reclassified failure are taken back; what is left of them is zero."""
    emptied = {"errors": 0, "failures": 0, "retries": 0}
    stats = stats_of(DailyCounter(TODAY, "category#timeout", emptied))
    assert (stats["errors_by_category"], stats["recovery_rate"]) == ([], [])
    assert stats["errors_by_day"] == []
