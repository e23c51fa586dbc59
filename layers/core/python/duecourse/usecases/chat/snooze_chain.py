"""Find and cancel the reminders that were created by snoozing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial

from duecourse.domain.chat.occurrence_ref import encode_ref, latest_occurrence_at
from duecourse.domain.errors import IllegalTransitionError, InvalidStateError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.tasks.ids import id_for_key
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.tasks.create_task import CreateTaskDeps
from duecourse.usecases.tasks.update_task import update_task


def snooze_id(task: Task, occurrence_at: datetime) -> str:
    return id_for_key(task.id, f"snoozed {encode_ref(occurrence_at)}")


def iterate_snoozes(task: Task, occurrence_at: datetime, deps: CreateTaskDeps) -> Iterator[Task]:
    """Yield the snooze of this occurrence, then the snooze of that snooze, and so on."""
    while found := _find_snooze(task, occurrence_at, deps):
        task, occurrence_at = found, latest_occurrence_at(found)
        yield task


def _find_snooze(task: Task, occurrence_at: datetime, deps: CreateTaskDeps) -> Task | None:
    found = deps.store.find(snooze_id(task, occurrence_at), owner=task.owner)
    is_latest = encode_ref(occurrence_at) == encode_ref(latest_occurrence_at(task))
    if not found and is_latest and task.run is not None:
        # Ids of earlier versions: such a snooze may still be pending after a deployment.
        earlier_id = id_for_key(task.id, f"snoozed {task.run.mutation.idempotency_key}")
        found = deps.store.find(earlier_id, owner=task.owner)
    return found[0] if found else None


def find_original(task: Task, deps: CreateTaskDeps) -> Task | None:
    """Return the task that was snoozed first: `task` if it is no snooze, None if it is deleted."""
    if task.snooze_of is None:
        return task
    return next(iter(deps.store.find(task.snooze_of, owner=task.owner)), None)


def cancel_snoozes(
    task: Task, occurrence_at: datetime, deps: CreateTaskDeps, *, now: datetime
) -> None:
    _cancel_pending(list(iterate_snoozes(task, occurrence_at, deps)), deps, now=now)


def cancel_all_snoozes(task: Task, deps: CreateTaskDeps, *, now: datetime) -> bool:
    """Cancel the pending snoozes of all occurrences; return whether there were any.

    Only snoozes of the same owner count: earlier versions read the link from the payload, which
    anyone could write.
    """
    open_tasks = deps.store.list_open(task.owner) if task.is_reminder else []
    snoozes = [other for other in open_tasks if other.snooze_of == task.id]
    return _cancel_pending(snoozes, deps, now=now) > 0


def _cancel_pending(tasks: Iterable[Task], deps: CreateTaskDeps, *, now: datetime) -> int:
    waiting = [task for task in tasks if task.status is Status.PENDING]
    return sum(_try_cancel(task, deps, now=now) for task in waiting)


def _try_cancel(task: Task, deps: CreateTaskDeps, *, now: datetime) -> bool:
    """Cancel the reminder; return False if it is being delivered at this moment."""
    transition = partial(user_actions.cancel, at=now)
    try:
        update_task(task, transition, store=deps.store, queue=deps.queue, now=now)
    except (IllegalTransitionError, InvalidStateError):
        return False
    return True
