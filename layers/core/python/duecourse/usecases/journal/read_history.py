"""Read a task's history and runs, oldest first, including the current run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from duecourse.domain.journal.history import created_event, first_due_at, start_events
from duecourse.domain.journal.journal_entries import StoredEvent
from duecourse.domain.journal.run_record import RunRecord, closing_events
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import from_text
from duecourse.ports.journal import Journal

_START, _DURING, _END, _AFTER = range(4)


def read_runs(task: Task, *, journal: Journal) -> Sequence[Run]:
    return _all_runs(task, journal.list_runs(task.id))


def read_history(task: Task, *, journal: Journal) -> Sequence[Event]:
    """Return the events: those of the runs, those stored by themselves, and the creation.

    Events of the same millisecond are ordered by run, and within a run as they can only happen.
    """
    records, stored = journal.list_runs(task.id), journal.list_events(task.id)
    runs = _all_runs(task, records)
    place_of = {run.id: n for n, run in enumerate(runs)}
    versions = {record.run.id: record.version for record in records}
    placed = [
        (place_of[run.id], _START, event) for run in runs for event in start_events(task.id, run)
    ]
    placed += [
        (place_of[run_id], _END, event) for run_id, event in _run_events(task, records, stored)
    ]
    placed += [_place(one, runs, versions) for one in stored]
    placed.sort(key=lambda one: (one[2].at, *one[:2]))
    history = [event for *_, event in placed]
    is_created = any(one.event.type is EventType.TASK_CREATED for one in stored)
    return history if is_created else [_created_event(task, stored), *history]


def _place(
    stored: StoredEvent, runs: Sequence[Run], versions: Mapping[str, int]
) -> tuple[int, int, Event]:
    """Return where an event belongs: to the run it names, or after the last run ended before it."""
    event = stored.event
    for n, run in enumerate(runs):
        if run.id == event.detail.get("run_id"):
            is_before_end = event.type is EventType.TASK_VERIFICATION_REQUESTED
            return n, _DURING if is_before_end else _AFTER, event
    ended = [
        n for n, run in enumerate(runs) if versions.get(run.id, stored.version) < stored.version
    ]
    return max(ended, default=-1), _AFTER, event


def _all_runs(task: Task, records: Sequence[RunRecord]) -> Sequence[Run]:
    """Return the runs in the order of the writes that ended them.

    Two workers' clocks may differ. Records of code before versions have version 0.
    """
    runs = {record.run.id: record.run for record in records}
    versions = {record.run.id: record.version for record in records}
    if task.run is not None:
        runs[task.run.id] = task.run
    return sorted(
        runs.values(),
        key=lambda run: (versions.get(run.id, task.version), run.started_at, run.attempt),
    )


def _run_events(
    task: Task, records: Sequence[RunRecord], stored: Sequence[StoredEvent]
) -> Iterator[tuple[str, Event]]:
    """Yield each run's id and events, except events that older code stored by themselves."""
    recorded = {record.run.id for record in records}
    known = {(one.event.type, one.event.detail.get("run_id")) for one in stored}
    for record in records:
        yield from ((record.run.id, event) for event in record.events or ())
    if task.run_id is not None and task.run_id not in recorded:
        for event in closing_events(task):
            if (event.type, task.run_id) not in known:
                yield task.run_id, event


def _created_event(task: Task, stored: Sequence[StoredEvent]) -> Event:
    """Return the creation. The first edit that moved the task tells when it was due before."""
    moves = (one.event.detail.get("was_due_at") for one in stored)
    moved_from = next((text for text in moves if text), None)
    return created_event(
        task, first_due_at=from_text(moved_from) if moved_from else first_due_at(task)
    )
