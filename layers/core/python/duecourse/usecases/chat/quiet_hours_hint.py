"""What is said of a time that lies in its owner's quiet hours."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.chat.message import Message
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.formatting import spoken_time
from duecourse.usecases.chat.context import ChatDesk


def quiet_hint(
    task: Task, at: datetime, sender: Message, chat: ChatDesk, *, zone: str
) -> str | None:
    """None where the reminder comes at that time. Only reminders wait: work goes on at night."""
    quiet = chat.quiet_hours.latest(task.owner) if task.is_reminder else None
    until = quiet.holds_until(at, wanted_at=task.wanted_at) if quiet else None
    if until is None:
        return None
    whose = "your" if task.owner == sender.owner else "its owner's"
    return f"That is in {whose} quiet hours: it comes on {spoken_time(until, zone)}."
