"""The record of an ended run: what is stored of it, and what follows from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.failures.failure import Failure
from duecourse.domain.journal.history import events_between
from duecourse.domain.journal.run_record import (
    RunRecord,
    closing_events,
    events_from_stored,
    events_to_stored,
    to_run_record,
)
from duecourse.domain.lifecycle import run_transitions, user_actions
from duecourse.domain.lifecycle.verification import approve, request_verification
from duecourse.domain.tasks.adapted_delay import AdaptedDelay, RetryOutcomes
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import (
    a_run_record,
    crash_task,
    diagnosis_of,
    fail_repeatedly,
    fail_task,
)
from tests.support.builders.moments import HOUR, MINUTE, NOW
from tests.support.builders.runs import a_failed_run, a_run, run_of
from tests.support.builders.tasks import ID, a_task, an_action, claim_task

WRITTEN_AT = NOW + HOUR  # the stream's write time


def complete(task: Task) -> Task:
    return run_transitions.commit(task, None, at=NOW + MINUTE)


def a_task_to_verify() -> Task:
    running = claim_task(an_action(verify=True))
    return request_verification(running, "ok", at=NOW, verify_until=NOW + HOUR)


def record_of(old: Task | None, new: Task) -> RunRecord:
    record = to_run_record(old, new, at=WRITTEN_AT)
    assert record is not None
    return record


# Which writes bring a record


def test_a_failed_run_is_recorded_with_the_events_of_its_end() -> None:
    running = claim_task(an_action(subject="story-1"))
    failed = fail_task(running)
    assert record_of(running, failed) == RunRecord(
        task_id=ID,
        version=failed.version,
        run=run_of(failed),
        events=events_between(running, failed, at=WRITTEN_AT),
        policy="agent",
        subject="story-1",
        provider="scripted",
        next_retry_at=failed.next_retry_at,
    )
    assert failed.next_retry_at is not None


@pytest.mark.parametrize("type_", ["reminder", "action"])
def test_a_plain_success_of_a_task_that_runs_once_needs_no_record(type_: str) -> None:
    """The task keeps its run, and the one event follows from both."""
    running = claim_task(a_task(type=type_))
    done = complete(running)
    assert to_run_record(running, done, at=WRITTEN_AT) is None
    assert closing_events(done) == events_between(running, done, at=WRITTEN_AT) != []


def test_a_success_of_a_series_is_recorded() -> None:
    running = claim_task(a_task(repeat="daily"))
    record = record_of(running, complete(running))
    assert [event.type for event in record.events or ()] == ["task:delivered"]


def test_a_success_after_a_failure_is_not_recorded_if_the_task_tells_it() -> None:
    failed = fail_task(claim_task(a_task()))
    running = claim_task(failed, "run-2", at=failed.due_at)
    done = run_transitions.commit(running, None, at=failed.due_at)
    assert to_run_record(running, done, at=WRITTEN_AT) is None
    assert closing_events(done) == events_between(running, done, at=WRITTEN_AT)


def test_an_approved_run_is_recorded_because_its_approval_is() -> None:
    waiting = a_task_to_verify()
    record = record_of(waiting, approve(waiting, at=NOW + MINUTE))
    assert [event.type for event in record.events or ()] == ["task:approved", "task:completed"]


def test_a_cancelled_run_is_recorded() -> None:
    waiting = a_task_to_verify()
    record = record_of(waiting, user_actions.cancel(waiting, at=NOW + MINUTE))
    assert record.run.status is RunStatus.CANCELLED
    assert [event.type for event in record.events or ()] == ["task:cancelled"]


def test_a_change_that_ends_no_run_brings_no_record() -> None:
    failed = fail_task(claim_task(a_task()))
    for old, new in (
        (None, a_task()),
        (a_task(), claim_task(a_task())),
        (failed, user_actions.pause(failed)),
    ):
        assert to_run_record(old, new, at=WRITTEN_AT) is None


@pytest.mark.parametrize(
    "task",
    [
        a_task(),
        claim_task(a_task()),
        fail_repeatedly(a_task(max_retries=1), 1),
        a_task(status=Status.CANCELLED),
    ],
    ids=["new", "running", "failed", "cancelled"],
)
def test_only_a_success_closes_a_task_with_an_event(task: Task) -> None:
    assert closing_events(task) == []


# Amendments


def test_a_reclassified_run_is_recorded_without_events() -> None:
    before = a_task(run=a_failed_run())
    after = replace(before, run=replace(run_of(before), category="transient"))
    record = record_of(before, after)
    assert (record.is_amendment, record.events) == (True, None)
    assert (record.run, record.former_category) == (after.run, "timeout")


def test_an_amendment_that_keeps_the_category_has_no_former_one() -> None:
    before = a_task(run=a_failed_run())
    after = replace(before, run=run_of(before).mark_applied("ok"))
    record = record_of(before, after)
    assert (record.is_amendment, record.former_category) == (True, None)


def test_a_run_that_ends_is_no_amendment() -> None:
    running = claim_task(a_task())
    assert not record_of(running, fail_task(running)).is_amendment


# Stored events


def ended_runs() -> dict[str, tuple[Task, Task]]:
    """Return ends of runs with all kinds of events, each with the task before and after."""
    running, series = claim_task(an_action()), claim_task(a_task(repeat="daily"))
    waiting = a_task_to_verify()
    budgeted = claim_task(an_action(payload={"budget": "agents"}))
    over_budget = Failure.create("no money left", code="budget_exceeded")
    last = claim_task(fail_repeatedly(a_task(), 2), "last")
    learned = fail_task(running)
    adapted = AdaptedDelay(
        policy_delay=MINUTE, delay=HOUR, outcomes=RetryOutcomes(20, 19), reason="it works"
    )
    diagnosis = replace(diagnosis_of(learned), learned=True, adapted=adapted)
    learned = replace(learned, run=replace(run_of(learned), diagnosis=diagnosis))
    return {
        "retry": (running, fail_task(running)),
        "budget": (budgeted, fail_task(budgeted, over_budget)),
        "exhausted": (last, fail_task(last)),
        "crash": (running, crash_task(running, at=NOW + HOUR)),
        "learned": (running, learned),
        "series": (series, complete(series)),
        "approved": (waiting, approve(waiting, at=NOW)),
        "cancelled": (waiting, user_actions.cancel(waiting, at=NOW)),
    }


def store_and_read(record: RunRecord) -> Sequence[Event]:
    stored = json.loads(json.dumps(events_to_stored(record)))
    return events_from_stored(record.task_id, record.run, stored)


@pytest.mark.parametrize("name", ended_runs())
def test_stored_events_are_read_unchanged(name: str) -> None:
    old, new = ended_runs()[name]
    record = record_of(old, new)
    assert store_and_read(record) == record.events != []


def test_stored_events_do_not_repeat_the_run() -> None:
    running = claim_task(a_task())
    record = record_of(running, fail_task(running))
    [[kind, known, rest]] = events_to_stored(record)
    assert (kind, known) == ("task:retry_scheduled", "error")
    assert rest.keys() == {"next_retry_at", "attempt"}


@pytest.mark.parametrize(
    ("detail", "known"),
    [
        ({"run_id": "run-1", "nominal_at": "2026-02-17T12:00:00.000Z", "late_ms": 3}, "run"),
        ({"run_id": "run-1", "budget": None}, "id"),
        ({"run_id": "another"}, ""),
        ({}, ""),
    ],
)
def test_any_detail_can_be_stored(detail: dict[str, Any], known: str) -> None:
    event = Event(EventType.TASK_FAILED, ID, NOW, detail)
    record = replace(a_run_record(), events=[event])
    assert [stored[1] for stored in events_to_stored(record)] == [known]
    assert store_and_read(record) == [event]


def test_a_record_without_events_stores_none() -> None:
    assert events_to_stored(replace(a_run_record(), events=None)) == []


def test_a_run_without_an_end_gives_its_events_the_time_of_its_start() -> None:
    """Only a run of old code may lack it."""
    [event] = events_from_stored(ID, a_run(), [["task:failed", "", {}]])
    assert event.at == NOW
