"""Subjects that were given up, and subjects and tasks that failed repeatedly."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.counters import DynamoCounters
from duecourse.adapters.aws.dynamodb.stats import MAX_REPEATED, DynamoStats
from duecourse.adapters.aws.dynamodb.subjects import DynamoSubjects, to_subject_item
from duecourse.adapters.aws.dynamodb.tracking_models import SubjectItem, TrackerItem
from duecourse.domain.failures.subject import Subject
from duecourse.domain.journal.counter_page import CountedChange
from duecourse.domain.journal.counters import count_change
from duecourse.domain.journal.failure_tracker import FailureTracker
from duecourse.domain.journal.lateness import to_bars
from duecourse.domain.journal.stats import stats_to_json
from duecourse.domain.lifecycle.track_errors import track_error
from duecourse.domain.tasks.recent_errors import NO_ERRORS, RecentErrors
from duecourse.domain.tasks.run import FirstFailure
from duecourse.usecases.journal.read_stats import read_stats
from pynamodb.exceptions import PutError

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults
from tests.support.builders.failures import a_subject
from tests.support.builders.moments import DAY, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import a_committed_run, a_failed_run
from tests.support.builders.tasks import ID, a_task, an_action

TODAY = "2026-02-17"
QUERY = ("api", "dynamodb.Query")


@pytest.fixture
def stats() -> DynamoStats:
    return DynamoStats()


def errors_at(*minutes: float) -> RecentErrors:
    errors = NO_ERRORS
    for minute in minutes:
        errors = errors.record("timeout", at=NOW + minute * MINUTE)
    return errors


def a_tracker(task_id: str = ID, *, minutes: float = 0, version: int = 4) -> FailureTracker:
    errors = errors_at(*[minutes] * 4)
    return FailureTracker(task_id=task_id, errors=errors, version=version)


def save_all(model: Any, items: list[Any]) -> None:
    with model.batch_write() as batch:
        for item in items:
            batch.save(item)


# Trackers of tasks


def test_a_tracker_is_read_as_it_was_saved(stats: DynamoStats) -> None:
    tracker = FailureTracker(task_id=ID, errors=errors_at(1, 2, 3, 4, 5), version=7)
    stats.save_tracker(tracker)
    assert stats.list_repeated(since=NOW) == [tracker]


def test_a_later_version_replaces_the_tracker(stats: DynamoStats) -> None:
    for version in (4, 5, 5):
        stats.save_tracker(a_tracker(minutes=version, version=version))
    [tracker] = stats.list_repeated(since=NOW)
    assert (tracker.version, tracker.last_error_at) == (5, NOW + 5 * MINUTE)


def test_an_earlier_version_does_not_replace_the_tracker(stats: DynamoStats) -> None:
    """A batch that is delivered again also brings the versions before."""
    for version in (5, 4):
        stats.save_tracker(a_tracker(minutes=version, version=version))
    [tracker] = stats.list_repeated(since=NOW)
    assert tracker.version == 5


@pytest.mark.usefixtures("calls")
def test_another_error_than_a_conflict_is_raised(stats: DynamoStats, faults: Faults) -> None:
    invalid = {"code": "ValidationException", "status": 400}
    faults.add(Fault("dynamodb.PutItem", kind="error", error=invalid))
    with attribute_calls_to("journal"), pytest.raises(PutError):
        stats.save_tracker(a_tracker())


def test_a_tracker_expires_after_the_longest_window(stats: DynamoStats) -> None:
    stats.save_tracker(a_tracker())
    [item] = TrackerItem.scan()
    assert item.expires_at == (NOW + 32 * DAY).timestamp()


# Subjects


def test_a_subject_with_four_errors_is_listed(stats: DynamoStats) -> None:
    errors = errors_at(0, 1, 2, 3)
    DynamoSubjects().save(a_subject(version=1, recent_errors=errors))
    DynamoSubjects().save(a_subject(id="seldom", version=1, recent_errors=errors_at(0, 1, 2)))
    expected = FailureTracker(subject="story-1", errors=errors)
    assert stats.list_repeated(since=NOW) == [expected]


@pytest.mark.parametrize("count", [0, 3, 4])
def test_only_a_subject_with_repeated_failures_is_in_the_index(count: int) -> None:
    DynamoSubjects().save(a_subject(version=1, recent_errors=errors_at(*range(count))))
    [item] = boto3.client("dynamodb").scan(TableName="SubjectsTable")["Items"]
    assert ("repeats" in item, "repeated_since" in item) == (count == 4, count == 4)
    assert ("recent_errors" in item) is (count > 0)


def test_the_errors_of_a_subject_are_read_as_they_were_saved() -> None:
    subject = a_subject(version=1, recent_errors=errors_at(0, 1))
    DynamoSubjects().save(subject)
    assert DynamoSubjects().get("story-1") == subject


def test_a_reset_subject_is_still_listed(stats: DynamoStats) -> None:
    failed = a_subject(version=1, failure_count=4, recent_errors=errors_at(0, 1, 2, 3))
    DynamoSubjects().save(failed)
    DynamoSubjects().save(failed.reset())
    assert [one.subject for one in stats.list_repeated(since=NOW)] == ["story-1"]


def test_given_up_subjects_are_listed_most_failures_first(stats: DynamoStats) -> None:
    for n in range(25):
        status = "permanent_failure"
        SubjectItem(f"s{n}", failure_count=n, gave_up="y", status=status, version=1).save()
    SubjectItem("fine", failure_count=99, status="pending", version=1).save()
    assert [one.id for one in stats.list_given_up(20)] == [f"s{n}" for n in range(24, 4, -1)]


# Both


def test_only_failures_repeated_in_the_window_are_listed(stats: DynamoStats) -> None:
    ages = {"long ago": [9, 9, 9, 0], "of late": [9, 6, 1, 1, 0], "seldom": [1, 1, 0]}
    for subject, days in ages.items():
        errors = errors_at(*(-age * 1440 for age in days))
        DynamoSubjects().save(Subject(id=subject, version=1, recent_errors=errors))
    assert [one.subject for one in stats.list_repeated(since=NOW - 7 * DAY)] == ["of late"]


def test_tasks_and_subjects_are_listed_latest_first(stats: DynamoStats) -> None:
    for n, subject in ((1, "first"), (3, "third")):
        errors = errors_at(*[n] * 4)
        DynamoSubjects().save(Subject(id=subject, version=1, recent_errors=errors))
    stats.save_tracker(a_tracker("task-2", minutes=2))
    stats.save_tracker(a_tracker("task-4", minutes=4))
    listed = [one.subject or one.task_id for one in stats.list_repeated(since=NOW)]
    assert listed == ["task-4", "third", "task-2", "first"]


def test_the_latest_of_too_many_are_listed_with_two_queries(
    stats: DynamoStats, calls: CallInterceptor
) -> None:
    subjects = [
        Subject(id=f"s{n}", version=1, recent_errors=errors_at(*[n] * 4))
        for n in range(MAX_REPEATED + 10)
    ]
    save_all(SubjectItem, [to_subject_item(subject) for subject in subjects])
    stats.save_tracker(a_tracker(minutes=5))
    stats.save_tracker(a_tracker("late", minutes=MAX_REPEATED + 10))
    with attribute_calls_to("api"):
        repeated = stats.list_repeated(since=NOW - DAY)
    assert calls.counts == {QUERY: 2}
    names = [f"s{n}" for n in range(MAX_REPEATED + 9, 10, -1)]
    assert [one.subject or one.task_id for one in repeated] == ["late", *names]


# Version 0.1


def put_old_tracker(*, subject: str | None = None, task_id: str | None = None) -> None:
    name = f"subject#{subject}" if subject else f"task#{task_id}"
    TrackerItem(
        f"tracker#{name}",
        "tracker",
        subject=subject,
        task_id=task_id,
        errors={TODAY: 5},
        recent=["2026-02-17T12:00:00.000Z"] * 3 + ["2026-02-17T12:03:00.000Z"],
        last_error_category="timeout",
        repeats="y",
        repeated_since="2026-02-17T12:00:00.000Z",
        version=5,
        expires_at=9,
    ).save()


def test_a_tracker_of_version_0_1_is_listed(stats: DynamoStats) -> None:
    put_old_tracker(subject="story-1")
    put_old_tracker(task_id=ID)
    listed = stats.list_repeated(since=NOW)
    assert {(one.subject, one.task_id) for one in listed} == {("story-1", None), (None, ID)}
    for one in listed:
        assert (one.errors.by_day, one.errors.last_category) == ({TODAY: 5}, "timeout")
        assert one.last_error_at == NOW + 3 * MINUTE


def test_later_errors_of_the_subject_itself_replace_its_old_tracker(stats: DynamoStats) -> None:
    put_old_tracker(subject="story-1")
    errors = errors_at(6, 7, 8, 9)
    DynamoSubjects().save(a_subject(version=1, recent_errors=errors))
    assert stats.list_repeated(since=NOW) == [FailureTracker(subject="story-1", errors=errors)]


def test_later_errors_of_a_task_replace_its_old_tracker(stats: DynamoStats) -> None:
    put_old_tracker(task_id=ID)
    stats.save_tracker(a_tracker(minutes=9, version=6))
    assert stats.list_repeated(since=NOW) == [a_tracker(minutes=9, version=6)]


# The statistics as a whole


def test_statistics_report_every_counter(stats: DynamoStats) -> None:
    """The failures of a subject, of a task without money, a recovery and a late success."""
    action: dict[str, Any] = {"payload": {"provider": "openai"}}
    increments, subject = [], a_subject()
    for n in range(4):
        run = a_failed_run(id=f"run-{n}", at=NOW + n * MINUTE, attempt=n + 1)
        failed = an_action(subject="story-1", run=run, **action)
        failed, updated = track_error(failed, subject, None)
        assert updated is not None
        subject = updated
        increments += count_change(None, failed, late_after=MINUTE)
    DynamoSubjects().save(Subject(id="story-1", version=1, recent_errors=subject.recent_errors))
    broke = a_failed_run(at=NOW - DAY, category="budget_exceeded", diagnosis=None)
    broke_task, _ = track_error(a_task(run=broke), None, None)
    increments += count_change(None, broke_task, late_after=MINUTE)
    recovered = a_committed_run(
        id="run-4",
        at=NOW + 10 * MILLISECOND,
        started_at=NOW + 10 * MILLISECOND,
        attempt=2,
        first_failure=FirstFailure("2026-02-16", "budget_exceeded"),
    )
    old = an_action(retry_count=4)
    increments += count_change(old, an_action(run=recovered, **action), late_after=MINUTE)
    counters = DynamoCounters()
    counters.add("shard", [CountedChange(1, NOW, increments)])
    window = read_stats(7, counters=counters, stats=stats, now=NOW)
    assert stats_to_json(window) == {
        "days": 7,
        "errors_by_category": [
            {
                "category": "timeout",
                "count": 4,
                "avg_retry_count": 1.0,
                "first_seen": "2026-02-17T12:00:00.000Z",
                "last_seen": "2026-02-17T12:03:00.000Z",
            },
            {
                "category": "budget_exceeded",
                "count": 1,
                "avg_retry_count": 0.0,
                "first_seen": "2026-02-16T12:00:00.000Z",
                "last_seen": "2026-02-16T12:00:00.000Z",
            },
        ],
        "errors_by_kind": [{"kind": "timeout", "clears_by": "waiting", "count": 4}],
        "errors_by_day": [
            {"day": "2026-02-16", "category": "budget_exceeded", "count": 1},
            {"day": "2026-02-17", "category": "timeout", "count": 4},
        ],
        "recovery_rate": [
            {"category": "budget_exceeded", "failures": 1, "recovered": 1, "percent": 100.0},
            {"category": "timeout", "failures": 1, "recovered": 0, "percent": 0.0},
        ],
        "top_failing": [],
        "repeated_failures": [
            {
                "subject": "story-1",
                "task_id": None,
                "total_errors": 4,
                "last_error_category": "timeout",
                "last_error_kind": None,
                "last_error_clears_by": None,
                "last_error_at": "2026-02-17T12:03:00.000Z",
            }
        ],
        "budget_timeline": [{"day": "2026-02-16", "errors": 1, "unique_blocked": 1}],
        "retries_to_success": {"average": 4.0, "histogram": {"4": 1}},
        "common_patterns": [
            {
                "pattern": "http-504",
                "category": "timeout",
                "kind": "timeout",
                "clears_by": "waiting",
                "count": 4,
                "last_seen": "2026-02-17T12:03:00.000Z",
            }
        ],
        "lateness": {
            **{"count": 1, "p50": 10, "p95": 10, "p99": 10, "max": 10},
            "histogram": [
                {"up_to_ms": bar.up_to_ms, "count": bar.count} for bar in to_bars({10: 1})
            ],
        },
        "by_provider": [
            {
                "provider": "openai",
                "runs": 5,
                "failures": 4,
                "recovered": 1,
                "failure_percent": 80.0,
                "avg_duration_ms": 0.0,
            }
        ],
    }


@pytest.mark.parametrize(("days", "count"), [(1, 1), (2, 2), (30, 3)])
def test_statistics_cover_only_the_requested_days(
    stats: DynamoStats, days: int, count: int
) -> None:
    counters = DynamoCounters()
    for n, age in enumerate((30, 29, 1, 0)):
        at = NOW - age * DAY
        failed = a_task(run=a_failed_run(id=f"run-{n}", at=at))
        change = CountedChange(n, at, count_change(None, failed, late_after=MINUTE))
        counters.add("shard", [change])
    window = read_stats(days, counters=counters, stats=stats, now=NOW)
    [category] = stats_to_json(window)["errors_by_category"]
    assert category["count"] == count


@pytest.mark.parametrize("count", [1, 300])
def test_statistics_cost_the_same_reads_for_any_number_of_failures(
    stats: DynamoStats, calls: CallInterceptor, count: int
) -> None:
    counters = DynamoCounters()
    for start in range(0, count, 100):
        changes = [
            CountedChange(
                n,
                NOW,
                count_change(None, a_task(run=a_failed_run(id=f"run-{n}")), late_after=MINUTE),
            )
            for n in range(start, min(start + 100, count))
        ]
        counters.add("shard", changes)
    with attribute_calls_to("api"):
        window = read_stats(7, counters=counters, stats=stats, now=NOW)
    assert stats_to_json(window)["errors_by_category"][0]["count"] == count
    assert calls.counts == {QUERY: 9 + 1 + 2}  # counters, given up subjects, repeated failures
