"""A task's history and runs, oldest first, the run in course included."""

from __future__ import annotations

from collections.abc import Sequence

from duecourse.domain.history import Event, started
from duecourse.domain.run import Run
from duecourse.domain.task import Task
from duecourse.ports import Journal


def read_runs(task: Task, *, journal: Journal) -> Sequence[Run]:
    runs = {run.id: run for run in journal.runs(task.id)}
    if task.run is not None:
        runs[task.run.id] = task.run
    return sorted(runs.values(), key=lambda run: (run.started_at, run.attempt))


def read_history(task: Task, *, journal: Journal) -> Sequence[Event]:
    """That a run started is told from the run itself, not written a second time."""
    runs = read_runs(task, journal=journal)
    starts = [event for run in runs for event in started(task.id, run)]
    return sorted([*starts, *journal.history(task.id)], key=lambda event: event.at)
