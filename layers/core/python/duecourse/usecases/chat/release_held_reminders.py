"""Somebody's quiet hours changed: what waited for the end of the old ones waits no longer than the
new ones say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from duecourse.domain.chat.message import Message
from duecourse.domain.chat.requested_by import mark_requested_by
from duecourse.domain.errors import IllegalTransitionError, InvalidStateError, StaleTaskError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.quiet_hours import QuietHours, is_deferred_by_quiet_hours
from duecourse.domain.lifecycle.run_transitions import defer
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait
from duecourse.usecases.chat.context import ChatContext
from duecourse.usecases.tasks.update_task import update_task


def release_held_reminders(
    quiet_hours: QuietHours | None, message: Message, context: ChatContext, *, now: datetime
) -> list[str]:
    """What is to be said of it. Where it is not quiet now, it comes; else, when that ends."""
    span = quiet_hours.period_at(now) if quiet_hours else None
    theirs = [
        task for task in context.create_deps.store.list_open(message.owner) if _is_deferred(task)
    ]
    if quiet_hours is not None and span is not None:
        sooner = partial(_shorten_deferral, until=span.ends_at, wait=quiet_hours.wait(span.ends_at))
        for task in theirs:
            _try_update(task, sooner, context, now=now)
        return []
    comes = mark_requested_by(message, partial(_release, at=now))
    count = sum(_try_update(task, comes, context, now=now) for task in theirs)
    if not count:
        return []
    return ["1 reminder that waited comes now." if count == 1 else f"{count} that waited come now."]


def _is_deferred(task: Task) -> bool:
    """One that is paused asks again for the quiet hours once it is resumed."""
    return is_deferred_by_quiet_hours(task) and not task.paused


def _release(task: Task, *, at: datetime) -> Task:
    if not _is_deferred(task):
        raise InvalidStateError(f"task {task.short_id} waits for no quiet hours any more")
    return user_actions.run_now(task, at=at)


def _shorten_deferral(task: Task, *, until: datetime, wait: Wait) -> Task:
    """Where they end later than the old ones, it is put off once more when its time comes."""
    if not _is_deferred(task) or task.due_at <= until:
        return task
    return defer(task, until=until, wait=wait)


def _try_update(
    task: Task, transition: Callable[[Task], Task], context: ChatContext, *, now: datetime
) -> bool:
    """False where nothing came of it: one that begins to ring at this moment rings anyhow, and
    whoever changed it meanwhile has said what becomes of it."""
    try:
        update_task(
            task,
            transition,
            store=context.create_deps.store,
            queue=context.create_deps.queue,
            now=now,
        )
    except (IllegalTransitionError, InvalidStateError, StaleTaskError):
        return False
    return True
