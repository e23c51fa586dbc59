"""The error log: errors are stored and counted once, and listed by task, subject and category."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.error_log import MAX_ATTEMPTS, DynamoErrorLog
from duecourse.adapters.aws.dynamodb.tracking_models import TrackerItem
from duecourse.domain.journal.error_log import LoggedError
from duecourse.ports.journal import ErrorPage
from pynamodb.exceptions import TransactWriteError

from local.runtime.call_interceptor import Call, CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults, SimulatedCrash
from tests.contract.conflicts import simulate_conflicts
from tests.contract.conftest import RETENTION
from tests.support.builders.failures import a_logged_error, a_recovery
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.tasks import ID

SUBJECT: dict[str, Any] = {"subject": "story-1", "payload": {"provider": "openai"}}
ListPage = Callable[..., ErrorPage]


@pytest.fixture
def pauses() -> list[int]:
    return []


@pytest.fixture
def log(pauses: list[int]) -> DynamoErrorLog:
    return DynamoErrorLog(retention=RETENTION, backoff=pauses.append)


def scan_table(table: str) -> list[dict[str, Any]]:
    pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=table)
    items = [item for page in pages for item in page["Items"]]
    return sorted(items, key=str)


def counter(name: str, day: str = "2026-02-17") -> dict[str, int]:
    key = {"day": {"S": day}, "counter": {"S": name}}
    item = boto3.client("dynamodb").get_item(TableName="StatsTable", Key=key).get("Item", {})
    item.pop("expires_at", None)
    return {attr: int(value["N"]) for attr, value in item.items() if "N" in value}


def ids(errors: Sequence[LoggedError]) -> list[str]:
    return [error.id for error in errors]


def list_all_pages(list_page: ListPage, name: str, *, limit: int, now: datetime = NOW) -> list[str]:
    page = list_page(name, limit=limit, cursor=None, now=now)
    ids_listed = ids(page.items)
    while page.next_cursor is not None:
        page = list_page(name, limit=limit, cursor=page.next_cursor, now=now)
        assert 0 < len(page.items) <= limit
        ids_listed += ids(page.items)
        assert len(ids_listed) < 100, "paging never ends"
    return ids_listed


# Stored and listed


def test_an_error_is_listed_by_task_subject_and_category(log: DynamoErrorLog) -> None:
    error, run = a_logged_error(task=SUBJECT)
    assert log.record_error(error, run)
    assert log.list_by_task(ID) == [error]
    for page in (
        log.list_by_subject("story-1", limit=9, cursor=None, now=NOW),
        log.list_by_category("timeout", limit=9, cursor=None, now=NOW),
    ):
        assert page == ErrorPage([error], None)


def test_the_errors_of_a_task_are_listed_oldest_first(log: DynamoErrorLog) -> None:
    for n in (2, 0, 1):
        log.record_error(*a_logged_error(f"run-{n}", at=NOW + n * MINUTE, attempt=n + 1))
    assert ids(log.list_by_task(ID)) == ["run-0", "run-1", "run-2"]


def test_errors_of_others_are_not_listed(log: DynamoErrorLog) -> None:
    log.record_error(*a_logged_error(task=SUBJECT))
    assert log.list_by_task("another") == []
    assert list_all_pages(log.list_by_subject, "story-2", limit=1) == []
    assert list_all_pages(log.list_by_category, "time", limit=1) == []


def test_every_stored_item_expires(log: DynamoErrorLog) -> None:
    log.record_error(*a_logged_error(task=SUBJECT))
    log.record_recovery(a_recovery())
    assert {"expires_at"} <= set.intersection(
        *(set(item) for table in ("JournalTable", "StatsTable") for item in scan_table(table))
    )
    entries = [item for item in scan_table("JournalTable") if item["entry"]["S"].startswith("x#")]
    assert {int(item["expires_at"]["N"]) for item in entries} == {(NOW + RETENTION).timestamp()}


# Paging


def record_spread_errors(log: DynamoErrorLog) -> list[str]:
    """Record errors over several days, some in one millisecond; return their ids newest first."""
    moments = [NOW - 29 * DAY, NOW - 3 * DAY, *[NOW - HOUR] * 4, NOW - MINUTE, NOW]
    for n, at in enumerate(moments):
        log.record_error(*a_logged_error(f"run-{n}", at=at, task=SUBJECT))
    return [f"run-{n}" for n in reversed(range(len(moments)))]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8, 9])
@pytest.mark.parametrize("by", ["subject", "category"])
def test_paging_lists_every_error_once_newest_first(
    log: DynamoErrorLog, by: str, limit: int
) -> None:
    expected = record_spread_errors(log)
    list_page, name = {
        "subject": (log.list_by_subject, "story-1"),
        "category": (log.list_by_category, "timeout"),
    }[by]
    assert list_all_pages(list_page, name, limit=limit) == expected


@pytest.mark.parametrize("by", ["subject", "category"])
def test_an_error_during_paging_neither_skips_nor_repeats_others(
    log: DynamoErrorLog, by: str
) -> None:
    expected = record_spread_errors(log)
    list_page: ListPage = log.list_by_subject if by == "subject" else log.list_by_category
    name = "story-1" if by == "subject" else "timeout"
    page = list_page(name, limit=3, cursor=None, now=NOW)
    ids_listed = ids(page.items)
    log.record_error(*a_logged_error("new", at=NOW + MILLISECOND, task=SUBJECT))
    while page.next_cursor:
        page = list_page(name, limit=3, cursor=page.next_cursor, now=NOW + MINUTE)
        ids_listed += ids(page.items)
        assert len(ids_listed) <= len(expected)
    assert ids_listed == expected


@pytest.mark.parametrize("by", ["subject", "category"])
def test_errors_older_than_thirty_days_are_not_listed(log: DynamoErrorLog, by: str) -> None:
    list_page: ListPage = log.list_by_subject if by == "subject" else log.list_by_category
    name = "story-1" if by == "subject" else "timeout"
    for n in (29, 30, 31):
        log.record_error(*a_logged_error(f"run-{n}", at=NOW - n * DAY, task=SUBJECT))
    assert list_all_pages(list_page, name, limit=9) == ["run-30", "run-29"][::-1]


def test_listing_a_category_queries_a_bounded_number_of_days(
    log: DynamoErrorLog, calls: CallInterceptor
) -> None:
    with attribute_calls_to("api"):
        log.list_by_category("timeout", limit=9, cursor=None, now=NOW)
    assert calls.counts["api", "dynamodb.Query"] == 31


def a_cursor(*parts: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode()


AT = "2026-02-17T12:00:00.000Z"


def test_a_well_formed_foreign_cursor_is_accepted(log: DynamoErrorLog) -> None:
    for run_id in ("x", "x" * 100):
        page = log.list_by_subject("story-1", limit=1, cursor=a_cursor(AT, run_id), now=NOW)
        assert page == ErrorPage([], None)


@pytest.mark.parametrize(
    "cursor",
    [
        *("", "x", "bnVsbA==", "W10=", "WzEsMl0=", "é", "WyJ4IiwgInkiXQ==", "\ud800"),
        *(a_cursor(AT, run_id) for run_id in ("", "x" * 101, "x" * 3_000, "\ud800", "é", "a\nb")),
        *(
            a_cursor(AT, 5),
            a_cursor(AT, None),
            a_cursor(AT, []),
            a_cursor(AT, {"x": 1}),
            a_cursor(AT, True),
        ),
        *(a_cursor(at, "x") for at in ("2026-02-17", "2026-02-17T12:00:00Z", "x", 5, None)),
        *(a_cursor("2026-02-17T13:00:00.000+01:00", "x"), a_cursor("0001-01-01T00:00+23:59", "x")),
        *(a_cursor(AT), a_cursor(AT, "x", "y"), a_cursor(AT, "x") + "!!!!"),
        base64.urlsafe_b64encode(f'["{AT}","x"]'.encode()).decode(),  # without the space
    ],
)
def test_a_malformed_cursor_is_refused(log: DynamoErrorLog, cursor: str) -> None:
    with pytest.raises(ValueError, match="is not a cursor"):
        log.list_by_category("timeout", limit=1, cursor=cursor, now=NOW)


# Counted once


def test_a_failure_delivered_twice_counts_once(log: DynamoErrorLog) -> None:
    failure = a_logged_error(task=SUBJECT)
    assert log.record_error(*failure)
    before = scan_table("JournalTable"), scan_table("StatsTable")
    assert not log.record_error(*failure)
    assert (scan_table("JournalTable"), scan_table("StatsTable")) == before
    expected = {"errors": 1, "retries": 1, "failures": 1, "hc": 1}  # at noon
    assert counter("category#timeout") == expected


def test_a_recovery_delivered_twice_counts_once(log: DynamoErrorLog) -> None:
    log.record_error(*a_logged_error(at=NOW - 3 * DAY, task=SUBJECT))
    assert log.record_recovery(a_recovery(provider="openai"))
    assert not log.record_recovery(a_recovery(provider="openai"))
    assert counter("after_retries") == {"runs": 1, "retries": 1, "r1": 1}
    assert counter("provider#openai") == {"recovered": 1}


def test_a_recovery_counts_where_its_occurrence_failed_first(log: DynamoErrorLog) -> None:
    log.record_error(*a_logged_error("run-1", at=NOW - 3 * DAY))
    log.record_error(*a_logged_error("run-2", at=NOW - 2 * DAY, attempt=2, category="rate_limit"))
    log.record_recovery(a_recovery("run-3"))
    assert counter("category#timeout", "2026-02-14")["recovered"] == 1
    assert "recovered" not in counter("category#rate_limit", "2026-02-15")


def test_a_recovery_from_an_expired_failure_counts_its_retries(log: DynamoErrorLog) -> None:
    log.record_recovery(a_recovery(retry_count=2))
    assert counter("after_retries") == {"runs": 1, "retries": 2, "r2": 1}


CALLS_OF_RECORD = ["dynamodb.GetItem", "dynamodb.TransactWriteItems"]


@pytest.mark.parametrize("call", CALLS_OF_RECORD)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["crash", "timeout"])
@pytest.mark.parametrize("kind_of_record", ["failure", "recovery"])
def test_each_record_is_counted_once_whichever_call_fails(
    log: DynamoErrorLog,
    faults: Faults,
    calls: CallInterceptor,
    kind_of_record: str,
    call: str,
    when: str,
    kind: str,
) -> None:
    """A record is redelivered after a crash, even if it was already stored."""

    def deliver() -> None:
        if kind_of_record == "failure":
            log.record_error(*a_logged_error(task=SUBJECT))
        else:
            log.record_recovery(a_recovery())

    if kind_of_record == "recovery":
        log.record_error(*a_logged_error(task=SUBJECT))
    faults.add(Fault(call, when=when, kind=kind))
    with attribute_calls_to("journal"):
        with suppress(SimulatedCrash):
            deliver()
        assert not faults.has_pending_for("journal"), "the fault occurred"
        deliver()
    assert calls.counts["journal", call] > 1
    assert counter("category#timeout")["errors"] == 1
    assert counter("category#timeout").get("recovered") == (
        1 if kind_of_record == "recovery" else None
    )
    assert len(log.list_by_task(ID)) == 1
    assert TrackerItem.get("tracker#subject#story-1", "tracker").version == 1


# Races


def test_two_writers_racing_on_one_tracker_are_both_counted(
    log: DynamoErrorLog, calls: CallInterceptor, pauses: list[int]
) -> None:
    """The second writes between the first one's read of the tracker and its write."""
    concurrent_log = DynamoErrorLog(retention=RETENTION, backoff=pauses.append)
    budget: dict[str, Any] = {"category": "budget_exceeded", "task": SUBJECT}

    def on_call(call: Call) -> None:
        if call.operation == "GetItem":
            calls.on_aws_call = None
            concurrent_log.record_error(*a_logged_error("run-b", at=NOW + MINUTE, **budget))

    calls.on_aws_call = on_call
    assert log.record_error(*a_logged_error("run-a", **budget))
    assert pauses == [1]
    tracker = TrackerItem.get("tracker#subject#story-1", "tracker")
    assert (tracker.version, tracker.errors) == (2, {"2026-02-17": 2})
    assert counter("category#budget_exceeded")["errors"] == 2
    assert counter("category#budget_exceeded")["blocked"] == 1


def test_a_conflict_is_retried_after_a_pause(log: DynamoErrorLog, pauses: list[int]) -> None:
    with simulate_conflicts(MAX_ATTEMPTS - 1):
        assert log.record_error(*a_logged_error())
    assert pauses == [1, 2, 3, 4, 5]
    assert counter("category#timeout")["errors"] == 1


def test_a_persistent_conflict_raises_and_stores_nothing(
    log: DynamoErrorLog, pauses: list[int]
) -> None:
    with simulate_conflicts(MAX_ATTEMPTS), pytest.raises(TransactWriteError):
        log.record_error(*a_logged_error())
    assert len(pauses) == MAX_ATTEMPTS - 1
    assert scan_table("StatsTable") == scan_table("JournalTable") == []


def test_a_permanent_error_is_not_retried(log: DynamoErrorLog, pauses: list[int]) -> None:
    with simulate_conflicts(1, code="ValidationError"), pytest.raises(TransactWriteError):
        log.record_error(*a_logged_error())
    assert pauses == []


# Trackers


def test_a_tracker_counts_each_error(log: DynamoErrorLog) -> None:
    for n in range(6):
        log.record_error(*a_logged_error(f"run-{n}", at=NOW + n * timedelta(hours=5), task=SUBJECT))
    tracker = TrackerItem.get("tracker#subject#story-1", "tracker")
    assert tracker.errors == {"2026-02-17": 3, "2026-02-18": 3}
    assert (tracker.repeats, tracker.repeated_since) == ("y", "2026-02-17T22:00:00.000Z")


def test_a_tracker_with_three_failures_is_not_indexed(log: DynamoErrorLog) -> None:
    for n in range(3):
        log.record_error(*a_logged_error(f"run-{n}", at=NOW + n * MINUTE))
    tracker = TrackerItem.get(f"tracker#task#{ID}", "tracker")
    assert tracker.repeats is None
    assert tracker.repeated_since is None
