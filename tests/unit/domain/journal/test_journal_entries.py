"""What one change of a task brings to the journal: only what nothing else tells."""

from __future__ import annotations

from dataclasses import replace

from duecourse.domain.journal.history import events_between
from duecourse.domain.journal.journal_entries import to_journal_entries
from duecourse.domain.lifecycle import run_transitions, user_actions
from duecourse.domain.tasks.event import EventType
from duecourse.domain.tasks.run import ProviderCall
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import fail_task
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.runs import DIAGNOSIS, a_failed_run, run_of
from tests.support.builders.tasks import a_task, an_action, claim_task


def test_a_plain_success_brings_nothing_from_its_creation_on() -> None:
    task = a_task()
    running = claim_task(task)
    done = run_transitions.commit(running, None, at=NOW + MINUTE)
    steps: list[tuple[Task | None, Task]] = [(None, task), (task, running), (running, done)]
    for old, new in steps:
        assert to_journal_entries(old, new, at=NOW).is_empty


def test_the_end_of_a_run_brings_its_record_and_no_event_of_its_own() -> None:
    running = claim_task(a_task())
    entries = to_journal_entries(running, fail_task(running), at=NOW)
    assert entries.events == []
    assert entries.record is not None
    assert not entries.is_empty


def test_an_edit_brings_its_events_with_the_version_of_the_task() -> None:
    task = a_task(version=7)
    entries = to_journal_entries(task, user_actions.pause(task), at=NOW)
    assert [event.type for event in entries.events] == [EventType.TASK_PAUSED]
    assert (entries.version, entries.record) == (8, None)


def test_a_reclassification_brings_its_events_and_the_amended_run() -> None:
    before = a_task(run=a_failed_run(), version=3)
    diagnosis = replace(DIAGNOSIS, by="ada")
    run = replace(run_of(before), category="transient", diagnosis=diagnosis)
    after = replace(before, run=run, version=4)
    entries = to_journal_entries(before, after, at=NOW)
    assert entries.events == events_between(before, after, at=NOW)
    assert [event.type for event in entries.events][:1] == [EventType.TASK_RECLASSIFIED]
    assert entries.record is not None
    assert entries.record.is_amendment


def test_a_provider_call_brings_an_audit_entry_even_without_a_record() -> None:
    running = claim_task(an_action())
    call = ProviderCall(provider="scripted")
    running = replace(running, run=replace(run_of(running), call=call))
    done = run_transitions.commit(running, None, at=NOW + MINUTE)
    entries = to_journal_entries(running, done, at=NOW)
    assert (entries.record, entries.is_empty) == (None, False)
    assert entries.execution is not None
    assert entries.execution.call == call
