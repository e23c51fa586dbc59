"""The counters agree with a recount of the runs, for any failures in any order."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import ceil
from random import Random
from typing import Any

from duecourse.domain.failures.subject import Subject
from duecourse.domain.journal.counters import count_change
from duecourse.domain.journal.daily_counter import DailyCounter
from duecourse.domain.journal.error_log import error_from_json, error_to_json
from duecourse.domain.journal.failure_tracker import FailureTracker
from duecourse.domain.journal.increment import (
    Increment,
    increments_from_stored,
    increments_to_stored,
    merge_increments,
)
from duecourse.domain.journal.lateness import BUCKET_BOUNDS_MS, bucket_of, percentile
from duecourse.domain.journal.run_record import to_logged_error
from duecourse.domain.journal.stats import StatsWindow, stats_to_json
from duecourse.domain.lifecycle.track_errors import track_error
from duecourse.domain.tasks.recent_errors import (
    BUDGET_EXCEEDED,
    NO_ERRORS,
    REPEATED_THRESHOLD,
    RecentErrors,
)
from duecourse.domain.tasks.run import FirstFailure, RunStatus
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.utc_days import last_days, utc_day
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders.failures import a_run_record
from tests.support.builders.moments import DAY, MINUTE, NOW
from tests.support.builders.runs import a_committed_run, a_failed_run, run_of
from tests.support.builders.tasks import a_task

property_settings = settings(deadline=None)
WINDOW = 7
lateness_ms = st.integers(0, 60 * 24 * 3600 * 1000)
moments = st.integers(0, 12 * 24 * 3600).map(lambda seconds: NOW - timedelta(seconds=seconds))
categories = st.sampled_from(["timeout", BUDGET_EXCEEDED, "unknown"])
counters = st.sampled_from("abc")
increments = st.lists(
    st.builds(
        Increment,
        day=counters,
        counter=counters,
        sums=st.dictionaries(counters, st.integers(-99, 99)),
        maximums=st.dictionaries(counters, st.integers(0, 99)),
        earliest=st.dictionaries(counters, st.text(max_size=3)),
        latest=st.dictionaries(counters, st.text(max_size=3)),
    )
)


@st.composite
def failures(draw: st.DrawFn) -> list[Task]:
    """Draw tasks just after a failure: of three subjects, and of three tasks without a subject."""
    found = []
    for n, at in enumerate(draw(st.lists(moments, max_size=30))):
        run = a_failed_run(
            id=f"run-{n}", at=at, category=draw(categories), attempt=draw(st.integers(1, 3))
        )
        subject = draw(st.sampled_from(["s1", "s2", "s3", None]))
        found.append(a_task(id=f"0a1b2c3{draw(st.integers(0, 2))}", subject=subject, run=run))
    return found


@dataclass
class Recorder:
    """Counts failures and tracks errors as the failure handler and the journal do together."""

    increments: list[Increment] = field(default_factory=list)
    errors: dict[str, RecentErrors] = field(default_factory=dict)

    def record(self, failed: Task) -> None:
        """Record the failure of the task's run, with the errors that are known of it so far."""
        before = self.errors.get(tracker_name(failed), NO_ERRORS)
        subject = Subject(id=failed.subject, recent_errors=before) if failed.subject else None
        tracked, saved = track_error(replace(failed, recent_errors=before), subject, None)
        self.errors[tracker_name(failed)] = (saved or tracked).recent_errors
        self.count(before_end(tracked), tracked)

    def count(self, old: Task | None, new: Task) -> None:
        self.increments += count_change(old, new, late_after=MINUTE)

    def stats(self, now: datetime) -> dict[str, Any]:
        days = last_days(utc_day(now), WINDOW)
        counted = [
            DailyCounter(one.day, one.counter, one.sums, {**one.earliest, **one.latest})
            for one in merge_increments(self.increments)
            if one.day in days
        ]
        repeated = [
            FailureTracker(subject=name, errors=errors)
            for name, errors in self.errors.items()
            if errors.repeated_since and utc_day(errors.repeated_since) >= days[-1]
        ]
        return stats_to_json(
            StatsWindow(days=days, counters=counted, failed_subjects=[], repeated_failures=repeated)
        )


def before_end(task: Task) -> Task:
    return replace(task, run=replace(run_of(task), status=RunStatus.ACTIVE, ended_at=None))


def tracker_name(task: Task) -> str:
    return f"subject {task.subject}" if task.subject else f"task {task.id}"


def failure_day(task: Task) -> str:
    run = run_of(task)
    return utc_day(run.ended_at or run.started_at)


def in_window(log: list[Task]) -> list[Task]:
    return [task for task in log if failure_day(task) in last_days(utc_day(NOW), WINDOW)]


def recount(log: list[Task], **fields: Any) -> Counter[str]:
    """Count the runs by category, those with these values only."""
    runs = [run_of(task) for task in in_window(log)]
    return Counter(
        run.error_category
        for run in runs
        if all(getattr(run, name) == value for name, value in fields.items())
    )


@property_settings
@given(log=failures(), seed=st.integers())
def test_the_counters_agree_with_the_runs(log: list[Task], seed: int) -> None:
    recorder = Recorder()
    for failed in Random(seed).sample(log, len(log)):  # noqa: S311 - no secret
        recorder.record(failed)
    stats_json = recorder.stats(NOW)
    assert {row["category"]: row["count"] for row in stats_json["errors_by_category"]} == recount(
        log
    )
    assert {row["category"]: row["failures"] for row in stats_json["recovery_rate"]} == recount(
        log, attempt=1
    )
    repeated = {name: n for name, n in Counter(map(tracker_name, in_window(log))).items() if n > 3}
    assert {
        row["subject"]: row["total_errors"] for row in stats_json["repeated_failures"]
    } == repeated


@property_settings
@given(log=failures(), new_categories=st.lists(categories, min_size=30, max_size=30))
def test_the_counters_agree_after_any_reclassification(
    log: list[Task], new_categories: list[str]
) -> None:
    """Also if it is counted before the failure, as pages of other shards can be read first."""
    recorder, amended = Recorder(), []
    for failed, category in zip(log, new_categories, strict=False):
        after = replace(failed, run=replace(run_of(failed), category=category))
        recorder.count(failed, after)
        recorder.count(before_end(failed), failed)
        amended.append(after)
    stats_json = recorder.stats(NOW)
    assert {row["category"]: row["count"] for row in stats_json["errors_by_category"]} == recount(
        amended
    )
    assert {row["category"]: row["failures"] for row in stats_json["recovery_rate"]} == recount(
        amended, attempt=1
    )


@property_settings
@given(log=failures(), is_recovered=st.lists(st.booleans(), min_size=30, max_size=30))
def test_recoveries_count_where_their_occurrence_failed_first(
    log: list[Task], is_recovered: list[bool]
) -> None:
    recorder = Recorder()
    recovered = []
    for failed, has_recovered in zip(log, is_recovered, strict=False):
        failed = replace(failed, run=replace(run_of(failed), attempt=1))
        recorder.count(before_end(failed), failed)
        if has_recovered:
            first = FirstFailure(failure_day(failed), run_of(failed).error_category)
            run = a_committed_run(id="retry", at=NOW, attempt=2, first_failure=first)
            recorder.count(replace(failed, retry_count=1), replace(failed, run=run))
            recovered.append(failed)
    rates = recorder.stats(NOW)["recovery_rate"]
    assert {row["category"]: row["recovered"] for row in rates if row["recovered"]} == recount(
        recovered
    )


@property_settings
@given(log=failures())
def test_each_subject_is_blocked_once_a_day(log: list[Task]) -> None:
    """The failures of one subject come in order, since each writes the subject."""
    recorder = Recorder()
    blocked: defaultdict[str, set[str]] = defaultdict(set)
    for failed in sorted(log, key=lambda task: run_of(task).started_at):
        recorder.record(failed)
        if run_of(failed).category == BUDGET_EXCEEDED and in_window([failed]):
            blocked[failure_day(failed)].add(tracker_name(failed))
    rows = recorder.stats(NOW)["budget_timeline"]
    assert {row["day"]: row["unique_blocked"] for row in rows} == {
        day: len(names) for day, names in blocked.items()
    }


@property_settings
@given(ages=st.lists(st.integers(0, 29), min_size=1), window=st.integers(1, 30))
def test_a_repeated_failure_is_in_a_window_that_has_four_errors(
    ages: list[int], window: int
) -> None:
    errors = NO_ERRORS
    for age in [*ages, 0]:
        errors = errors.record("timeout", at=NOW - age * DAY)
        errors = RecentErrors.from_stored(json.loads(json.dumps(errors.to_stored())))
    since = last_days(utc_day(NOW), window)[-1]
    is_repeated = errors.repeated_since is not None and utc_day(errors.repeated_since) >= since
    assert is_repeated is (errors.count_since(since) >= REPEATED_THRESHOLD)
    assert errors.count_since(since) == sum(age < window for age in [*ages, 0])


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
def test_stored_increments_are_read_unchanged(increments_drawn: list[Increment]) -> None:
    stored = json.loads(json.dumps(increments_to_stored(increments_drawn)))
    assert sorted(increments_from_stored(stored), key=sort_key) == sorted(
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
        for increment in count_change(a_task(), a_task(run=run), late_after=MINUTE)
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
    error = to_logged_error(a_run_record())
    error = replace(error, confidence=confidence, status=status, message=message)
    assert error_from_json(error_to_json(error)) == error
