"""A person typed something: do it for that person, and say what was done."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain import change
from duecourse.domain.change import Resolution
from duecourse.domain.command import (
    HELP,
    AboutOne,
    Approve,
    Cancel,
    Command,
    Help,
    ListTasks,
    Pause,
    Reject,
    Remind,
    Resolve,
    Resume,
    Retry,
    parse_command,
)
from duecourse.domain.errors import (
    AmbiguousIdError,
    DuecourseError,
    InvalidFieldsError,
    UnknownTaskError,
)
from duecourse.domain.task import REMINDER, Task
from duecourse.domain.wallclock import to_wall, zone_named
from duecourse.usecases.change_task import change_task
from duecourse.usecases.create_task import Desk, NewId, create_task
from duecourse.usecases.find_task import find_task
from duecourse.usecases.give_verdict import VerdictBook, approve_task, reject_task
from duecourse.usecases.record_failure import Recorder

LONGEST_LISTING = 20
_RESOLVED = {
    Resolution.APPLIED: "It happened:",
    Resolution.NOT_APPLIED: "It did not happen, trying again",
    Resolution.SKIP: "Left as it is:",
}


@dataclass(frozen=True)
class Sender:
    """Who typed, as the channel vouches for it, and where the answer goes."""

    channel: str
    sender_id: str
    reply_target: str


@dataclass(frozen=True)
class ChatDesk:
    """Where people are served. Few commands need to record a failure, so that is made on demand."""

    desk: Desk
    book: VerdictBook
    recorder: Callable[[], Recorder]


def answer_command(
    text: str, sender: Sender, chat: ChatDesk, *, task_id: str, now: datetime
) -> str:
    """`task_id` is the id that a task made by this message gets."""
    try:
        return _answer(parse_command(text), sender, chat, task_id=task_id, now=now)
    except InvalidFieldsError as error:
        return f"That did not work: {error}."
    except DuecourseError as error:
        return _sentence(error)


def _answer(
    command: Command, sender: Sender, chat: ChatDesk, *, task_id: str, now: datetime
) -> str:
    desk = chat.desk
    match command:
        case Remind():
            return _remind(command, sender, desk, task_id=task_id, now=now)
        case ListTasks():
            return _listing(desk.store.open_of(sender.channel, sender.sender_id))
        case Help(hint):
            return f"{hint}\n{HELP}" if hint else HELP
        case _:
            return _answer_about_one(command, sender, chat, now=now)


def _answer_about_one(command: AboutOne, sender: Sender, chat: ChatDesk, *, now: datetime) -> str:
    try:
        task = find_task(
            command.task_id,
            store=chat.desk.store,
            visible=lambda task: task.belongs_to(sender.channel, sender.sender_id),
        )
    except (UnknownTaskError, AmbiguousIdError) as error:
        return f"{_sentence(error)} /tasks lists yours."
    name = f"{task.short_id}: {task.description}"
    match command:
        case Approve():
            approve_task(task, chat.book, at=now)
            return f"Approved {name}"
        case Reject(reason=reason):
            after = reject_task(task, reason, chat.recorder(), at=now)
            return f"Rejected {name} ({after.status})"
        case _:
            wish, said = _wish(command, at=now)
            _change(task, wish, chat.desk, now=now)
            return f"{said} {name}"


def _wish(
    command: Cancel | Retry | Pause | Resume | Resolve, *, at: datetime
) -> tuple[Callable[[Task], Task], str]:
    """What becomes of the task, and what is said when it has."""
    match command:
        case Cancel():
            return lambda task: change.cancelled(task, at=at), "Cancelled"
        case Retry():
            return lambda task: change.retried(task, at=at), "Trying again"
        case Pause():
            return change.paused, "Paused"
        case Resume():
            return lambda task: change.resumed(task, at=at), "Going on with"
        case Resolve(resolution=found):
            return lambda task: change.resolved(task, found, at=at), _RESOLVED[found]


def _change(task: Task, wish: Callable[[Task], Task], desk: Desk, *, now: datetime) -> None:
    change_task(task, wish, store=desk.store, queue=desk.queue, now=now)


def _remind(command: Remind, sender: Sender, desk: Desk, *, task_id: str, now: datetime) -> str:
    raw = {
        "type": REMINDER,
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


def _sentence(error: DuecourseError) -> str:
    text = str(error)
    return f"{text[:1].upper()}{text[1:]}."


def _when(task: Task) -> str:
    wall = to_wall(task.due_at, zone_named(task.timezone))
    clock = f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"
    return f"{wall:%A} {wall.day} {wall:%b %Y}, {clock} ({task.timezone})"
