"""Read a task's history and runs, oldest first, including the current run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from duecourse.domain.journal.history import start_events
from duecourse.domain.tasks.event import Event
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.task import Task
from duecourse.ports.journal import Journal


def read_runs(task: Task, *, journal: Journal) -> Sequence[Run]:
    runs = {run.id: run for run in journal.list_runs(task.id)}
    if task.run is not None:
        runs[task.run.id] = task.run
    return sorted(runs.values(), key=lambda run: (run.started_at, run.attempt))


def read_history(task: Task, *, journal: Journal) -> Sequence[Event]:
    """Return the events. The start of a run is derived from the run, as it is not journaled.

    Events of the same millisecond are ordered by run.
    """
    runs = read_runs(task, journal=journal)
    starts = [(n, event) for n, run in enumerate(runs) for event in start_events(task.id, run)]
    placed = [*starts, *_order_by_run(journal.list_events(task.id), runs)]
    return [event for _, event in sorted(placed, key=lambda one: (one[1].at, one[0]))]


def _order_by_run(events: Sequence[Event], runs: Sequence[Run]) -> Iterator[tuple[int, Event]]:
    """Yield each event with its run's index. Without a run, use the index of the event before."""
    place_of, place = {run.id: n for n, run in enumerate(runs)}, -1
    for event in events:
        place = place_of.get(event.detail.get("run_id", ""), place)
        yield place, event
