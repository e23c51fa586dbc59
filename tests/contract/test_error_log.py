"""The error log: kept once, counted once, found by task, subject and category."""

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
from tests.contract.conflicts import conflicts
from tests.contract.conftest import RETENTION
from tests.support.builders.failures import a_logged_error, a_recovery
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.tasks import ID

SUBJECT: dict[str, Any] = {"subject": "story-1", "payload": {"provider": "openai"}}
Walk = Callable[..., ErrorPage]


@pytest.fixture
def pauses() -> list[int]:
    return []


@pytest.fixture
def log(pauses: list[int]) -> DynamoErrorLog:
    return DynamoErrorLog(retention=RETENTION, backoff=pauses.append)


def kept(table: str) -> list[dict[str, Any]]:
    pages = boto3.client("dynamodb").get_paginator("scan").paginate(TableName=table)
    found = [item for page in pages for item in page["Items"]]
    return sorted(found, key=str)


def counter(name: str, day: str = "2026-02-17") -> dict[str, int]:
    key = {"day": {"S": day}, "counter": {"S": name}}
    found = boto3.client("dynamodb").get_item(TableName="StatsTable", Key=key).get("Item", {})
    found.pop("expires_at", None)
    return {attr: int(value["N"]) for attr, value in found.items() if "N" in value}


def ids(errors: Sequence[LoggedError]) -> list[str]:
    return [error.id for error in errors]


def walked(walk: Walk, name: str, *, limit: int, now: datetime = NOW) -> list[str]:
    page = walk(name, limit=limit, cursor=None, now=now)
    found = ids(page.items)
    while page.next_cursor is not None:
        page = walk(name, limit=limit, cursor=page.next_cursor, now=now)
        assert 0 < len(page.items) <= limit
        found += ids(page.items)
        assert len(found) < 100, "a walk without end"
    return found


# Kept and found


def test_an_error_is_found_by_task_subject_and_category(log: DynamoErrorLog) -> None:
    error, run = a_logged_error(task=SUBJECT)
    assert log.record_error(error, run)
    assert log.list_by_task(ID) == [error]
    for page in (
        log.list_by_subject("story-1", limit=9, cursor=None, now=NOW),
        log.list_by_category("timeout", limit=9, cursor=None, now=NOW),
    ):
        assert page == ErrorPage([error], None)


def test_a_tasks_errors_are_told_oldest_first(log: DynamoErrorLog) -> None:
    for n in (2, 0, 1):
        log.record_error(*a_logged_error(f"run-{n}", at=NOW + n * MINUTE, attempt=n + 1))
    assert ids(log.list_by_task(ID)) == ["run-0", "run-1", "run-2"]


def test_what_is_not_there_is_not_found(log: DynamoErrorLog) -> None:
    log.record_error(*a_logged_error(task=SUBJECT))
    assert log.list_by_task("another") == []
    assert walked(log.list_by_subject, "story-2", limit=1) == []
    assert walked(log.list_by_category, "time", limit=1) == []


def test_all_that_is_kept_ages_out(log: DynamoErrorLog) -> None:
    log.record_error(*a_logged_error(task=SUBJECT))
    log.record_recovery(a_recovery())
    assert {"expires_at"} <= set.intersection(
        *(set(item) for table in ("JournalTable", "StatsTable") for item in kept(table))
    )
    entries = [item for item in kept("JournalTable") if item["entry"]["S"].startswith("x#")]
    assert {int(item["expires_at"]["N"]) for item in entries} == {(NOW + RETENTION).timestamp()}


# Walks


def spread(log: DynamoErrorLog) -> list[str]:
    """Errors over several days, some in one millisecond; newest first."""
    moments = [NOW - 29 * DAY, NOW - 3 * DAY, *[NOW - HOUR] * 4, NOW - MINUTE, NOW]
    for n, at in enumerate(moments):
        log.record_error(*a_logged_error(f"run-{n}", at=at, task=SUBJECT))
    return [f"run-{n}" for n in reversed(range(len(moments)))]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8, 9])
@pytest.mark.parametrize("by", ["subject", "category"])
def test_a_walk_tells_every_error_once_newest_first(
    log: DynamoErrorLog, by: str, limit: int
) -> None:
    expected = spread(log)
    walk, name = {
        "subject": (log.list_by_subject, "story-1"),
        "category": (log.list_by_category, "timeout"),
    }[by]
    assert walked(walk, name, limit=limit) == expected


@pytest.mark.parametrize("by", ["subject", "category"])
def test_what_happens_during_a_walk_neither_skips_nor_repeats(log: DynamoErrorLog, by: str) -> None:
    expected = spread(log)
    walk: Walk = log.list_by_subject if by == "subject" else log.list_by_category
    name = "story-1" if by == "subject" else "timeout"
    page = walk(name, limit=3, cursor=None, now=NOW)
    found = ids(page.items)
    log.record_error(*a_logged_error("new", at=NOW + MILLISECOND, task=SUBJECT))
    while page.next_cursor:
        page = walk(name, limit=3, cursor=page.next_cursor, now=NOW + MINUTE)
        found += ids(page.items)
        assert len(found) <= len(expected)
    assert found == expected


@pytest.mark.parametrize("by", ["subject", "category"])
def test_what_is_older_than_thirty_days_is_not_told(log: DynamoErrorLog, by: str) -> None:
    walk: Walk = log.list_by_subject if by == "subject" else log.list_by_category
    name = "story-1" if by == "subject" else "timeout"
    for n in (29, 30, 31):
        log.record_error(*a_logged_error(f"run-{n}", at=NOW - n * DAY, task=SUBJECT))
    assert walked(walk, name, limit=9) == ["run-30", "run-29"][::-1]


def test_a_category_is_walked_back_a_bounded_number_of_days(
    log: DynamoErrorLog, calls: CallInterceptor
) -> None:
    with attribute_calls_to("api"):
        log.list_by_category("timeout", limit=9, cursor=None, now=NOW)
    assert calls.counts["api", "dynamodb.Query"] == 31


def forged(*parts: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode()


AT = "2026-02-17T12:00:00.000Z"


def test_a_cursor_that_was_forged_well_is_as_good_as_one_given(log: DynamoErrorLog) -> None:
    for run_id in ("x", "x" * 100):
        page = log.list_by_subject("story-1", limit=1, cursor=forged(AT, run_id), now=NOW)
        assert page == ErrorPage([], None)


@pytest.mark.parametrize(
    "cursor",
    [
        *("", "x", "bnVsbA==", "W10=", "WzEsMl0=", "é", "WyJ4IiwgInkiXQ==", "\ud800"),
        *(forged(AT, run_id) for run_id in ("", "x" * 101, "x" * 3_000, "\ud800", "é", "a\nb")),
        *(forged(AT, 5), forged(AT, None), forged(AT, []), forged(AT, {"x": 1}), forged(AT, True)),
        *(forged(at, "x") for at in ("2026-02-17", "2026-02-17T12:00:00Z", "x", 5, None)),
        *(forged("2026-02-17T13:00:00.000+01:00", "x"), forged("0001-01-01T00:00+23:59", "x")),
        *(forged(AT), forged(AT, "x", "y"), forged(AT, "x") + "!!!!"),
        base64.urlsafe_b64encode(f'["{AT}","x"]'.encode()).decode(),  # without the space
    ],
)
def test_a_cursor_that_nobody_gave_is_refused(log: DynamoErrorLog, cursor: str) -> None:
    with pytest.raises(ValueError, match="is not a cursor"):
        log.list_by_category("timeout", limit=1, cursor=cursor, now=NOW)


# Once


def test_a_failure_delivered_twice_counts_once(log: DynamoErrorLog) -> None:
    failure = a_logged_error(task=SUBJECT)
    assert log.record_error(*failure)
    before = kept("JournalTable"), kept("StatsTable")
    assert not log.record_error(*failure)
    assert (kept("JournalTable"), kept("StatsTable")) == before
    counted = {"errors": 1, "retries": 1, "failures": 1, "hc": 1}  # at noon
    assert counter("category#timeout") == counted


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


def test_a_recovery_from_what_has_aged_out_counts_its_retries(log: DynamoErrorLog) -> None:
    log.record_recovery(a_recovery(retry_count=2))
    assert counter("after_retries") == {"runs": 1, "retries": 2, "r2": 1}


CALLS_OF_KEEP = ["dynamodb.GetItem", "dynamodb.TransactWriteItems"]


@pytest.mark.parametrize("call", CALLS_OF_KEEP)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["crash", "timeout"])
@pytest.mark.parametrize("what", ["failure", "recovery"])
def test_whatever_call_dies_each_thing_is_counted_once(
    log: DynamoErrorLog,
    faults: Faults,
    calls: CallInterceptor,
    what: str,
    call: str,
    when: str,
    kind: str,
) -> None:
    """A record whose invocation was killed is delivered again, and so is one that was kept."""

    def deliver() -> None:
        if what == "failure":
            log.record_error(*a_logged_error(task=SUBJECT))
        else:
            log.record_recovery(a_recovery())

    if what == "recovery":
        log.record_error(*a_logged_error(task=SUBJECT))
    faults.add(Fault(call, when=when, kind=kind))
    with attribute_calls_to("journal"):
        with suppress(SimulatedCrash):
            deliver()
        assert not faults.has_pending_for("journal"), "it struck"
        deliver()
    assert calls.counts["journal", call] > 1
    assert counter("category#timeout")["errors"] == 1
    assert counter("category#timeout").get("recovered") == (1 if what == "recovery" else None)
    assert len(log.list_by_task(ID)) == 1
    assert TrackerItem.get("tracker#subject#story-1", "tracker").version == 1


# Races


def test_two_writers_racing_on_one_tracker_are_both_counted(
    log: DynamoErrorLog, calls: CallInterceptor, pauses: list[int]
) -> None:
    """The second writes between the first one's look at the tracker and its write."""
    rival = DynamoErrorLog(retention=RETENTION, backoff=pauses.append)
    budget: dict[str, Any] = {"category": "budget_exceeded", "task": SUBJECT}

    def on_call(call: Call) -> None:
        if call.operation == "GetItem":
            calls.on_aws_call = None
            rival.record_error(*a_logged_error("run-b", at=NOW + MINUTE, **budget))

    calls.on_aws_call = on_call
    assert log.record_error(*a_logged_error("run-a", **budget))
    assert pauses == [1]
    tracker = TrackerItem.get("tracker#subject#story-1", "tracker")
    assert (tracker.version, tracker.errors) == (2, {"2026-02-17": 2})
    assert counter("category#budget_exceeded")["errors"] == 2
    assert counter("category#budget_exceeded")["blocked"] == 1


def test_a_conflict_is_tried_again_after_a_pause(log: DynamoErrorLog, pauses: list[int]) -> None:
    with conflicts(MAX_ATTEMPTS - 1):
        assert log.record_error(*a_logged_error())
    assert pauses == [1, 2, 3, 4, 5]
    assert counter("category#timeout")["errors"] == 1


def test_a_conflict_without_end_is_left_to_the_next_delivery(
    log: DynamoErrorLog, pauses: list[int]
) -> None:
    with conflicts(MAX_ATTEMPTS), pytest.raises(TransactWriteError):
        log.record_error(*a_logged_error())
    assert len(pauses) == MAX_ATTEMPTS - 1
    assert kept("StatsTable") == kept("JournalTable") == []


def test_what_no_second_try_would_help_is_not_tried_again(
    log: DynamoErrorLog, pauses: list[int]
) -> None:
    with conflicts(1, code="ValidationError"), pytest.raises(TransactWriteError):
        log.record_error(*a_logged_error())
    assert pauses == []


# Trackers


def test_a_tracker_grows_with_each_error(log: DynamoErrorLog) -> None:
    for n in range(6):
        log.record_error(*a_logged_error(f"run-{n}", at=NOW + n * timedelta(hours=5), task=SUBJECT))
    tracker = TrackerItem.get("tracker#subject#story-1", "tracker")
    assert tracker.errors == {"2026-02-17": 3, "2026-02-18": 3}
    assert (tracker.repeats, tracker.repeated_since) == ("y", "2026-02-17T22:00:00.000Z")


def test_what_failed_three_times_is_in_no_index(log: DynamoErrorLog) -> None:
    for n in range(3):
        log.record_error(*a_logged_error(f"run-{n}", at=NOW + n * MINUTE))
    tracker = TrackerItem.get(f"tracker#task#{ID}", "tracker")
    assert tracker.repeats is None
    assert tracker.repeated_since is None
