"""The counters agree with the error log, for any failures in any order."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import ceil
from random import Random
from typing import Any

from duecourse.domain.journal.counters import (
    Increment,
    failure_increments,
    merge_increments,
    success_increments,
)
from duecourse.domain.journal.error_log import LoggedError, error_from_json, error_to_json
from duecourse.domain.journal.failure_tracker import (
    REPEATED_THRESHOLD,
    FailureTracker,
    last_days,
    utc_day,
)
from duecourse.domain.journal.lateness import BUCKET_BOUNDS_MS, bucket_of, percentile
from duecourse.domain.journal.stats import DailyCounter, StatsWindow, stats_to_json
from duecourse.domain.tasks.run import Run
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders.failures import a_logged_error
from tests.support.builders.moments import DAY, MINUTE, NOW
from tests.support.builders.runs import a_committed_run
from tests.support.builders.tasks import a_task

property_settings = settings(deadline=None)
WINDOW = 7
lateness_ms = st.integers(0, 60 * 24 * 3600 * 1000)
moments = st.integers(0, 12 * 24 * 3600).map(lambda seconds: NOW - timedelta(seconds=seconds))
counters = st.sampled_from("abc")
increments = st.lists(
    st.builds(
        Increment,
        day=counters,
        counter=counters,
        sums=st.dictionaries(counters, st.integers(0, 99)),
        maximums=st.dictionaries(counters, st.integers(0, 99)),
        earliest=st.dictionaries(counters, st.text(max_size=3)),
        latest=st.dictionaries(counters, st.text(max_size=3)),
    )
)


@st.composite
def failures(draw: st.DrawFn) -> list[tuple[LoggedError, Run]]:
    """Draw failures of three subjects and of three tasks without a subject."""
    logged_errors = []
    for n, at in enumerate(draw(st.lists(moments, max_size=30))):
        subject = draw(st.sampled_from(["s1", "s2", "s3", None]))
        task = {"id": f"0a1b2c3{draw(st.integers(0, 2))}", "subject": subject}
        category = draw(st.sampled_from(["timeout", "budget_exceeded", "unknown"]))
        attempt = draw(st.integers(1, 3))
        logged_errors.append(
            a_logged_error(f"run-{n}", at=at, task=task, category=category, attempt=attempt)
        )
    return logged_errors


@dataclass
class Recorder:
    """Records counters and trackers as the real store does, in the simplest way."""

    increments: list[Increment] = field(default_factory=list)
    trackers: dict[str, FailureTracker] = field(default_factory=dict)

    def record(self, error: LoggedError, run: Run) -> None:
        before = self.trackers.get(tracker_name(error), FailureTracker.for_error(error))
        is_newly_blocked = before.is_newly_blocked(error)
        self.increments += failure_increments(error, run, is_newly_blocked=is_newly_blocked)
        self.trackers[tracker_name(error)] = before.record(error)

    def stats(self, now: datetime) -> dict[str, Any]:
        days = last_days(utc_day(now), WINDOW)
        start = datetime.fromisoformat(days[-1]).replace(tzinfo=now.tzinfo)
        sums = [
            increment for increment in merge_increments(self.increments) if increment.day in days
        ]
        daily_counters = [
            DailyCounter(
                increment.day,
                increment.counter,
                increment.sums,
                {**increment.earliest, **increment.latest},
            )
            for increment in sums
        ]
        repeated = [
            tracker
            for tracker in self.trackers.values()
            if tracker.repeated_since and tracker.repeated_since >= start
        ]
        return stats_to_json(
            StatsWindow(
                days=days, counters=daily_counters, failed_subjects=[], repeated_failures=repeated
            )
        )


def tracker_name(error: LoggedError) -> str:
    return f"subject {error.subject}" if error.subject else f"task {error.task_id}"


@property_settings
@given(log=failures(), seed=st.integers())
def test_the_counters_agree_with_the_log(log: list[tuple[LoggedError, Run]], seed: int) -> None:
    recorder = Recorder()
    for error, run in Random(seed).sample(log, len(log)):  # noqa: S311 - no secret
        recorder.record(error, run)
    days = last_days(utc_day(NOW), WINDOW)
    errors = [error for error, _ in log if utc_day(error.at) in days]
    stats_json = recorder.stats(NOW)

    by_category = Counter(error.category for error in errors)
    assert {
        row["category"]: row["count"] for row in stats_json["errors_by_category"]
    } == by_category
    firsts = Counter(error.category for error in errors if error.attempt == 1)
    assert {row["category"]: row["failures"] for row in stats_json["recovery_rate"]} == firsts
    repeated = {name: n for name, n in Counter(map(tracker_name, errors)).items() if n > 3}
    assert {
        f"subject {row['subject']}" if row["subject"] else f"task {row['task_id']}": row[
            "total_errors"
        ]
        for row in stats_json["repeated_failures"]
    } == repeated


@property_settings
@given(log=failures(), seed=st.integers())
def test_each_subject_is_blocked_once_a_day(log: list[tuple[LoggedError, Run]], seed: int) -> None:
    recorder = Recorder()
    for error, run in Random(seed).sample(log, len(log)):  # noqa: S311 - no secret
        recorder.record(error, run)
    blocked: defaultdict[str, set[str]] = defaultdict(set)
    for error, _ in log:
        if error.category == "budget_exceeded" and utc_day(error.at) in last_days(
            utc_day(NOW), WINDOW
        ):
            blocked[utc_day(error.at)].add(tracker_name(error))
    blocked_counts = {
        row["day"]: row["unique_blocked"] for row in recorder.stats(NOW)["budget_timeline"]
    }
    assert blocked_counts == {day: len(subjects) for day, subjects in blocked.items()}


@property_settings
@given(ages=st.lists(st.integers(0, 29), min_size=1), window=st.integers(1, 30))
def test_a_repeated_failure_is_in_a_window_that_has_four_errors(
    ages: list[int], window: int
) -> None:
    tracker = FailureTracker()
    for age in [*ages, 0]:
        tracker = tracker.record(a_logged_error(at=NOW - age * DAY)[0])
    since = last_days(utc_day(NOW), window)[-1]
    is_repeated = tracker.repeated_since is not None and utc_day(tracker.repeated_since) >= since
    assert is_repeated is (tracker.total_errors(since=since) >= REPEATED_THRESHOLD)
    assert tracker.total_errors(since=since) == sum(age < window for age in [*ages, 0])


@property_settings
@given(increments_drawn=increments, seed=st.integers())
def test_the_order_of_increments_does_not_matter(
    increments_drawn: list[Increment], seed: int
) -> None:
    shuffled = Random(seed).sample(increments_drawn, len(increments_drawn))  # noqa: S311 - no secret
    assert sorted(merge_increments(shuffled), key=sort_key) == sorted(
        merge_increments(increments_drawn), key=sort_key
    )


@property_settings
@given(increments_drawn=increments, cut=st.integers(0, 10))
def test_merging_in_batches_gives_the_same_result(
    increments_drawn: list[Increment], cut: int
) -> None:
    merged_parts = [
        *merge_increments(increments_drawn[:cut]),
        *merge_increments(increments_drawn[cut:]),
    ]
    assert sorted(merge_increments(merged_parts), key=sort_key) == sorted(
        merge_increments(increments_drawn), key=sort_key
    )


@property_settings
@given(increments_drawn=increments)
def test_merging_keeps_the_total(increments_drawn: list[Increment]) -> None:
    assert total(merge_increments(increments_drawn)) == total(increments_drawn)


def total(increments_drawn: list[Increment]) -> int:
    return sum(sum(increment.sums.values()) for increment in increments_drawn)


def sort_key(increment: Increment) -> str:
    return f"{increment.day}{increment.counter}"


@property_settings
@given(lateness=st.lists(lateness_ms, min_size=1), percent=st.sampled_from([50, 95, 99]))
def test_a_percentile_is_exact_to_the_width_of_a_bucket(lateness: list[int], percent: int) -> None:
    exact = sorted(lateness)[ceil(len(lateness) * percent / 100) - 1]
    estimate = percentile(Counter(map(bucket_of, lateness)), percent, max_value=max(lateness))
    assert estimate is not None
    assert exact <= estimate <= max(lateness)
    assert (
        estimate < exact * 2 ** (1 / 3)
        or estimate == exact
        or bucket_of(exact) == len(BUCKET_BOUNDS_MS)
    )


@property_settings
@given(lateness=st.lists(lateness_ms, min_size=1, max_size=200))
def test_the_lateness_of_a_day_is_one_counter(lateness: list[int]) -> None:
    runs = [a_committed_run(at=NOW + timedelta(milliseconds=ms)) for ms in lateness]
    increments = [
        increment
        for run in runs
        for increment in success_increments(a_task(), a_task(), run, late_after=MINUTE)
    ]
    merged = merge_increments(increments)
    assert len(merged) == len({increment.day for increment in increments})
    assert {name for increment in merged for name in increment.sums} <= {
        "runs",
        *(f"{name}{hour}" for name in "hl" for hour in "0123456789abcdefghijklmn"),
        *(f"b{n}" for n in range(len(BUCKET_BOUNDS_MS) + 1)),
    }
    assert max(increment.maximums["max"] for increment in merged) == max(lateness)


@given(lateness=lateness_ms)
def test_a_bucket_holds_values_up_to_its_bound(lateness: int) -> None:
    bucket = bucket_of(lateness)
    assert bucket == len(BUCKET_BOUNDS_MS) or lateness <= BUCKET_BOUNDS_MS[bucket]
    assert bucket == 0 or lateness > BUCKET_BOUNDS_MS[bucket - 1]


@given(confidence=st.floats(0, 1), status=st.none() | st.integers(100, 599), message=st.text())
def test_a_logged_error_is_read_back_unchanged(
    confidence: float, status: int | None, message: str
) -> None:
    error, _ = a_logged_error()
    error = replace(error, confidence=confidence, status=status, message=message)
    assert error_from_json(error_to_json(error)) == error
