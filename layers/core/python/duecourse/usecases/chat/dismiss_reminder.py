"""Dismiss a reminder (/done)."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from duecourse.domain.chat.occurrence_ref import OccurrenceRef, latest_occurrence_at
from duecourse.domain.errors import InvalidStateError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.chat.snooze_chain import cancel_snoozes
from duecourse.usecases.tasks.create_task import CreateTaskDeps
from duecourse.usecases.tasks.update_task import update_task


def dismiss_reminder(
    task: Task, occurrence: OccurrenceRef | None, deps: CreateTaskDeps, *, now: datetime
) -> None:
    """Cancel the occurrence's snoozes and, if the task is pending and not a series, the task.

    A series continues. Raises InvalidStateError if the task is no reminder.
    """
    if not task.is_reminder:
        raise InvalidStateError(f"task {task.short_id} is not a reminder: cancel it instead")
    nominal_at = occurrence.nominal_at if occurrence else None
    cancel_snoozes(task, nominal_at or latest_occurrence_at(task), deps, now=now)
    if task.status is Status.PENDING and task.repeat is None:
        transition = partial(user_actions.cancel, at=now)
        update_task(task, transition, store=deps.store, queue=deps.queue, now=now)
