"""A person said what is to become of one of their tasks: do it, and say what was done."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from duecourse.domain.chat.buttons import under_doubt, under_failure, under_work_to_check
from duecourse.domain.chat.chat_message import Button, Saying
from duecourse.domain.chat.commands import (
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
from duecourse.domain.chat.requested_by import asked_by
from duecourse.domain.chat.task_view import card
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.user_actions import Resolution
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.formatting import quoted, spoken_time
from duecourse.usecases.chat.context import ChatDesk
from duecourse.usecases.chat.dismiss_reminder import let_go
from duecourse.usecases.chat.quiet_hours_hint import quiet_hint
from duecourse.usecases.chat.sender_timezone import SenderZone, zone_of
from duecourse.usecases.chat.snooze import RingsNext, snooze
from duecourse.usecases.chat.snooze_chain import cancel_all_snoozes
from duecourse.usecases.runs.approve_reject import approve_task, reject_task
from duecourse.usecases.tasks.update_task import change_task

_ELSEWHERE = "it is from elsewhere, ask me about it in private"
_SNOOZES_TOO = "\nWhat you had snoozed of it is cancelled, too."
_RESOLVED = {
    Resolution.APPLIED: "It happened:",
    Resolution.NOT_APPLIED: "It did not happen, trying again",
    Resolution.SKIP: "Left as it is:",
}


def answer_about_one(
    command: AboutOne, task: Task, sender: Message, chat: ChatDesk, *, now: datetime
) -> Saying:
    is_told_here = sender.is_place_of(task.reply_target) or chat.is_operators(sender)
    about = quoted(task.description) if is_told_here else _ELSEWHERE
    name = f"{task.short_id}: {about}"
    match command:
        case Show() if not is_told_here:
            return Saying(f"Task {name}.")
        case Show():
            theirs = zone_of(sender, chat.profiles)
            return Saying(card(task, theirs.name_if_known), _buttons(task))
        case Snooze():
            theirs = zone_of(sender, chat.profiles)
            rings = snooze(task, command, sender, chat, theirs, now=now)
            hint = _hint(rings.task, rings.at, sender, chat, theirs)
            return Saying(f"{_snoozed(rings, theirs)}: {about}{hint}")
        case Done(rung=rung):
            let_go(task, rung, chat.desk, now=now)
            theirs = zone_of(sender, chat.profiles)
            return Saying(f"Done: {about}{_goes_on(task, theirs)}")
        case Cancel():
            return Saying(f"Cancelled {name}{_cancelled(task, chat, now=now)}")
        case Approve():
            approve_task(task, chat.book, at=now)
            return Saying(f"Approved {name}")
        case Reject(reason=reason):
            after = reject_task(task, reason, chat.recorder(), at=now)
            return Saying(f"Rejected {name} ({after.status})")
        case _:
            wish, said = _wish(command, at=now)
            desk = chat.desk
            wish = asked_by(sender, wish)
            after = change_task(task, wish, store=desk.store, queue=desk.queue, now=now)
            return Saying(f"{said} {name}{_hint_if_it_comes(after, sender, chat, now=now)}")


def _wish(
    command: Retry | Pause | Resume | Resolve, *, at: datetime
) -> tuple[Callable[[Task], Task], str]:
    """What becomes of the task, and what is said when it has."""
    match command:
        case Retry():
            return lambda task: user_actions.retried(task, at=at), "Trying again"
        case Pause():
            return user_actions.paused, "Paused"
        case Resume():
            return lambda task: user_actions.resumed(task, at=at), "Going on with"
        case Resolve(resolution=found):
            return lambda task: user_actions.resolved(task, found, at=at), _RESOLVED[found]


def _buttons(task: Task) -> tuple[Button, ...]:
    """What may be answered to it, where somebody waits for an answer."""
    if task.status is Status.PENDING_VERIFICATION:
        return under_work_to_check(task)
    if task.run is not None and task.run.is_in_doubt and (doubt := under_doubt(task)):
        return doubt
    return under_failure(task) if task.status in (Status.FAILED, Status.BLOCKED) else ()


def _snoozed(rings: RingsNext, theirs: SenderZone) -> str:
    time = spoken_time(rings.at, theirs.name_for(rings.task))
    if rings.is_by_itself:
        return f"It comes again by itself on {time}"
    return f"Snoozed {rings.task.short_id} until {time}"


def _hint(task: Task, at: datetime, sender: Message, chat: ChatDesk, theirs: SenderZone) -> str:
    hint = quiet_hint(task, at, sender, chat, zone=theirs.name_for(task))
    return f"\n{hint}" if hint else ""


def _hint_if_it_comes(task: Task, sender: Message, chat: ChatDesk, *, now: datetime) -> str:
    if not task.is_waiting or not task.is_reminder:
        return ""
    return _hint(task, max(task.due_at, now), sender, chat, zone_of(sender, chat.profiles))


def _goes_on(task: Task, theirs: SenderZone) -> str:
    if task.repeat is None or not task.is_waiting:
        return ""
    return f"\nThe series goes on: {spoken_time(task.due_at, theirs.name_for(task))}."


def _cancelled(task: Task, chat: ChatDesk, *, now: datetime) -> str:
    """What is to be said besides that it was. Of what has rung, only that it rings once more can
    be called off."""
    desk = chat.desk
    if task.status is Status.DELIVERED and cancel_all_snoozes(task, desk, now=now):
        return _SNOOZES_TOO
    wish = partial(user_actions.cancelled, at=now)
    change_task(task, wish, store=desk.store, queue=desk.queue, now=now)
    return _SNOOZES_TOO if cancel_all_snoozes(task, desk, now=now) else ""
