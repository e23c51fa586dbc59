"""All that the API tells of one task, read as its routes read it but without a request for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from duecourse.app import stores
from duecourse.domain.errors import UnknownTaskError
from duecourse.domain.journal.error_log import error_to_json
from duecourse.domain.requests.json import event_to_json, run_to_json
from duecourse.usecases.journal.read_history import read_history, read_runs
from duecourse.usecases.tasks.get_task import get_task

from functions.api.http.task_response import task_to_response

Json = dict[str, Any]


@dataclass(frozen=True)
class TaskRecord:
    """`name` is the task's number in the plan, or its short id."""

    name: str
    task: Json
    runs: Sequence[Json]
    errors: Sequence[Json]
    history: Sequence[Json]


def read_record(task_id: str, name: str) -> TaskRecord | None:
    """Return what is stored of the task, or None if there is none."""
    try:
        task = get_task(task_id, store=stores.task_store())
    except UnknownTaskError:
        return None
    runs = read_runs(task, journal=stores.journal())
    history = read_history(task, journal=stores.journal())
    return TaskRecord(
        name,
        task_to_response(task),
        [run_to_json(task.id, run, in_full=True) for run in runs],
        [error_to_json(error) for error in stores.error_log().list_by_task(task.id)],
        [event_to_json(event) for event in history],
    )
