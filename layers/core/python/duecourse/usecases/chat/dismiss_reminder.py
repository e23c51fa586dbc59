"""Let go of a reminder: whoever has done what it is about needs it no more."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from duecourse.domain.chat.occurrence_ref import Rung, latest_occurrence
from duecourse.domain.errors import RefusedError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.chat.snooze_chain import cancel_snoozes
from duecourse.usecases.tasks.create_task import Desk
from duecourse.usecases.tasks.update_task import change_task


def let_go(task: Task, rung: Rung | None, desk: Desk, *, now: datetime) -> None:
    """What would ring again for it does not. A series goes on."""
    if not task.is_reminder:
        raise RefusedError(f"task {task.short_id} is no reminder: cancel it instead")
    named = rung.nominal_at if rung else None
    cancel_snoozes(task, named or latest_occurrence(task), desk, now=now)
    if task.status is Status.PENDING and task.repeat is None:
        wish = partial(user_actions.cancelled, at=now)
        change_task(task, wish, store=desk.store, queue=desk.queue, now=now)
