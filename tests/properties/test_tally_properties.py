"""Whatever happened, in whatever order it is told: the counters say the same as the log."""

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

calm = settings(deadline=None)
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
    """Of three subjects and three tasks without one, of a few categories."""
    found = []
    for n, at in enumerate(draw(st.lists(moments, max_size=30))):
        subject = draw(st.sampled_from(["s1", "s2", "s3", None]))
        task = {"id": f"0a1b2c3{draw(st.integers(0, 2))}", "subject": subject}
        category = draw(st.sampled_from(["timeout", "budget_exceeded", "unknown"]))
        attempt = draw(st.integers(1, 3))
        found.append(
            a_logged_error(f"run-{n}", at=at, task=task, category=category, attempt=attempt)
        )
    return found


@dataclass
class Books:
    """Keeps counters and trackers as the real store does, in the simplest way."""

    increments: list[Increment] = field(default_factory=list)
    trackers: dict[str, FailureTracker] = field(default_factory=dict)

    def keep(self, error: LoggedError, run: Run) -> None:
        before = self.trackers.get(who(error), FailureTracker.for_error(error))
        is_newly_blocked = before.is_newly_blocked(error)
        self.increments += failure_increments(error, run, is_newly_blocked=is_newly_blocked)
        self.trackers[who(error)] = before.record(error)

    def stats(self, now: datetime) -> dict[str, Any]:
        days = last_days(utc_day(now), WINDOW)
        start = datetime.fromisoformat(days[-1]).replace(tzinfo=now.tzinfo)
        sums = [one for one in merge_increments(self.increments) if one.day in days]
        found = [
            DailyCounter(one.day, one.counter, one.sums, {**one.earliest, **one.latest})
            for one in sums
        ]
        repeated = [
            tracker
            for tracker in self.trackers.values()
            if tracker.repeated_since and tracker.repeated_since >= start
        ]
        return stats_to_json(
            StatsWindow(days=days, counters=found, failed_subjects=[], repeated_failures=repeated)
        )


def who(error: LoggedError) -> str:
    return f"subject {error.subject}" if error.subject else f"task {error.task_id}"


@calm
@given(log=failures(), seed=st.integers())
def test_the_counters_tell_what_the_log_would(
    log: list[tuple[LoggedError, Run]], seed: int
) -> None:
    books = Books()
    for error, run in Random(seed).sample(log, len(log)):  # noqa: S311 - no secret
        books.keep(error, run)
    days = last_days(utc_day(NOW), WINDOW)
    errors = [error for error, _ in log if utc_day(error.at) in days]
    told = books.stats(NOW)

    by_category = Counter(error.category for error in errors)
    assert {one["category"]: one["count"] for one in told["errors_by_category"]} == by_category
    firsts = Counter(error.category for error in errors if error.attempt == 1)
    assert {one["category"]: one["failures"] for one in told["recovery_rate"]} == firsts
    repeated = {name: n for name, n in Counter(map(who, errors)).items() if n > 3}
    assert {
        f"subject {one['subject']}" if one["subject"] else f"task {one['task_id']}": one[
            "total_errors"
        ]
        for one in told["repeated_failures"]
    } == repeated


@calm
@given(log=failures(), seed=st.integers())
def test_each_subject_is_blocked_once_a_day(log: list[tuple[LoggedError, Run]], seed: int) -> None:
    books = Books()
    for error, run in Random(seed).sample(log, len(log)):  # noqa: S311 - no secret
        books.keep(error, run)
    blocked: defaultdict[str, set[str]] = defaultdict(set)
    for error, _ in log:
        if error.category == "budget_exceeded" and utc_day(error.at) in last_days(
            utc_day(NOW), WINDOW
        ):
            blocked[utc_day(error.at)].add(who(error))
    found = {one["day"]: one["unique_blocked"] for one in books.stats(NOW)["budget_timeline"]}
    assert found == {day: len(subjects) for day, subjects in blocked.items()}


@calm
@given(ages=st.lists(st.integers(0, 29), min_size=1), window=st.integers(1, 30))
def test_a_window_holds_a_repetition_just_if_it_holds_the_fourth_error_back(
    ages: list[int], window: int
) -> None:
    tracker = FailureTracker()
    for age in [*ages, 0]:
        tracker = tracker.record(a_logged_error(at=NOW - age * DAY)[0])
    since = last_days(utc_day(NOW), window)[-1]
    holds_it = tracker.repeated_since is not None and utc_day(tracker.repeated_since) >= since
    assert holds_it is (tracker.total_errors(since=since) >= REPEATED_THRESHOLD)
    assert tracker.total_errors(since=since) == sum(age < window for age in [*ages, 0])


@calm
@given(found=increments, seed=st.integers())
def test_in_which_order_increments_come_does_not_matter(found: list[Increment], seed: int) -> None:
    shuffled = Random(seed).sample(found, len(found))  # noqa: S311 - no secret
    assert sorted(merge_increments(shuffled), key=repr_of) == sorted(
        merge_increments(found), key=repr_of
    )


@calm
@given(found=increments, cut=st.integers(0, 10))
def test_batches_add_up_to_the_whole(found: list[Increment], cut: int) -> None:
    parts = [*merge_increments(found[:cut]), *merge_increments(found[cut:])]
    assert sorted(merge_increments(parts), key=repr_of) == sorted(
        merge_increments(found), key=repr_of
    )


@calm
@given(found=increments)
def test_nothing_is_lost_in_a_sum(found: list[Increment]) -> None:
    assert _all(merge_increments(found)) == _all(found)


def _all(found: list[Increment]) -> int:
    return sum(sum(one.sums.values()) for one in found)


def repr_of(one: Increment) -> str:
    return f"{one.day}{one.counter}"


@calm
@given(late=st.lists(lateness_ms, min_size=1), percent=st.sampled_from([50, 95, 99]))
def test_a_percentile_is_the_true_one_within_the_width_of_a_bucket(
    late: list[int], percent: int
) -> None:
    true = sorted(late)[ceil(len(late) * percent / 100) - 1]
    found = percentile(Counter(map(bucket_of, late)), percent, max_value=max(late))
    assert found is not None
    assert true <= found <= max(late)
    assert found < true * 2 ** (1 / 3) or found == true or bucket_of(true) == len(BUCKET_BOUNDS_MS)


@calm
@given(late=st.lists(lateness_ms, min_size=1, max_size=200))
def test_the_lateness_of_a_day_is_one_counter_of_few_names(late: list[int]) -> None:
    runs = [a_committed_run(at=NOW + timedelta(milliseconds=ms)) for ms in late]
    increments = [
        one
        for run in runs
        for one in success_increments(a_task(), a_task(), run, late_after=MINUTE)
    ]
    found = merge_increments(increments)
    assert len(found) == len({one.day for one in increments})
    assert {name for one in found for name in one.sums} <= {
        "runs",
        *(f"{name}{hour}" for name in "hl" for hour in "0123456789abcdefghijklmn"),
        *(f"b{n}" for n in range(len(BUCKET_BOUNDS_MS) + 1)),
    }
    assert max(one.maximums["max"] for one in found) == max(late)


@given(late=lateness_ms)
def test_a_bucket_holds_what_is_at_most_its_bound(late: int) -> None:
    bucket = bucket_of(late)
    assert bucket == len(BUCKET_BOUNDS_MS) or late <= BUCKET_BOUNDS_MS[bucket]
    assert bucket == 0 or late > BUCKET_BOUNDS_MS[bucket - 1]


@given(confidence=st.floats(0, 1), status=st.none() | st.integers(100, 599), message=st.text())
def test_an_entry_is_read_as_it_was_written(
    confidence: float, status: int | None, message: str
) -> None:
    error, _ = a_logged_error()
    error = replace(error, confidence=confidence, status=status, message=message)
    assert error_from_json(error_to_json(error)) == error
