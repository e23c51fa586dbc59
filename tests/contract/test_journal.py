"""The journal: events, records of runs and audit entries, stored once and read oldest first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.journal import DynamoJournal
from duecourse.domain.failures.failure import Failure
from duecourse.domain.journal.journal_entries import (
    JournalEntries,
    StoredEvent,
    to_journal_entries,
)
from duecourse.domain.journal.run_record import RunRecord
from duecourse.domain.lifecycle import run_transitions
from duecourse.domain.requests.stored_run import run_to_stored
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.run import ProviderCall, RunStatus
from duecourse.domain.tasks.run_diagnosis import Reading
from duecourse.domain.tasks.task import Task
from duecourse.usecases.journal.read_history import read_history
from pynamodb.exceptions import PutError, UpdateError

from bench.dynamodb_units import WRITE_UNIT, item_size
from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults, SimulatedCrash
from tests.support.builders.failures import a_run_record, diagnosis_of, fail_repeatedly, fail_task
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import ID, a_task, an_action, claim_task

ORDER = [(0, "z"), (1, "a"), (2, "m")]  # ids are random: they do not sort by age
BATCH_WRITE = ("journal", "dynamodb.BatchWriteItem")


def an_event(kind: str = "task:changed", **detail: Any) -> Event:
    return Event(EventType(kind), ID, NOW, detail)


def events_entry(version: int, *events: Event) -> JournalEntries:
    return JournalEntries(version=version, events=events)


def record_entry(record: RunRecord) -> JournalEntries:
    return JournalEntries(version=record.version, record=record)


def failure_entry() -> JournalEntries:
    running = claim_task(an_action(subject="story-1"))
    return to_journal_entries(running, fail_task(running), at=NOW)


def entries() -> list[dict[str, Any]]:
    found = boto3.client("dynamodb").scan(TableName="JournalTable")["Items"]
    return sorted(found, key=lambda item: (item["task_id"]["S"], item["entry"]["S"]))


def entry_keys() -> list[tuple[str, str]]:
    return [(item["task_id"]["S"], item["entry"]["S"]) for item in entries()]


def listed_events(journal: DynamoJournal) -> list[Event]:
    return [one.event for one in journal.list_events(ID)]


# Events


def test_events_are_read_as_they_were_written(journal: DynamoJournal) -> None:
    first, second = an_event("task:failed", n=1), an_event("task:paused", n=2)
    journal.write([events_entry(7, first, second)])
    assert journal.list_events(ID) == [StoredEvent(7, first), StoredEvent(7, second)]


def test_an_event_without_details_has_none(journal: DynamoJournal) -> None:
    journal.write([events_entry(1, an_event("task:cancelled"))])
    assert listed_events(journal) == [Event(EventType.TASK_CANCELLED, ID, NOW, {})]


def test_history_is_in_the_order_of_versions(journal: DynamoJournal) -> None:
    for version in (10, 2, 1, 100):
        journal.write([events_entry(version, an_event())])
    assert [one.version for one in journal.list_events(ID)] == [1, 2, 10, 100]


def test_an_event_of_an_unknown_type_is_left_out(journal: DynamoJournal) -> None:
    """Newer code wrote it and was rolled back: the rest of the history is still read."""
    kinds = ("task:created", "task:changed", "task:cancelled")
    journal.write([events_entry(1, *map(an_event, kinds))])
    key = {"task_id": {"S": ID}, "entry": {"S": "e#0000000001#1"}}
    boto3.client("dynamodb").update_item(
        TableName="JournalTable",
        Key=key,
        UpdateExpression="SET #type = :type",
        ConditionExpression="attribute_exists(#type)",
        ExpressionAttributeNames={"#type": "type"},
        ExpressionAttributeValues={":type": {"S": "task:invented_later"}},
    )
    assert [event.type for event in listed_events(journal)] == ["task:created", "task:cancelled"]


def test_an_unknown_task_has_no_history(journal: DynamoJournal) -> None:
    assert (journal.list_events(ID), journal.list_runs(ID)) == ([], [])


def test_history_excludes_other_tasks(journal: DynamoJournal) -> None:
    journal.write([events_entry(1, replace(an_event(), task_id="another"))])
    assert journal.list_events(ID) == []


# Runs


def test_a_record_is_read_as_it_was_written(journal: DynamoJournal) -> None:
    entry = failure_entry()
    journal.write([entry])
    assert journal.list_runs(ID) == [entry.record]


def test_a_successful_run_of_a_series_is_read_as_it_was_written(journal: DynamoJournal) -> None:
    running = claim_task(a_task(repeat="daily"))
    done = run_transitions.commit(running, {"ts": 1}, at=NOW + MINUTE)
    entry = to_journal_entries(running, done, at=NOW)
    journal.write([entry])
    [record] = journal.list_runs(ID)
    assert entry.record is not None
    assert (record.run, record.events) == (entry.record.run, entry.record.events)
    assert entry_keys() == [(ID, "r#2026-02-17T12:00:00.000Z#run-1")]


def test_runs_are_read_oldest_first(journal: DynamoJournal) -> None:
    records = [
        a_run_record(name, at=NOW + HOUR, started_at=NOW + n * MINUTE, diagnosis=None)
        for n, name in ORDER
    ]
    journal.write([record_entry(record) for record in reversed(records)])
    assert journal.list_runs(ID) == records


def test_a_failed_run_is_found_by_its_category_and_subject(journal: DynamoJournal) -> None:
    journal.write([failure_entry()])
    error = "x#2026-02-17T12:00:00.000Z#run-1"
    assert entry_keys() == [
        (ID, "r#2026-02-17T12:00:00.000Z#run-1"),
        ("category#unknown#2026-02-17", error),
        ("subject#story-1", error),
    ]


def test_a_run_stopped_by_its_budget_has_ordered_history(journal: DynamoJournal) -> None:
    running = claim_task(a_task(payload={"budget": "agents"}))
    after = fail_task(running, Failure.create("no money left", code="budget_exceeded"))
    journal.write([to_journal_entries(running, after, at=NOW)])
    assert [event.type for event in read_history(after, journal=journal)] == [
        *("task:created", "task:started", "budget:exceeded", "task:retry_scheduled"),
    ]


# Amended runs


def reclassify(before: Task, category: str = "transient") -> Task:
    note = replace(diagnosis_of(before), read_as=Reading(category="unknown"), by="ada")
    run = replace(run_of(before), category=category, diagnosis=note)
    return replace(before, run=run, version=before.version + 1)


def write_steps(journal: DynamoJournal, *tasks: Task) -> None:
    for old, new in pairwise(tasks):
        journal.write([to_journal_entries(old, new, at=NOW + DAY)])


def test_a_reclassified_run_has_its_new_category_and_the_events_of_its_end(
    journal: DynamoJournal,
) -> None:
    """What happened when it ended does not change: it was unknown then."""
    running = claim_task(an_action(subject="story-1"))
    failed = fail_task(running)
    write_steps(journal, running, failed)
    [before] = journal.list_runs(ID)
    write_steps(journal, failed, reclassify(failed), reclassify(reclassify(failed), "timeout"))
    [after] = journal.list_runs(ID)
    assert (after.run.category, after.run.diagnosis and after.run.diagnosis.by) == (
        *("timeout", "ada"),
    )
    assert after.events == before.events
    assert [event.detail.get("category") for event in after.events or ()] == ["unknown", None]


def test_a_reclassified_run_moves_to_its_new_category(journal: DynamoJournal) -> None:
    running = claim_task(an_action(subject="story-1"))
    failed = fail_task(running)
    steps = (running, failed, reclassify(failed))
    for _ in range(2):  # delivered twice
        write_steps(journal, *steps[1:] if entries() else steps)
    pointers = [key for key, entry in entry_keys() if entry.startswith("x#")]
    assert pointers == ["category#transient#2026-02-17", "subject#story-1"]


def test_a_resolved_run_stays_where_it_is(journal: DynamoJournal) -> None:
    running = claim_task(an_action())
    failed = fail_task(running)
    resolved = replace(failed, run=run_of(failed).mark_applied("ok"), version=9)
    write_steps(journal, running, failed, resolved)
    [record] = journal.list_runs(ID)
    assert record.run == resolved.run
    pointers = [key for key, entry in entry_keys() if entry.startswith("x#")]
    assert pointers == ["category#unknown#2026-02-17"]


def test_an_amended_run_that_is_retried_has_its_new_retry_time(journal: DynamoJournal) -> None:
    running = claim_task(an_action())
    failed = fail_task(running)
    amended = replace(reclassify(failed), next_retry_at=None)
    write_steps(journal, running, failed, amended)
    assert [record.next_retry_at for record in journal.list_runs(ID)] == [None]


# Writing


def test_writing_again_changes_nothing(journal: DynamoJournal) -> None:
    batch = [failure_entry(), events_entry(9, an_event())]
    journal.write(batch)
    before = entries()
    journal.write(batch)
    assert entries() == before


def test_every_entry_expires(journal: DynamoJournal) -> None:
    journal.write([failure_entry(), events_entry(9, an_event())])
    ages = {int(entry["expires_at"]["N"]) for entry in entries()}
    assert ages == {(NOW + 30 * DAY).timestamp()}


def test_a_batch_is_written_with_one_request_for_25_items(
    journal: DynamoJournal, calls: CallInterceptor
) -> None:
    batch = [events_entry(n, an_event()) for n in range(40)]
    with attribute_calls_to("journal"):
        journal.write(batch)
    assert calls.counts == {BATCH_WRITE: 2}
    assert len(journal.list_events(ID)) == 40


def test_a_batch_with_the_same_entry_twice_is_written(journal: DynamoJournal) -> None:
    """DynamoDB refuses a request that names a key twice."""
    journal.write([events_entry(1, an_event(n=1)), events_entry(1, an_event(n=2))])
    assert [event.detail for event in listed_events(journal)] == [{"n": 2}]


def test_an_empty_batch_writes_nothing(journal: DynamoJournal, calls: CallInterceptor) -> None:
    with attribute_calls_to("journal"):
        journal.write([])
        journal.write([JournalEntries(version=1)])
    assert not calls.counts


@pytest.mark.parametrize("call", ["dynamodb.BatchWriteItem", "dynamodb.UpdateItem"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_batch_whose_write_fails_is_complete_after_its_repetition(
    journal: DynamoJournal, calls: CallInterceptor, faults: Faults, call: str, when: str
) -> None:
    running = claim_task(an_action(subject="story-1"))
    failed = fail_task(running)
    batch = [
        to_journal_entries(running, failed, at=NOW),
        to_journal_entries(failed, reclassify(failed), at=NOW),
    ]
    faults.add(Fault(call, when=when, kind="crash"))
    with attribute_calls_to("journal"):
        with suppress(SimulatedCrash):
            journal.write(batch)
        journal.write(batch)
    assert calls.counts["journal", call] == 2
    assert [record.run for record in journal.list_runs(ID)] == [reclassify(failed).run]
    pointers = [key for key, entry in entry_keys() if entry.startswith("x#")]
    assert pointers == ["category#transient#2026-02-17", "subject#story-1"]


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize("call", ["BatchWriteItem", "UpdateItem"])
def test_a_refused_write_raises(journal: DynamoJournal, faults: Faults, call: str) -> None:
    invalid = {"code": "ValidationException", "status": 400}
    faults.add(Fault(f"dynamodb.{call}", kind="error", error=invalid))
    failed = fail_task(claim_task(an_action()))
    entry = to_journal_entries(failed, reclassify(failed), at=NOW)
    with attribute_calls_to("journal"), pytest.raises((PutError, UpdateError)):
        journal.write([entry])


def test_the_failure_of_a_reminder_costs_two_small_writes(journal: DynamoJournal) -> None:
    running = claim_task(a_task(), "0a1b2c3d-0000-4000-8000-000000000001")
    failed = fail_task(running, Failure.create("503 Service Unavailable", status=503))
    journal.write([to_journal_entries(running, failed, at=NOW)])
    assert [item_size(item) <= WRITE_UNIT for item in entries()] == [True, True]


# Audit


def test_a_provider_call_is_audited_under_the_day_of_its_run(journal: DynamoJournal) -> None:
    running = claim_task(an_action())
    call = ProviderCall(provider="scripted", milliseconds=7)
    running = replace(running, run=replace(run_of(running), call=call))
    done = run_transitions.commit(running, None, at=NOW + DAY)
    journal.write([to_journal_entries(running, done, at=NOW + DAY)])
    [item] = journal.list_audit(NOW.date(), limit=9, after=None).items
    assert (item.entry["run_id"], item.entry["outcome"]) == ("run-1", "success")


# Version 0.1


def put_old_entries(*items: dict[str, Any]) -> None:
    client = boto3.client("dynamodb")
    for item in items:
        client.put_item(TableName="JournalTable", Item=item)


def old_entry(entry: str, **attributes: Any) -> dict[str, Any]:
    texts = {"task_id": ID, "entry": entry, "at": "2026-02-17T12:00:00.000Z", **attributes}
    return {**{name: {"S": text} for name, text in texts.items()}, "expires_at": {"N": "9"}}


def test_a_run_of_version_0_1_is_read_without_events(journal: DynamoJournal) -> None:
    failed = fail_repeatedly(a_task(), 1)
    run = json.dumps(run_to_stored(run_of(failed)))
    put_old_entries(old_entry("r#2026-02-17T12:00:00.000Z#run-1", run=run))
    assert journal.list_runs(ID) == [
        RunRecord(task_id=ID, version=0, run=run_of(failed), events=None, policy="")
    ]


def test_the_history_of_version_0_1_is_complete_and_not_doubled(journal: DynamoJournal) -> None:
    """It stored every event, also those that follow from the runs and the task today."""
    running = claim_task(a_task(), "run-1")
    failed = fail_task(running)
    again = claim_task(failed, "run-2", at=failed.due_at)
    done = run_transitions.commit(again, None, at=failed.due_at + timedelta(seconds=1))
    run = json.dumps(run_to_stored(run_of(failed)))
    detail = json.dumps({"run_id": "run-1", "category": "unknown"})
    delivered = {
        "type": "task:delivered",
        "at": "2026-02-17T13:00:00.000Z",
        "detail": json.dumps({"run_id": "run-2"}),
    }
    put_old_entries(
        old_entry("e#0000000001#0", type="task:created", at="2026-02-17T11:00:00.000Z"),
        old_entry("e#0000000003#0", type="task:retry_scheduled", detail=detail),
        old_entry("e#0000000005#0", **delivered),
        old_entry("r#2026-02-17T12:00:00.000Z#run-1", run=run),
    )
    assert types(read_history(done, journal=journal)) == [
        *("task:created", "task:started", "task:retry_scheduled"),
        *("task:started", "task:retry_executed", "task:delivered"),
    ]


def types(events: Sequence[Event]) -> list[str]:
    return [str(event.type) for event in events]


def test_a_cancelled_run_is_no_error(journal: DynamoJournal) -> None:
    record = replace(a_run_record(), events=[an_event("task:cancelled")])
    cancelled = replace(record, run=replace(record.run, status=RunStatus.CANCELLED))
    journal.write([record_entry(cancelled)])
    assert entry_keys() == [(ID, "r#2026-02-17T12:00:00.000Z#run-1")]
