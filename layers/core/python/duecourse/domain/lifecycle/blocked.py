"""What a blocked task waits for, and how the wait ended."""

from __future__ import annotations

from datetime import datetime, timedelta

from duecourse.domain.lifecycle.awaited_task import awaited_task_id
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

_HOUR = timedelta(hours=1)


def is_awaiting_fix(task: Task) -> bool:
    """Return True if the task is blocked by a bug in its handler, until new code is deployed."""
    return task.status is Status.BLOCKED and task.recovery_action is Action.AWAIT_FIX


def is_awaiting_resolution(task: Task) -> bool:
    """Return True if a person has to say whether the task's effect has happened."""
    asks = task.recovery_action is Action.ASK_PERSON
    return task.status is Status.BLOCKED and bool(
        asks or (task.run and task.run.is_unsafe_to_repeat)
    )


def can_time_out(task: Task) -> bool:
    """Return True if the task fails when nobody unblocks it in time.

    A task that awaits a code fix waits without limit. So does one with an indeterminate effect: it
    must not be called failed, and only a blocked task can be resolved.
    """
    return task.status is Status.BLOCKED and not (
        is_awaiting_fix(task) or is_awaiting_resolution(task)
    )


def blocked_until(task: Task, *, timeout: timedelta) -> datetime | None:
    """Return when the blocked task times out, or None if it cannot."""
    return task.blocked_since + timeout if can_time_out(task) else None


def blocked_timeout_reason(old: Task, new: Task) -> str | None:
    """Return the reason if this change is a blocked task that timed out, else None."""
    was_waiting = old.status is Status.BLOCKED and new.status is Status.FAILED
    if not was_waiting or old.run != new.run or new.closed_at is None:
        return None
    hours = max(1, (new.closed_at - old.blocked_since) // _HOUR)
    return f"nobody answered for {hours} hour{'' if hours == 1 else 's'}"


def is_escalation(old: Task, new: Task) -> bool:
    """Return True if the task it waited for failed, so that a person has to act."""
    still_blocked = old.status is new.status is Status.BLOCKED and old.run == new.run
    awaited = awaited_task_id(old) is not None
    return still_blocked and awaited and new.recovery_action is Action.ESCALATE_TO_HUMAN
