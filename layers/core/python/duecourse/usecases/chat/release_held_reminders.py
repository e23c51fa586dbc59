"""Reschedule deferred reminders after their owner's quiet hours have changed."""

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
    """Release or shorten the deferrals of the sender's reminders; return lines for the reply.

    If `quiet_hours` do not cover `now`, the reminders come now, else when the quiet hours end.
    """
    period = quiet_hours.period_at(now) if quiet_hours else None
    deferred = [
        task for task in context.create_deps.store.list_open(message.owner) if _is_deferred(task)
    ]
    if quiet_hours is not None and period is not None:
        shorten = partial(
            _shorten_deferral, until=period.ends_at, wait=quiet_hours.wait(period.ends_at)
        )
        for task in deferred:
            _try_update(task, shorten, context, now=now)
        return []
    release = mark_requested_by(message, partial(_release, at=now))
    count = sum(_try_update(task, release, context, now=now) for task in deferred)
    if not count:
        return []
    return [
        "1 waiting reminder comes now." if count == 1 else f"{count} waiting reminders come now."
    ]


def _is_deferred(task: Task) -> bool:
    """Return whether the reminder waits for quiet hours and is not paused.

    A paused reminder checks the quiet hours again when it is resumed.
    """
    return is_deferred_by_quiet_hours(task) and not task.paused


def _release(task: Task, *, at: datetime) -> Task:
    if not _is_deferred(task):
        raise InvalidStateError(f"task {task.short_id} waits for no quiet hours any more")
    return user_actions.run_now(task, at=at)


def _shorten_deferral(task: Task, *, until: datetime, wait: Wait) -> Task:
    """Defer until `until` if that is sooner than the present due time.

    If the new quiet hours end later than the old ones, the worker defers the reminder again.
    """
    if not _is_deferred(task) or task.due_at <= until:
        return task
    return defer(task, until=until, wait=wait)


def _try_update(
    task: Task, transition: Callable[[Task], Task], context: ChatContext, *, now: datetime
) -> bool:
    """Apply `transition`; return False if the reminder is running or was changed meanwhile."""
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
