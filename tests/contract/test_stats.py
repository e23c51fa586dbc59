"""The statistics: counted as tasks run, and read with a fixed number of queries."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.error_log import DynamoErrorLog
from duecourse.adapters.aws.dynamodb.models import JournalItem
from duecourse.adapters.aws.dynamodb.stats import (
    MAX_COUNTERS,
    MAX_REPEATED,
    DynamoStats,
    to_tracker_item,
    tracker_key,
)
from duecourse.adapters.aws.dynamodb.tracking_models import CounterItem, SubjectItem, TrackerItem
from duecourse.domain.journal.counters import (
    Increment,
    failure_increments,
    hour_digit,
    success_increments,
)
from duecourse.domain.journal.error_log import LoggedError
from duecourse.domain.journal.failure_tracker import FailureTracker
from duecourse.domain.journal.lateness import BUCKET_BOUNDS_MS, to_bars
from duecourse.domain.journal.stats import DailyCounter, stats_to_json
from duecourse.domain.tasks.run import Mutation, Run
from duecourse.usecases.journal.read_stats import read_stats
from moto.dynamodb.models import dynamodb_backends
from pynamodb.exceptions import UpdateError

from bench.dynamodb_units import WRITE_UNIT, item_size
from local.runtime.call_interceptor import Call, CallInterceptor, attribute_calls_to
from local.runtime.template import ACCOUNT, REGION
from local.testing.faults import Fault, Faults
from tests.contract.conftest import RETENTION
from tests.support.builders.failures import a_logged_error, a_recovery
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.runs import a_committed_run, a_run
from tests.support.builders.tasks import a_task

TODAY = "2026-02-17"
Failures = list[tuple[LoggedError, Run]]


@pytest.fixture
def stats() -> DynamoStats:
    return DynamoStats()


@pytest.fixture
def log() -> DynamoErrorLog:
    return DynamoErrorLog(retention=RETENTION, backoff=lambda _tries: None)


def late_run_increments(*milliseconds: int, **task: Any) -> list[Increment]:
    runs = [a_committed_run(at=NOW + timedelta(milliseconds=ms)) for ms in milliseconds]
    by_run = [success_increments(a_task(), a_task(**task), run, late_after=MINUTE) for run in runs]
    return [one for increments in by_run for one in increments]


def read_stats_json(stats: DynamoStats, days: int = 7) -> dict[str, Any]:
    return stats_to_json(read_stats(days, stats=stats, now=NOW))


# Adding counters


def test_increments_are_summed_up(stats: DynamoStats) -> None:
    for n in (1, 2):
        stats.add(
            [Increment(TODAY, "c", {"a": n, "b": 1}, earliest={"f": str(n)}, latest={"l": str(n)})]
        )
    assert stats.read_counters([TODAY]) == [
        DailyCounter(TODAY, "c", {"a": 3, "b": 2}, {"f": "1", "l": "2"})
    ]


@pytest.mark.parametrize("batches", [[[5], [9], [7]], [[9], [5]], [[0], [0]], [[1, 2, 3], [2]]])
def test_the_largest_lateness_is_exact(stats: DynamoStats, batches: list[list[int]]) -> None:
    for batch in batches:
        stats.add(late_run_increments(*batch))
    [counted] = stats.read_counters([TODAY])
    assert counted.numbers["max"] == max(max(batch) for batch in batches)
    assert counted.numbers["runs"] == sum(map(len, batches))


def test_a_batch_costs_one_write(stats: DynamoStats, calls: CallInterceptor) -> None:
    stats.add(late_run_increments(1_000_000))
    with attribute_calls_to("journal"):
        stats.add(late_run_increments(*range(100)))
    assert calls.counts == {("journal", "dynamodb.UpdateItem"): 1}


def test_a_new_maximum_costs_one_more_write(stats: DynamoStats, calls: CallInterceptor) -> None:
    with attribute_calls_to("journal"):
        stats.add(late_run_increments(7))
    assert calls.counts == {("journal", "dynamodb.UpdateItem"): 2}


def test_a_provider_costs_one_more_write(stats: DynamoStats, calls: CallInterceptor) -> None:
    stats.add(late_run_increments(1_000_000))
    with attribute_calls_to("journal"):
        stats.add(late_run_increments(*range(100), type="action", payload={"provider": "openai"}))
    assert calls.counts == {("journal", "dynamodb.UpdateItem"): 2}


def test_an_empty_batch_costs_no_write(stats: DynamoStats, calls: CallInterceptor) -> None:
    with attribute_calls_to("journal"):
        stats.add([])
    assert not calls.counts


def test_a_concurrent_higher_maximum_is_not_overwritten(
    stats: DynamoStats, calls: CallInterceptor
) -> None:
    """The concurrent write comes between the two writes of a new maximum."""

    def on_call(call: Call) -> None:
        if call.operation == "UpdateItem":
            calls.on_aws_call = None
            stats.add(late_run_increments(9))

    stats.add(late_run_increments(1))
    calls.on_aws_call = on_call
    stats.add(late_run_increments(5))
    [counted] = stats.read_counters([TODAY])
    assert (counted.numbers["max"], counted.numbers["runs"]) == (9, 3)


def test_a_failed_counter_write_raises(
    stats: DynamoStats, calls: CallInterceptor, faults: Faults
) -> None:
    assert calls
    faults.add(Fault("dynamodb.UpdateItem", kind="error", error={"code": "Denied", "status": 400}))
    with attribute_calls_to("journal"), pytest.raises(UpdateError):
        stats.add(late_run_increments(1))


def test_the_lateness_of_a_day_fits_one_write_unit(stats: DynamoStats) -> None:
    """Every batch writes this item. Here it holds every bucket and every hour there is, each with
    many runs."""
    buckets = {f"b{n}": 999_999 for n in range(len(BUCKET_BOUNDS_MS) + 1)}
    starts = [NOW + hours * HOUR for hours in range(24)]
    hours = {name + hour_digit(start): 999_999 for start in starts for name in "hl"}
    assert len(hours) == 48
    runs = {"runs": 99_999_999, **buckets, **hours}
    stats.add([Increment(TODAY, "lateness", runs, {"max": 10**9})])
    [item] = boto3.client("dynamodb").scan(TableName="StatsTable")["Items"]
    assert item_size(item) < WRITE_UNIT


def test_counters_expire_after_the_longest_window(stats: DynamoStats) -> None:
    stats.add(late_run_increments(1))
    [item] = CounterItem.scan()
    assert item.expires_at == (NOW + 32 * DAY - 12 * HOUR).timestamp()


# Telling


def test_statistics_report_every_counter(stats: DynamoStats, log: DynamoErrorLog) -> None:
    task = {"type": "action", "subject": "story-1", "payload": {"provider": "openai"}}
    for n in range(4):
        log.record_error(*a_logged_error(f"run-{n}", at=NOW + n * MINUTE, task=task, attempt=n + 1))
    log.record_error(
        *a_logged_error("run-b", at=NOW - DAY, category="budget_exceeded", diagnosis=None)
    )
    log.record_recovery(a_recovery("run-4", retry_count=4, provider="openai"))
    stats.add(late_run_increments(10, type="action", payload={"provider": "openai"}))
    assert read_stats_json(stats) == {
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
                "last_error_at": "2026-02-17T12:03:00.000Z",
            }
        ],
        "budget_timeline": [{"day": "2026-02-16", "errors": 1, "unique_blocked": 1}],
        "retries_to_success": {"average": 4.0, "histogram": {"4": 1}},
        "common_patterns": [
            {
                "pattern": "http-504",
                "category": "timeout",
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
    stats: DynamoStats, log: DynamoErrorLog, days: int, count: int
) -> None:
    for n in (0, 1, 29, 30):
        log.record_error(*a_logged_error(f"run-{n}", at=NOW - n * DAY))
    [category] = read_stats_json(stats, days)["errors_by_category"]
    assert category["count"] == count


def test_permanently_failed_subjects_are_listed_most_failures_first(stats: DynamoStats) -> None:
    for n in range(25):
        status = "permanent_failure"
        SubjectItem(f"s{n}", failure_count=n, gave_up="y", status=status, version=1).save()
    SubjectItem("fine", failure_count=99, status="pending", version=1).save()
    assert [one["subject"] for one in read_stats_json(stats)["top_failing"]] == [
        f"s{n}" for n in range(24, 4, -1)
    ]


def test_subjects_with_four_failures_in_the_window_are_listed(
    stats: DynamoStats, log: DynamoErrorLog
) -> None:
    ages = {"long ago": [9, 9, 9, 0], "of late": [9, 6, 1, 1, 0], "seldom": [1, 1, 0]}
    for subject, days in ages.items():
        for n, age in enumerate(days):
            log.record_error(
                *a_logged_error(f"{subject}-{n}", at=NOW - age * DAY, task={"subject": subject})
            )
    repeated = read_stats_json(stats)["repeated_failures"]
    assert [(one["subject"], one["total_errors"]) for one in repeated] == [("of late", 4)]


# Cost of reading


def a_failure_series(count: int) -> Failures:
    """Return failures of all categories over seven days, of 200 subjects and of none."""
    categories = ("timeout", "budget_exceeded", "rate_limit", "json_parse", "unknown")
    return [
        a_logged_error(
            f"run-{n}",
            at=NOW - (n % 7) * DAY - n * timedelta(milliseconds=7),
            task={
                "id": f"{n % 500:08x}-0000-4000-8000-000000000000",
                "subject": f"story-{n % 200}" if n % 3 else None,
                "payload": {"provider": f"p{n % 4}"},
            },
            category=categories[n % 5],
            attempt=1 + n % 2,
        )
        for n in range(count)
    ]


def load(failures: Failures, log: DynamoErrorLog, stats: DynamoStats) -> None:
    """Write in bulk what `record_error` would store: moto copies its tables per transaction."""
    trackers: dict[str, FailureTracker] = {}
    increments: list[Increment] = []
    with JournalItem.batch_write() as batch:
        for error, run in failures:
            for item in log.to_journal_items(error):
                batch.save(item)
            key = tracker_key(FailureTracker.for_error(error))
            before = trackers.get(key, FailureTracker.for_error(error))
            is_newly_blocked = before.is_newly_blocked(error)
            increments += failure_increments(error, run, is_newly_blocked=is_newly_blocked)
            trackers[key] = before.record(error)
    firsts = {
        error.task_id: log.to_first_failure_item(error, run)
        for error, run in failures
        if error.attempt == 1
    }
    _save_all(JournalItem, firsts.values())
    _save_all(TrackerItem, map(to_tracker_item, trackers.values()))
    stats.add(increments)


def _save_all(model: Any, items: Iterable[Any]) -> None:
    with model.batch_write() as batch:
        for item in items:
            batch.save(item)


def scan_tables() -> list[list[dict[str, Any]]]:
    client = boto3.client("dynamodb")
    tables = [client.scan(TableName=table)["Items"] for table in ("JournalTable", "StatsTable")]
    return [sorted(items, key=lambda item: json.dumps(item, sort_keys=True)) for items in tables]


def sort_by_time(failures: Failures) -> Failures:
    return sorted(failures, key=lambda one: one[0].at)


def test_loading_in_bulk_stores_the_same_as_recording(
    stats: DynamoStats, log: DynamoErrorLog
) -> None:
    failures = sort_by_time(a_failure_series(40))
    load(failures, log, stats)
    loaded = scan_tables()
    for table in (JournalItem, CounterItem):
        with table.batch_write() as batch:
            for item in table.scan():
                batch.delete(item)
    for failure in failures:
        log.record_error(*failure)
    assert scan_tables() == loaded


@pytest.fixture
def _drop_items() -> Iterator[None]:
    """Drop thousands of items at once: deleting them one by one takes longer than the test."""
    yield
    for table in dynamodb_backends[ACCOUNT][REGION].tables.values():
        table.items.clear()


@pytest.mark.usefixtures("_drop_items")
@pytest.mark.parametrize("count", [20, 10_000])
def test_statistics_cost_the_same_reads_for_any_number_of_failures(
    stats: DynamoStats, log: DynamoErrorLog, calls: CallInterceptor, count: int
) -> None:
    load(sort_by_time(a_failure_series(count)), log, stats)
    with attribute_calls_to("api"):
        stats_json = read_stats_json(stats)
    assert sum(one["count"] for one in stats_json["errors_by_category"]) == count
    assert calls.counts == {("api", "dynamodb.Query"): 7 + 2}


@pytest.mark.usefixtures("_drop_items")
def test_invented_providers_do_not_raise_the_read_cost(
    stats: DynamoStats, log: DynamoErrorLog, calls: CallInterceptor
) -> None:
    log.record_error(*a_logged_error())
    names = (f"provider#made-up-{n}" for n in range(MAX_COUNTERS + 100))
    _save_all(CounterItem, (CounterItem(TODAY, name) for name in names))
    read_counts: list[int] = []
    calls.on_aws_call = lambda call: read_counts.append(call.reply["Count"])
    with attribute_calls_to("api"):
        stats_json = read_stats_json(stats, 1)
    assert calls.counts == {("api", "dynamodb.Query"): 1 + 2}
    assert sum(read_counts) == MAX_COUNTERS
    assert (len(stats_json["errors_by_category"]), len(stats_json["common_patterns"])) == (1, 1)


def test_the_latest_of_too_many_repeated_failures_are_listed(
    stats: DynamoStats, calls: CallInterceptor
) -> None:
    failing = [
        FailureTracker(
            subject=f"s{n}",
            errors_by_day={TODAY: 4},
            recent_errors_at=(NOW + n * MINUTE,) * 4,
            version=4,
        )
        for n in range(MAX_REPEATED + 10)
    ]
    _save_all(TrackerItem, map(to_tracker_item, failing))
    with attribute_calls_to("api"):
        repeated = stats.list_repeated(since=NOW - DAY)
    assert calls.counts == {("api", "dynamodb.Query"): 1}
    assert [one.subject for one in repeated] == [f"s{n}" for n in range(MAX_REPEATED + 9, 9, -1)]


def test_a_recovery_is_matched_to_its_occurrence_by_key(log: DynamoErrorLog) -> None:
    """Each of two occurrences of a series recovers on the day of its own failure."""
    for day, key in ((2, "first"), (1, "second")):
        error, run = a_logged_error(f"run-{key}", at=NOW - day * DAY)
        log.record_error(error, a_run(id=run.id, mutation=Mutation(idempotency_key=key)))
    log.record_recovery(a_recovery("run-3", occurrence_key="first"))
    recovered_by_day = {
        counter.day: counter.numbers.get("recovered")
        for counter in DynamoStats().read_counters(["2026-02-15", "2026-02-16"])
        if counter.name == "category#timeout"
    }
    assert recovered_by_day == {"2026-02-15": 1, "2026-02-16": None}
