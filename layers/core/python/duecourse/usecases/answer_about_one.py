"""A person said what is to become of one of their tasks: do it, and say what was done."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from duecourse.domain import change
from duecourse.domain.change import Resolution
from duecourse.domain.chat.buttons import under_doubt, under_failure, under_work_to_check
from duecourse.domain.chat.command import (
    AboutOne,
    Approve,
    Cancel,
    Done,
    Pause,
    Reject,
    Resolve,
    Resume,
    Retry,
    Show,
    Snooze,
)
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.saying import Button, Saying
from duecourse.domain.chat.task_card import card
from duecourse.domain.spoken import one_line, spoken_time
from duecourse.domain.status import Status
from duecourse.domain.task import Task
from duecourse.usecases.change_task import change_task
from duecourse.usecases.chat_desk import ChatDesk, zone_of
from duecourse.usecases.give_verdict import approve_task, reject_task
from duecourse.usecases.snooze import let_go, snooze

QUOTED = 200
_RESOLVED = {
    Resolution.APPLIED: "It happened:",
    Resolution.NOT_APPLIED: "It did not happen, trying again",
    Resolution.SKIP: "Left as it is:",
}


def answer_about_one(
    command: AboutOne, task: Task, sender: Message, chat: ChatDesk, *, now: datetime
) -> Saying:
    name = f"{task.short_id}: {one_line(task.description, QUOTED)}"
    match command:
        case Show():
            place = zone_of(sender, chat.profiles)
            return Saying(card(task, place.name if place.is_known else None), _buttons(task))
        case Snooze(how_long=how_long):
            return Saying(_snoozed(snooze(task, how_long, sender, chat, now=now)))
        case Done():
            return Saying(_done(task, chat, now=now))
        case Approve():
            approve_task(task, chat.book, at=now)
            return Saying(f"Approved {name}")
        case Reject(reason=reason):
            after = reject_task(task, reason, chat.recorder(), at=now)
            return Saying(f"Rejected {name} ({after.status})")
        case _:
            wish, said = _wish(command, at=now)
            desk = chat.desk
            change_task(task, wish, store=desk.store, queue=desk.queue, now=now)
            return Saying(f"{said} {name}")


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


def _buttons(task: Task) -> tuple[Button, ...]:
    """What may be answered to it, where somebody waits for an answer."""
    if task.status is Status.PENDING_VERIFICATION:
        return under_work_to_check(task)
    if task.run is not None and task.run.is_in_doubt and (doubt := under_doubt(task)):
        return doubt
    return under_failure(task) if task.status in (Status.FAILED, Status.BLOCKED) else ()


def _snoozed(task: Task) -> str:
    until = spoken_time(task.due_at, task.timezone)
    return f"Snoozed {task.short_id} until {until}: {one_line(task.description, QUOTED)}"


def _done(task: Task, chat: ChatDesk, *, now: datetime) -> str:
    let_go(task, chat.desk, now=now)
    text = f"Done: {one_line(task.description, QUOTED)}"
    if task.repeat is None or not task.is_waiting:
        return text
    return f"{text}\nThe series goes on: {spoken_time(task.due_at, task.timezone)}."
