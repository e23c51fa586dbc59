"""The error log: the records of failed runs, listed by task, subject and category."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.counters import DynamoCounters
from duecourse.adapters.aws.dynamodb.error_log import DynamoErrorLog
from duecourse.adapters.aws.dynamodb.journal import DynamoJournal
from duecourse.adapters.aws.dynamodb.journal_models import JournalItem
from duecourse.domain.journal.counter_page import CountedChange
from duecourse.domain.journal.error_log import LoggedError, error_to_json
from duecourse.domain.journal.journal_entries import JournalEntries
from duecourse.domain.journal.learning_counters import RunRef
from duecourse.domain.journal.run_record import RunRecord, to_logged_error
from duecourse.domain.requests.stored_run import run_to_stored
from duecourse.domain.tasks.run import RunStatus
from duecourse.ports.journal import ErrorPage
from duecourse.usecases.journal.project_change import ProjectionSettings, project_change

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from tests.contract.conftest import RETENTION
from tests.support.builders.failures import a_run_record, fail_task
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.tasks import ID, a_task, claim_task

SUBJECT: dict[str, Any] = {"subject": "story-1", "payload": {"provider": "openai"}}
TODAY = "2026-02-17"
SETTINGS = ProjectionSettings((), MINUTE)
ListPage = Callable[..., ErrorPage]


@pytest.fixture
def log() -> DynamoErrorLog:
    return DynamoErrorLog(DynamoCounters(), retention=RETENTION)


def record(journal: DynamoJournal, *records: RunRecord) -> None:
    journal.write([JournalEntries(version=one.version, record=one) for one in records])


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


def list_everywhere(log: DynamoErrorLog, *, category: str = "timeout") -> list[list[LoggedError]]:
    """Return the errors of the task, of its subject and of the category."""
    return [
        list(log.list_by_task(ID)),
        list(log.list_by_subject("story-1", limit=9, cursor=None, now=NOW).items),
        list(log.list_by_category(category, limit=9, cursor=None, now=NOW).items),
    ]


# Stored and listed


def test_an_error_is_listed_by_task_subject_and_category(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    failed = a_run_record(
        task={**SUBJECT, "type": "action", "policy": "agent"}, next_retry_at=NOW + MINUTE
    )
    record(journal, failed)
    assert list_everywhere(log) == [[to_logged_error(failed)]] * 3


def test_the_errors_of_a_task_are_listed_oldest_first(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    for n in (2, 0, 1):
        record(journal, a_run_record(f"run-{n}", at=NOW + n * MINUTE, attempt=n + 1))
    assert ids(log.list_by_task(ID)) == ["run-0", "run-1", "run-2"]


def test_errors_of_others_are_not_listed(log: DynamoErrorLog, journal: DynamoJournal) -> None:
    record(journal, a_run_record(task=SUBJECT))
    assert log.list_by_task("another") == []
    assert list_all_pages(log.list_by_subject, "story-2", limit=1) == []
    assert list_all_pages(log.list_by_category, "time", limit=1) == []


def test_a_run_that_did_not_fail_is_no_error(log: DynamoErrorLog, journal: DynamoJournal) -> None:
    failed = a_run_record(task=SUBJECT)
    for status in (RunStatus.COMMITTED, RunStatus.CANCELLED):
        run = replace(failed.run, id=str(status), status=status, error=None, category=None)
        record(journal, replace(failed, run=run))
    assert list_everywhere(log) == [[]] * 3


def test_an_error_without_a_subject_is_listed_by_category(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    crash: dict[str, Any] = {"status": RunStatus.CRASHED, "error": None, "category": None}
    record(journal, a_run_record(**crash, diagnosis=None))
    assert [ids(errors) for errors in list_everywhere(log, category="unknown")] == [
        *(["run-1"], [], ["run-1"]),
    ]


def test_a_run_that_failed_longer_than_a_day_is_found_by_its_end(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    record(journal, a_run_record(task=SUBJECT, at=NOW, started_at=NOW - 3 * DAY))
    assert [ids(errors) for errors in list_everywhere(log)] == [["run-1"]] * 3


def test_every_stored_item_expires(journal: DynamoJournal) -> None:
    record(journal, a_run_record(task=SUBJECT))
    items = boto3.client("dynamodb").scan(TableName="JournalTable")["Items"]
    assert [int(item["expires_at"]["N"]) for item in items] == [(NOW + RETENTION).timestamp()] * 3


# Failures that the counters name


def fail_and_journal(journal: DynamoJournal, *numbers: int, at: datetime = NOW) -> list[str]:
    """Process failures as one batch of the stream and return the ids of their runs."""
    counted = []
    for n in numbers:
        moment = at + n * MILLISECOND
        running = claim_task(a_task(id=task_id(n), due_at=moment), f"run-{n}", at=moment)
        failed = fail_task(running, at=moment)
        change = project_change(running, failed, SETTINGS, at=moment)
        assert change.entries is not None
        journal.write([change.entries])
        counted.append(CountedChange(n, moment, change.increments))
    DynamoCounters().add("shard-1", counted)
    return [f"run-{n}" for n in numbers]


def task_id(n: int) -> str:
    return f"{n:08x}-0000-4000-8000-000000000000"


def pointers() -> list[str]:
    items = boto3.client("dynamodb").scan(TableName="JournalTable")["Items"]
    return [item["task_id"]["S"] for item in items if item["entry"]["S"].startswith("x#")]


@pytest.mark.parametrize("count", [1, 4, 5, 40])
@pytest.mark.parametrize("limit", [3, 50])
def test_an_error_that_the_counters_name_is_listed_by_category(
    log: DynamoErrorLog, journal: DynamoJournal, count: int, limit: int
) -> None:
    failed = fail_and_journal(journal, *range(count))
    assert pointers() == []
    assert list_all_pages(log.list_by_category, "unknown", limit=limit) == failed[::-1]


@pytest.mark.parametrize("limit", [1, 3, 7, 50])
def test_paging_lists_simultaneous_errors_once_whatever_their_ids(
    log: DynamoErrorLog, journal: DynamoJournal, limit: int
) -> None:
    """Tasks and runs have random ids, which do not sort alike."""
    counted = []
    for n in range(20):
        running = claim_task(a_task(id=task_id(n), due_at=NOW), f"run-{n * 7 % 20:02d}", at=NOW)
        change = project_change(running, fail_task(running, at=NOW), SETTINGS, at=NOW)
        assert change.entries is not None
        journal.write([change.entries])
        counted.append(CountedChange(n, NOW, change.increments))
    DynamoCounters().add("shard-1", counted)
    listed = list_all_pages(log.list_by_category, "unknown", limit=limit)
    assert listed == [f"run-{n:02d}" for n in reversed(range(20))]


def test_errors_with_and_without_pointers_are_listed_by_their_end(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    fail_and_journal(journal, 1, 3)
    for n in (0, 2, 4):
        record(journal, a_run_record(f"run-{n}", at=NOW + n * MILLISECOND, category="unknown"))
    listed = list_all_pages(log.list_by_category, "unknown", limit=2)
    assert listed == ["run-4", "run-3", "run-2", "run-1", "run-0"]


def test_a_batch_that_is_counted_again_lists_its_errors_once(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    fail_and_journal(journal, *range(8))
    fail_and_journal(journal, *range(12))
    assert len(list_all_pages(log.list_by_category, "unknown", limit=50)) == 12


def test_an_error_that_ends_on_the_next_day_has_a_pointer(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    midnight = NOW.replace(hour=0) + DAY
    running = claim_task(a_task(), "run-1", at=midnight - MILLISECOND)
    failed = fail_task(running, at=midnight)
    change = project_change(running, failed, SETTINGS, at=midnight)
    assert change.entries is not None
    journal.write([change.entries])
    assert pointers() == ["category#unknown#2026-02-18"]
    assert list_all_pages(log.list_by_category, "unknown", limit=9, now=midnight) == ["run-1"]


def test_an_error_that_the_counters_name_moves_when_it_is_reclassified(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    fail_and_journal(journal, 1)
    [before] = journal.list_runs(task_id(1))
    after = amend(before, category="timeout")
    record(journal, after)
    assert list_all_pages(log.list_by_category, "unknown", limit=9) == []
    assert list_all_pages(log.list_by_category, "timeout", limit=9) == ["run-1"]
    record(journal, amend(after, category="unknown"))
    assert list_all_pages(log.list_by_category, "unknown", limit=9) == ["run-1"]
    assert list_all_pages(log.list_by_category, "timeout", limit=9) == []


# Reclassified and resolved runs


def amend(before: RunRecord, **fields: Any) -> RunRecord:
    former = before.run.error_category
    run = replace(before.run, **fields)
    is_moved = run.error_category != former
    return replace(before, run=run, events=None, former_category=former if is_moved else None)


def test_a_reclassified_error_is_listed_by_its_new_category_only(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    failed = a_run_record(task=SUBJECT)
    after = amend(failed, category="rate_limit")
    record(journal, failed, after)
    expected = replace(to_logged_error(failed), category="rate_limit")
    assert list_everywhere(log, category="rate_limit") == [[expected]] * 3
    assert list_all_pages(log.list_by_category, "timeout", limit=9) == []


def test_a_run_reclassified_back_is_listed_by_its_first_category(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    failed = a_run_record(task=SUBJECT)
    after = amend(failed, category="rate_limit")
    for batch in ([failed], [after], [amend(after, category="timeout")]):
        record(journal, *batch)
    assert list_everywhere(log) == [[to_logged_error(failed)]] * 3
    assert list_all_pages(log.list_by_category, "rate_limit", limit=9) == []


def test_the_retry_time_of_an_amended_error_is_the_new_one(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    failed = a_run_record(next_retry_at=NOW + MINUTE)
    record(journal, failed, replace(amend(failed, category="x"), next_retry_at=None))
    assert [error.next_retry_at for error in log.list_by_task(ID)] == [None]


def test_an_error_whose_run_a_person_cancelled_is_still_listed(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    """Nobody knew whether its effect had happened, and a person decided to skip it."""
    failed = a_run_record(task=SUBJECT)
    record(journal, failed, amend(failed, status=RunStatus.CANCELLED))
    assert [ids(errors) for errors in list_everywhere(log)] == [["run-1"]] * 3


# Records that are missing or unreadable


def delete_record() -> None:
    JournalItem(ID, "r#2026-02-17T12:00:00.000Z#run-1").delete()


def test_an_error_whose_record_expired_is_left_out(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    """DynamoDB deletes expired items in any order."""
    record(journal, a_run_record(task=SUBJECT), a_run_record("run-2", task=SUBJECT))
    delete_record()
    assert [ids(errors) for errors in list_everywhere(log)] == [["run-2"]] * 3


@pytest.mark.parametrize(
    ("key", "attribute", "value"),
    [
        ((ID, "r#2026-02-17T12:00:00.000Z#run-1"), "ended_run", "{}"),
        (("subject#story-1", "x#2026-02-17T12:00:00.000Z#run-1"), "detail", "{}"),
    ],
    ids=["record", "pointer"],
)
def test_an_unreadable_item_is_left_out(
    log: DynamoErrorLog, journal: DynamoJournal, key: tuple[str, str], attribute: str, value: str
) -> None:
    record(journal, a_run_record(task=SUBJECT), a_run_record("run-2", task=SUBJECT))
    boto3.client("dynamodb").update_item(
        TableName="JournalTable",
        Key={"task_id": {"S": key[0]}, "entry": {"S": key[1]}},
        UpdateExpression="SET #name = :value",
        ConditionExpression="attribute_exists(#name)",
        ExpressionAttributeNames={"#name": attribute},
        ExpressionAttributeValues={":value": {"S": value}},
    )
    page = log.list_by_subject("story-1", limit=9, cursor=None, now=NOW)
    assert ids(page.items) == ["run-2"]


def test_a_page_is_filled_with_the_errors_after_unreadable_ones(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    record(
        journal, a_run_record("run-0", at=NOW - MINUTE, task=SUBJECT), a_run_record(task=SUBJECT)
    )
    delete_record()
    page = log.list_by_subject("story-1", limit=1, cursor=None, now=NOW)
    assert (ids(page.items), page.next_cursor) == (["run-0"], None)


# Finding records


def test_records_are_found_by_their_references(log: DynamoErrorLog, journal: DynamoJournal) -> None:
    failed = a_run_record(at=NOW + MINUTE, started_at=NOW)
    record(journal, failed)
    known = RunRef(NOW + MINUTE, ID, "run-1", NOW)
    missing = RunRef(NOW, ID, "run-2", NOW)
    found = log.find_records([known, missing])
    assert list(found) == ["run-1"]
    assert to_logged_error(found["run-1"]) == to_logged_error(failed)


def test_no_references_cost_no_read(log: DynamoErrorLog, calls: CallInterceptor) -> None:
    with attribute_calls_to("api"):
        assert log.find_records([]) == {}
    assert not calls.counts


# Paging


def record_spread_errors(journal: DynamoJournal) -> list[str]:
    """Record errors over several days, some in one millisecond; return their ids newest first."""
    moments = [NOW - 29 * DAY, NOW - 3 * DAY, *[NOW - HOUR] * 4, NOW - MINUTE, NOW]
    for n, at in enumerate(moments):
        record(journal, a_run_record(f"run-{n}", at=at, task=SUBJECT))
    return [f"run-{n}" for n in reversed(range(len(moments)))]


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8, 9])
@pytest.mark.parametrize("by", ["subject", "category"])
def test_paging_lists_every_error_once_newest_first(
    log: DynamoErrorLog, journal: DynamoJournal, by: str, limit: int
) -> None:
    expected = record_spread_errors(journal)
    list_page, name = {
        "subject": (log.list_by_subject, "story-1"),
        "category": (log.list_by_category, "timeout"),
    }[by]
    assert list_all_pages(list_page, name, limit=limit) == expected


@pytest.mark.parametrize("by", ["subject", "category"])
def test_an_error_during_paging_neither_skips_nor_repeats_others(
    log: DynamoErrorLog, journal: DynamoJournal, by: str
) -> None:
    expected = record_spread_errors(journal)
    list_page: ListPage = log.list_by_subject if by == "subject" else log.list_by_category
    name = "story-1" if by == "subject" else "timeout"
    page = list_page(name, limit=3, cursor=None, now=NOW)
    ids_listed = ids(page.items)
    record(journal, a_run_record("new", at=NOW + MILLISECOND, task=SUBJECT))
    while page.next_cursor:
        page = list_page(name, limit=3, cursor=page.next_cursor, now=NOW + MINUTE)
        ids_listed += ids(page.items)
        assert len(ids_listed) <= len(expected)
    assert ids_listed == expected


@pytest.mark.parametrize("by", ["subject", "category"])
def test_errors_older_than_thirty_days_are_not_listed(
    log: DynamoErrorLog, journal: DynamoJournal, by: str
) -> None:
    list_page: ListPage = log.list_by_subject if by == "subject" else log.list_by_category
    name = "story-1" if by == "subject" else "timeout"
    for n in (29, 30, 31):
        record(journal, a_run_record(f"run-{n}", at=NOW - n * DAY, task=SUBJECT))
    assert list_all_pages(list_page, name, limit=9) == ["run-30", "run-29"][::-1]


def test_listing_a_category_queries_a_bounded_number_of_days(
    log: DynamoErrorLog, calls: CallInterceptor
) -> None:
    with attribute_calls_to("api"):
        log.list_by_category("timeout", limit=9, cursor=None, now=NOW)
    assert calls.counts == {("api", "dynamodb.Query"): 31 * 2}


@pytest.mark.parametrize("by", ["subject", "category"])
def test_a_page_costs_one_request_for_all_its_records(
    log: DynamoErrorLog, journal: DynamoJournal, calls: CallInterceptor, by: str
) -> None:
    record(journal, *(a_run_record(f"run-{n}", task=SUBJECT) for n in range(20)))
    list_page: ListPage = log.list_by_subject if by == "subject" else log.list_by_category
    with attribute_calls_to("api"):
        page = list_page(
            "story-1" if by == "subject" else "timeout", limit=19, cursor=None, now=NOW
        )
    assert len(page.items) == 19
    # By category, the counters of the day name failures, too.
    queries = 2 if by == "category" else 1
    assert calls.counts == {
        ("api", "dynamodb.Query"): queries,
        ("api", "dynamodb.BatchGetItem"): 1,
    }


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


# Errors of version 0.1


def put_old_error(failed: RunRecord) -> LoggedError:
    """Store an error as version 0.1 did: a run without events, and three copies of the error."""
    error = to_logged_error(failed)
    at, entry = error_to_json(error)["at"], f"x#{error_to_json(error)['at']}#{error.id}"
    stored = {name: value for name, value in error_to_json(error).items() if value is not None}
    expires_at = int((error.at + RETENTION).timestamp())
    for key in (ID, f"subject#{error.subject}", f"category#{error.category}#{at[:10]}"):
        JournalItem(key, entry, at=at, error=stored, expires_at=expires_at).save()
    started = error_to_json(error)["at"]
    run = run_to_stored(failed.run)
    JournalItem(ID, f"r#{started}#{error.id}", at=at, run=run, expires_at=expires_at).save()
    return error


def test_an_error_of_version_0_1_is_listed_once(log: DynamoErrorLog) -> None:
    error = put_old_error(a_run_record(task=SUBJECT))
    assert list_everywhere(log) == [[error]] * 3


@pytest.mark.parametrize("limit", [1, 2, 3, 9])
def test_errors_of_both_versions_are_listed_in_order(
    log: DynamoErrorLog, journal: DynamoJournal, limit: int
) -> None:
    for n in range(4):
        failed = a_run_record(f"run-{n}", at=NOW - 4 * MINUTE + n * MINUTE, task=SUBJECT)
        if n % 2:
            record(journal, failed)
        else:
            put_old_error(failed)
    newest_first = ["run-3", "run-2", "run-1", "run-0"]
    assert ids(log.list_by_task(ID)) == newest_first[::-1]
    assert list_all_pages(log.list_by_subject, "story-1", limit=limit) == newest_first
    assert list_all_pages(log.list_by_category, "timeout", limit=limit) == newest_first


def test_an_error_that_old_and_new_code_both_stored_is_listed_once(
    log: DynamoErrorLog, journal: DynamoJournal
) -> None:
    """They run side by side for minutes, and a batch may come to both."""
    failed = a_run_record(task=SUBJECT)
    put_old_error(failed)
    record(journal, failed)
    assert [ids(errors) for errors in list_everywhere(log)] == [["run-1"]] * 3


def test_an_unreadable_error_of_version_0_1_is_left_out(log: DynamoErrorLog) -> None:
    put_old_error(a_run_record(task=SUBJECT))
    item = JournalItem.get("subject#story-1", "x#2026-02-17T12:00:00.000Z#run-1")
    item.error = {"id": "run-1"}
    item.save()
    assert list_all_pages(log.list_by_subject, "story-1", limit=9) == []
