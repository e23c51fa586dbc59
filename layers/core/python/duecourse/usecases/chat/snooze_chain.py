"""The reminders that ring once more for what was snoozed, and how to find them again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial

from duecourse.domain.chat.occurrence_ref import latest_occurrence, mark_of
from duecourse.domain.errors import IllegalMoveError, RefusedError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.tasks.ids import id_for_key
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.tasks.create_task import Desk
from duecourse.usecases.tasks.update_task import change_task


def id_of_snooze(task: Task, rang_at: datetime) -> str:
    return id_for_key(task.id, f"snoozed {mark_of(rang_at)}")


def snoozes_of(task: Task, rang_at: datetime, desk: Desk) -> Iterator[Task]:
    """The reminders that this occurrence was snoozed to, one after the other."""
    while found := _snooze_of(task, rang_at, desk):
        task, rang_at = found, latest_occurrence(found)
        yield task


def _snooze_of(task: Task, rang_at: datetime, desk: Desk) -> Task | None:
    found = desk.store.find(id_of_snooze(task, rang_at), owner=task.owner)
    is_latest = mark_of(rang_at) == mark_of(latest_occurrence(task))
    if not found and is_latest and task.run is not None:
        # As ids were made before: such a snooze may still wait when this is deployed.
        earlier_id = id_for_key(task.id, f"snoozed {task.run.mutation.key}")
        found = desk.store.find(earlier_id, owner=task.owner)
    return found[0] if found else None


def first_snoozed(task: Task, desk: Desk) -> Task | None:
    """What it rings once more for: itself, where it is no snooze. None where that is gone."""
    if task.snooze_of is None:
        return task
    return next(iter(desk.store.find(task.snooze_of, owner=task.owner)), None)


def cancel_snoozes(task: Task, rang_at: datetime, desk: Desk, *, now: datetime) -> None:
    _cancel(list(snoozes_of(task, rang_at, desk)), desk, now=now)


def cancel_all_snoozes(task: Task, desk: Desk, *, now: datetime) -> bool:
    """Of whatever occurrence; whether there were any. A link counts only between tasks of the same
    owner: earlier versions took it from a payload that anybody could write."""
    theirs = desk.store.open_of(task.owner) if task.is_reminder else []
    snoozes = [one for one in theirs if one.snooze_of == task.id]
    return _cancel(snoozes, desk, now=now) > 0


def _cancel(tasks: Iterable[Task], desk: Desk, *, now: datetime) -> int:
    waiting = [task for task in tasks if task.status is Status.PENDING]
    return sum(_is_cancelled(task, desk, now=now) for task in waiting)


def _is_cancelled(task: Task, desk: Desk, *, now: datetime) -> bool:
    """One that begins to ring at this moment rings."""
    wish = partial(user_actions.cancelled, at=now)
    try:
        change_task(task, wish, store=desk.store, queue=desk.queue, now=now)
    except (IllegalMoveError, RefusedError):
        return False
    return True
