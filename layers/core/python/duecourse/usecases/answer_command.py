"""A person typed something: do it for that person, and say what was done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain import change
from duecourse.domain.command import HELP, Cancel, Command, Help, ListTasks, Remind, parse_command
from duecourse.domain.errors import (
    AmbiguousIdError,
    DuecourseError,
    InvalidFieldsError,
    UnknownTaskError,
)
from duecourse.domain.task import Task
from duecourse.domain.wallclock import to_wall, zone_named
from duecourse.usecases.change_task import change_task
from duecourse.usecases.create_task import Desk, NewId, create_task
from duecourse.usecases.find_task import find_task

LONGEST_LISTING = 20


@dataclass(frozen=True)
class Sender:
    """Who typed, as the channel vouches for it, and where the answer goes."""

    channel: str
    sender_id: str
    reply_target: str


def answer_command(text: str, sender: Sender, desk: Desk, *, task_id: str, now: datetime) -> str:
    """`task_id` is the id that a task made by this message gets."""
    try:
        return _answer(parse_command(text), sender, desk, task_id=task_id, now=now)
    except InvalidFieldsError as error:
        return f"That did not work: {error}."
    except DuecourseError as error:
        return _sentence(error)


def _answer(command: Command, sender: Sender, desk: Desk, *, task_id: str, now: datetime) -> str:
    match command:
        case Remind():
            return _remind(command, sender, desk, task_id=task_id, now=now)
        case ListTasks():
            return _listing(desk.store.open_of(sender.channel, sender.sender_id))
        case Cancel(prefix):
            return _cancel(prefix, sender, desk, now=now)
        case Help(hint):
            return f"{hint}\n{HELP}" if hint else HELP


def _remind(command: Remind, sender: Sender, desk: Desk, *, task_id: str, now: datetime) -> str:
    raw = {
        "type": "reminder",
        "channel": sender.channel,
        "sender_id": sender.sender_id,
        "reply_target": sender.reply_target,
        "in": command.delay.total_seconds(),
        "description": command.description,
    }
    task = create_task(raw, desk, task_id=NewId(task_id), now=now).task
    return f"Reminder {task.short_id} set for {_when(task)}: {task.description}"


def _listing(tasks: Sequence[Task]) -> str:
    if not tasks:
        return "You have no open tasks. /remind in 10 minutes stretch makes one."
    lines = [f"{task.short_id}  {_when(task)}: {task.description}" for task in tasks]
    more = len(lines) - LONGEST_LISTING
    return "\n".join([*lines[:LONGEST_LISTING], *([f"and {more} more"] if more > 0 else [])])


def _cancel(prefix: str, sender: Sender, desk: Desk, *, now: datetime) -> str:
    try:
        task = find_task(
            prefix,
            store=desk.store,
            visible=lambda task: task.belongs_to(sender.channel, sender.sender_id),
        )
    except (UnknownTaskError, AmbiguousIdError) as error:
        return f"{_sentence(error)} /tasks lists yours."
    change_task(
        task,
        lambda task: change.cancelled(task, at=now),
        store=desk.store,
        queue=desk.queue,
        now=now,
    )
    return f"Cancelled {task.short_id}: {task.description}"


def _sentence(error: DuecourseError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


def _when(task: Task) -> str:
    wall = to_wall(task.due_at, zone_named(task.timezone))
    clock = f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"
    return f"{wall:%A} {wall.day} {wall:%b %Y}, {clock} ({task.timezone})"
