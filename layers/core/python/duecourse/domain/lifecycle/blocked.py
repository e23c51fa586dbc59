"""What a blocked task waits for, and how its waiting ended."""

from __future__ import annotations

from datetime import datetime, timedelta

from duecourse.domain.lifecycle.spec_review import awaited_review_id
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

_HOUR = timedelta(hours=1)


def is_awaiting_fix(task: Task) -> bool:
    """Its handler has a bug: only other code can help, or a person who calls it off."""
    return task.status is Status.BLOCKED and task.recovery_action is Action.AWAIT_FIX


def is_awaiting_resolution(task: Task) -> bool:
    """It may have had its effect, and only a person can find out."""
    asks = task.recovery_action is Action.ASK_PERSON
    return task.status is Status.BLOCKED and bool(
        asks or (task.run and task.run.is_unsafe_to_repeat)
    )


def can_time_out(task: Task) -> bool:
    """What waits for mended code waits as long as that takes. What may have happened cannot be
    called failed, and once it is no more blocked nobody could say what became of it."""
    return task.status is Status.BLOCKED and not (
        is_awaiting_fix(task) or is_awaiting_resolution(task)
    )


def blocked_until(task: Task, *, timeout: timedelta) -> datetime | None:
    """When it fails unless somebody answers; None where there is no such time."""
    return task.blocked_since + timeout if can_time_out(task) else None


def blocked_timeout_reason(old: Task, new: Task) -> str | None:
    """Why it failed, where its time was up; None where that is not what happened."""
    was_waiting = old.status is Status.BLOCKED and new.status is Status.FAILED
    if not was_waiting or old.run != new.run or new.closed_at is None:
        return None
    hours = max(1, (new.closed_at - old.blocked_since) // _HOUR)
    return f"nobody answered for {hours} hour{'' if hours == 1 else 's'}"


def is_escalation(old: Task, new: Task) -> bool:
    """Its review led to nothing: now it needs a person."""
    still_blocked = old.status is new.status is Status.BLOCKED and old.run == new.run
    awaited = awaited_review_id(old) is not None
    return still_blocked and awaited and new.recovery_action is Action.ESCALATE_TO_HUMAN
