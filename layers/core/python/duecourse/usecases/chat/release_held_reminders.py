"""Somebody's quiet hours changed: what waited for the end of the old ones waits no longer than the
new ones say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from duecourse.domain.chat.message import Message
from duecourse.domain.chat.requested_by import asked_by
from duecourse.domain.errors import IllegalMoveError, RefusedError, StaleTaskError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.quiet_hours import QuietTime, is_held
from duecourse.domain.lifecycle.run_transitions import parked
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait
from duecourse.usecases.chat.context import ChatDesk
from duecourse.usecases.tasks.update_task import change_task


def let_through(
    quiet: QuietTime | None, sender: Message, chat: ChatDesk, *, now: datetime
) -> list[str]:
    """What is to be said of it. Where it is not quiet now, it comes; else, when that ends."""
    span = quiet.span_at(now) if quiet else None
    theirs = [task for task in chat.desk.store.open_of(sender.owner) if _waits(task)]
    if quiet is not None and span is not None:
        sooner = partial(_sooner, until=span.until, wait=quiet.wait(span.until))
        for task in theirs:
            _apply(task, sooner, chat, now=now)
        return []
    comes = asked_by(sender, partial(_comes, at=now))
    count = sum(_apply(task, comes, chat, now=now) for task in theirs)
    if not count:
        return []
    return ["1 reminder that waited comes now." if count == 1 else f"{count} that waited come now."]


def _waits(task: Task) -> bool:
    """One that is paused asks again for the quiet hours once it is resumed."""
    return is_held(task) and not task.paused


def _comes(task: Task, *, at: datetime) -> Task:
    if not _waits(task):
        raise RefusedError(f"task {task.short_id} waits for no quiet hours any more")
    return user_actions.run_now(task, at=at)


def _sooner(task: Task, *, until: datetime, wait: Wait) -> Task:
    """Where they end later than the old ones, it is put off once more when its time comes."""
    if not _waits(task) or task.due_at <= until:
        return task
    return parked(task, until=until, wait=wait)


def _apply(task: Task, wish: Callable[[Task], Task], chat: ChatDesk, *, now: datetime) -> bool:
    """False where nothing came of it: one that begins to ring at this moment rings anyhow, and
    whoever changed it meanwhile has said what becomes of it."""
    try:
        change_task(task, wish, store=chat.desk.store, queue=chat.desk.queue, now=now)
    except (IllegalMoveError, RefusedError, StaleTaskError):
        return False
    return True
