"""The statistics: counted while it happens, read with a few reads however much happened."""

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


def late(*milliseconds: int, **task: Any) -> list[Increment]:
    runs = [a_committed_run(at=NOW + timedelta(milliseconds=ms)) for ms in milliseconds]
    found = [success_increments(a_task(), a_task(**task), run, late_after=MINUTE) for run in runs]
    return [one for increments in found for one in increments]


def told(stats: DynamoStats, days: int = 7) -> dict[str, Any]:
    return stats_to_json(read_stats(days, stats=stats, now=NOW))


# Adding up


def test_what_is_added_sums_up(stats: DynamoStats) -> None:
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
        stats.add(late(*batch))
    [counted] = stats.read_counters([TODAY])
    assert counted.numbers["max"] == max(max(batch) for batch in batches)
    assert counted.numbers["runs"] == sum(map(len, batches))


def test_a_batch_is_one_write_whatever_it_holds(stats: DynamoStats, calls: CallInterceptor) -> None:
    stats.add(late(1_000_000))
    with attribute_calls_to("journal"):
        stats.add(late(*range(100)))
    assert calls.counts == {("journal", "dynamodb.UpdateItem"): 1}


def test_a_new_maximum_takes_one_write_more(stats: DynamoStats, calls: CallInterceptor) -> None:
    with attribute_calls_to("journal"):
        stats.add(late(7))
    assert calls.counts == {("journal", "dynamodb.UpdateItem"): 2}


def test_a_provider_takes_one_write_more(stats: DynamoStats, calls: CallInterceptor) -> None:
    stats.add(late(1_000_000))
    with attribute_calls_to("journal"):
        stats.add(late(*range(100), type="action", payload={"provider": "openai"}))
    assert calls.counts == {("journal", "dynamodb.UpdateItem"): 2}


def test_nothing_to_add_is_no_write(stats: DynamoStats, calls: CallInterceptor) -> None:
    with attribute_calls_to("journal"):
        stats.add([])
    assert not calls.counts


def test_one_who_raises_the_maximum_meanwhile_is_not_overwritten(
    stats: DynamoStats, calls: CallInterceptor
) -> None:
    """The rival comes between the two writes that a new maximum takes."""

    def on_call(call: Call) -> None:
        if call.operation == "UpdateItem":
            calls.on_aws_call = None
            stats.add(late(9))

    stats.add(late(1))
    calls.on_aws_call = on_call
    stats.add(late(5))
    [counted] = stats.read_counters([TODAY])
    assert (counted.numbers["max"], counted.numbers["runs"]) == (9, 3)


def test_a_counter_that_cannot_be_written_is_an_error(
    stats: DynamoStats, calls: CallInterceptor, faults: Faults
) -> None:
    assert calls
    faults.add(Fault("dynamodb.UpdateItem", kind="error", error={"code": "Denied", "status": 400}))
    with attribute_calls_to("journal"), pytest.raises(UpdateError):
        stats.add(late(1))


def test_a_days_lateness_is_small_enough_for_one_write_unit(stats: DynamoStats) -> None:
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


def test_counters_age_out_after_the_longest_window(stats: DynamoStats) -> None:
    stats.add(late(1))
    [item] = CounterItem.scan()
    assert item.expires_at == (NOW + 32 * DAY - 12 * HOUR).timestamp()


# Telling


def test_everything_that_happened_is_told(stats: DynamoStats, log: DynamoErrorLog) -> None:
    task = {"type": "action", "subject": "story-1", "payload": {"provider": "openai"}}
    for n in range(4):
        log.record_error(*a_logged_error(f"run-{n}", at=NOW + n * MINUTE, task=task, attempt=n + 1))
    log.record_error(
        *a_logged_error("run-b", at=NOW - DAY, category="budget_exceeded", diagnosis=None)
    )
    log.record_recovery(a_recovery("run-4", retry_count=4, provider="openai"))
    stats.add(late(10, type="action", payload={"provider": "openai"}))
    assert told(stats) == {
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
def test_only_the_days_asked_for_are_told(
    stats: DynamoStats, log: DynamoErrorLog, days: int, count: int
) -> None:
    for n in (0, 1, 29, 30):
        log.record_error(*a_logged_error(f"run-{n}", at=NOW - n * DAY))
    [category] = told(stats, days)["errors_by_category"]
    assert category["count"] == count


def test_subjects_that_were_given_up_are_told_most_failures_first(stats: DynamoStats) -> None:
    for n in range(25):
        status = "permanent_failure"
        SubjectItem(f"s{n}", failure_count=n, gave_up="y", status=status, version=1).save()
    SubjectItem("fine", failure_count=99, status="pending", version=1).save()
    assert [one["subject"] for one in told(stats)["top_failing"]] == [
        f"s{n}" for n in range(24, 4, -1)
    ]


def test_what_failed_four_times_within_the_window_is_told(
    stats: DynamoStats, log: DynamoErrorLog
) -> None:
    ages = {"long ago": [9, 9, 9, 0], "of late": [9, 6, 1, 1, 0], "seldom": [1, 1, 0]}
    for subject, days in ages.items():
        for n, age in enumerate(days):
            log.record_error(
                *a_logged_error(f"{subject}-{n}", at=NOW - age * DAY, task={"subject": subject})
            )
    found = told(stats)["repeated_failures"]
    assert [(one["subject"], one["total_errors"]) for one in found] == [("of late", 4)]


# How much is read


def many(count: int) -> Failures:
    """Over seven days, of 200 subjects and some tasks without one, of all categories."""
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
    """What `keep` would leave of them, written in bulk: moto copies its tables per transaction."""
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


def everything() -> list[list[dict[str, Any]]]:
    client = boto3.client("dynamodb")
    found = [client.scan(TableName=table)["Items"] for table in ("JournalTable", "StatsTable")]
    return [sorted(items, key=lambda item: json.dumps(item, sort_keys=True)) for items in found]


def in_order(failures: Failures) -> Failures:
    return sorted(failures, key=lambda one: one[0].at)


def test_what_is_loaded_in_bulk_is_what_would_have_been_kept(
    stats: DynamoStats, log: DynamoErrorLog
) -> None:
    failures = in_order(many(40))
    load(failures, log, stats)
    loaded = everything()
    for table in (JournalItem, CounterItem):
        with table.batch_write() as batch:
            for item in table.scan():
                batch.delete(item)
    for failure in failures:
        log.record_error(*failure)
    assert everything() == loaded


@pytest.fixture
def _swept() -> Iterator[None]:
    """Thousands of items, dropped at once: to delete them one by one takes longer than the test."""
    yield
    for table in dynamodb_backends[ACCOUNT][REGION].tables.values():
        table.items.clear()


@pytest.mark.usefixtures("_swept")
@pytest.mark.parametrize("count", [20, 10_000])
def test_the_statistics_take_as_many_reads_however_much_failed(
    stats: DynamoStats, log: DynamoErrorLog, calls: CallInterceptor, count: int
) -> None:
    load(in_order(many(count)), log, stats)
    with attribute_calls_to("api"):
        found = told(stats)
    assert sum(one["count"] for one in found["errors_by_category"]) == count
    assert calls.counts == {("api", "dynamodb.Query"): 7 + 2}


@pytest.mark.usefixtures("_swept")
def test_made_up_providers_do_not_make_it_read_more(
    stats: DynamoStats, log: DynamoErrorLog, calls: CallInterceptor
) -> None:
    log.record_error(*a_logged_error())
    names = (f"provider#made-up-{n}" for n in range(MAX_COUNTERS + 100))
    _save_all(CounterItem, (CounterItem(TODAY, name) for name in names))
    read: list[int] = []
    calls.on_aws_call = lambda call: read.append(call.reply["Count"])
    with attribute_calls_to("api"):
        found = told(stats, 1)
    assert calls.counts == {("api", "dynamodb.Query"): 1 + 2}
    assert sum(read) == MAX_COUNTERS
    assert (len(found["errors_by_category"]), len(found["common_patterns"])) == (1, 1)


def test_of_too_many_that_fail_those_of_late_are_told(
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
        found = stats.list_repeated(since=NOW - DAY)
    assert calls.counts == {("api", "dynamodb.Query"): 1}
    assert [one.subject for one in found] == [f"s{n}" for n in range(MAX_REPEATED + 9, 9, -1)]


def test_an_occurrence_is_known_by_its_key(log: DynamoErrorLog) -> None:
    """Two occurrences of one series: each recovers where it failed itself."""
    for day, key in ((2, "first"), (1, "second")):
        error, run = a_logged_error(f"run-{key}", at=NOW - day * DAY)
        log.record_error(error, a_run(id=run.id, mutation=Mutation(idempotency_key=key)))
    log.record_recovery(a_recovery("run-3", occurrence_key="first"))
    found = {
        one.day: one.numbers.get("recovered")
        for one in DynamoStats().read_counters(["2026-02-15", "2026-02-16"])
        if one.name == "category#timeout"
    }
    assert found == {"2026-02-15": 1, "2026-02-16": None}
