"""A hint for a reminder that is set for its owner's quiet hours."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.chat.message import Message
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.formatting import format_time
from duecourse.usecases.chat.context import ChatContext


def quiet_hours_hint(
    task: Task, at: datetime, message: Message, context: ChatContext, *, zone: str
) -> str | None:
    """Return a hint if the reminder would be deferred at `at`, else None.

    Only reminders wait for quiet hours.
    """
    quiet = context.quiet_hours.get(task.owner) if task.is_reminder else None
    until = quiet.deferred_until(at, requested_at=task.owner_requested_at) if quiet else None
    if until is None:
        return None
    whose = "your" if task.owner == message.owner else "its owner's"
    return f"This is in {whose} quiet hours. It will come on {format_time(until, zone)}."
