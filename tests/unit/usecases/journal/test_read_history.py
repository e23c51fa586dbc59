"""Reading a task's history: from its runs, from stored events, and from the task itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from duecourse.domain.journal.journal_entries import StoredEvent, to_journal_entries
from duecourse.domain.lifecycle import run_transitions, user_actions
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.task import Task
from duecourse.usecases.journal.read_history import read_history, read_runs

from tests.support.builders.failures import fail_task
from tests.support.builders.moments import HOUR, MINUTE, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import ID, a_task, a_timing_edit, claim_task
from tests.support.fakes.journal import MemoryJournal


def journal_of(steps: Sequence[Task]) -> MemoryJournal:
    """Return the journal after these versions of a task, as its entries tell them."""
    before: list[Task | None] = [None, *steps]
    entries = [
        to_journal_entries(old, new, at=NOW) for old, new in zip(before, steps, strict=False)
    ]
    return MemoryJournal(
        events=[StoredEvent(one.version, event) for one in entries for event in one.events],
        runs=[one.record for one in entries if one.record is not None],
    )


def history(*steps: Task) -> list[Event]:
    return list(read_history(steps[-1], journal=journal_of(steps)))


def types(events: Sequence[Event]) -> list[str]:
    return [str(event.type) for event in events]


def succeed(task: Task, owner: str = "run-1") -> tuple[Task, Task]:
    running = claim_task(task, owner, at=task.due_at)
    return running, run_transitions.commit(running, None, at=task.due_at + MINUTE)


def test_a_plain_success_has_its_whole_history_without_an_entry() -> None:
    task = a_task()
    steps = (task, *succeed(task))
    journal = journal_of(steps)
    assert (journal.events, journal.runs) == ([], [])
    assert types(history(*steps)) == ["task:created", "task:started", "task:delivered"]


def test_a_failure_and_a_recovery_are_in_order() -> None:
    task = a_task()
    running = claim_task(task)
    failed = fail_task(running)
    events = history(task, running, failed, *succeed(failed, "run-2"))
    assert types(events) == [
        *("task:created", "task:started", "task:retry_scheduled"),
        *("task:started", "task:retry_executed", "task:delivered"),
    ]
    assert [event.at for event in events] == sorted(event.at for event in events)


def test_every_occurrence_of_a_series_is_read_from_its_own_run() -> None:
    task = a_task(repeat="daily")
    first = succeed(task)
    events = history(task, *first, *succeed(first[-1], "run-2"))
    assert types(events) == ["task:created", *["task:started", "task:delivered"] * 2]
    assert [event.detail.get("run_id") for event in events] == [
        *(None, "run-1", "run-1", "run-2", "run-2"),
    ]


def test_the_creation_has_the_due_time_before_the_first_move() -> None:
    task = a_task(due_at=NOW + HOUR)
    moved = user_actions.edit(task, a_timing_edit(NOW + 2 * HOUR))
    created, changed = history(task, moved)
    assert (created.type, created.detail["due_at"]) == (
        *(EventType.TASK_CREATED, "2026-02-17T13:00:00.000Z"),
    )
    assert changed.type is EventType.TASK_CHANGED


def test_a_stored_creation_of_version_0_1_is_listed_once() -> None:
    task = a_task()
    created = Event(EventType.TASK_CREATED, ID, NOW - HOUR, {"due_at": "then"})
    journal = MemoryJournal(events=[StoredEvent(1, created)])
    assert read_history(task, journal=journal) == [created]


def test_a_stored_end_of_version_0_1_is_listed_once() -> None:
    *_, done = succeed(a_task())
    ended = Event(EventType.TASK_DELIVERED, ID, NOW + MINUTE, {"run_id": "run-1"})
    journal = MemoryJournal(events=[StoredEvent(3, ended)])
    events = read_history(done, journal=journal)
    assert types(events) == ["task:created", "task:started", "task:delivered"]


def test_the_current_run_replaces_its_record() -> None:
    task = a_task(repeat="daily")
    first = succeed(task)
    journal = journal_of((task, *first))
    running = claim_task(first[-1], "run-2", at=first[-1].due_at)
    assert [run.id for run in read_runs(running, journal=journal)] == ["run-1", "run-2"]
    amended = replace(first[-1], run=replace(run_of(first[-1]), error="late"))
    assert [run.error for run in read_runs(amended, journal=journal)] == ["late"]


def test_runs_are_in_order_although_the_clocks_of_their_workers_differ() -> None:
    """The first worker's clock is two minutes ahead: it started after the retry, it says."""
    task = a_task()
    failed = fail_task(claim_task(task, "run-1", at=NOW + 2 * MINUTE), at=NOW + 2 * MINUTE)
    running = claim_task(failed, "run-2", at=NOW + MINUTE)
    journal = journal_of([task, failed, running])
    assert [run.id for run in read_runs(running, journal=journal)] == ["run-1", "run-2"]
