"""The reminders that ring once more for what was snoozed, and how to find them again."""

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
    """The reminders that this occurrence was snoozed to, one after the other."""
    while found := _find_snooze(task, occurrence_at, deps):
        task, occurrence_at = found, latest_occurrence_at(found)
        yield task


def _find_snooze(task: Task, occurrence_at: datetime, deps: CreateTaskDeps) -> Task | None:
    found = deps.store.find(snooze_id(task, occurrence_at), owner=task.owner)
    is_latest = encode_ref(occurrence_at) == encode_ref(latest_occurrence_at(task))
    if not found and is_latest and task.run is not None:
        # As ids were made before: such a snooze may still wait when this is deployed.
        earlier_id = id_for_key(task.id, f"snoozed {task.run.mutation.idempotency_key}")
        found = deps.store.find(earlier_id, owner=task.owner)
    return found[0] if found else None


def find_original(task: Task, deps: CreateTaskDeps) -> Task | None:
    """What it rings once more for: itself, where it is no snooze. None where that is gone."""
    if task.snooze_of is None:
        return task
    return next(iter(deps.store.find(task.snooze_of, owner=task.owner)), None)


def cancel_snoozes(
    task: Task, occurrence_at: datetime, deps: CreateTaskDeps, *, now: datetime
) -> None:
    _cancel_pending(list(iterate_snoozes(task, occurrence_at, deps)), deps, now=now)


def cancel_all_snoozes(task: Task, deps: CreateTaskDeps, *, now: datetime) -> bool:
    """Of whatever occurrence; whether there were any. A link counts only between tasks of the same
    owner: earlier versions took it from a payload that anybody could write."""
    theirs = deps.store.list_open(task.owner) if task.is_reminder else []
    snoozes = [one for one in theirs if one.snooze_of == task.id]
    return _cancel_pending(snoozes, deps, now=now) > 0


def _cancel_pending(tasks: Iterable[Task], deps: CreateTaskDeps, *, now: datetime) -> int:
    waiting = [task for task in tasks if task.status is Status.PENDING]
    return sum(_try_cancel(task, deps, now=now) for task in waiting)


def _try_cancel(task: Task, deps: CreateTaskDeps, *, now: datetime) -> bool:
    """One that begins to ring at this moment rings."""
    wish = partial(user_actions.cancel, at=now)
    try:
        update_task(task, wish, store=deps.store, queue=deps.queue, now=now)
    except (IllegalTransitionError, InvalidStateError):
        return False
    return True
