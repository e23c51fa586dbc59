"""The commands on one task (/task, /snooze, /done, /cancel, /approve and others)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial

from duecourse.domain.chat.buttons import failure_buttons, resolution_buttons, verification_buttons
from duecourse.domain.chat.chat_message import Button, ChatMessage
from duecourse.domain.chat.commands import (
    Approve,
    Cancel,
    Done,
    Pause,
    Reject,
    Resolve,
    Resume,
    Retry,
    ShowTask,
    Snooze,
    TaskCommand,
)
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.requested_by import mark_requested_by
from duecourse.domain.chat.task_view import format_task_details, status_label
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.resolve_indeterminate import Resolution, resolve_indeterminate
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.formatting import format_time, quote_description
from duecourse.usecases.chat.context import ChatContext
from duecourse.usecases.chat.dismiss_reminder import dismiss_reminder
from duecourse.usecases.chat.quiet_hours_hint import quiet_hours_hint
from duecourse.usecases.chat.sender_timezone import SenderTimezone, find_sender_timezone
from duecourse.usecases.chat.snooze import SnoozeResult, snooze
from duecourse.usecases.chat.snooze_chain import cancel_all_snoozes
from duecourse.usecases.runs.approve_reject import approve_task, reject_task
from duecourse.usecases.tasks.update_task import update_task

_HIDDEN_DESCRIPTION = "from another chat, ask me in private"
_SNOOZES_CANCELLED = "\nIts snoozed reminders are cancelled too."
_RESOLUTION_TEXTS = {
    Resolution.APPLIED: "Resolved {id} as applied",
    Resolution.NOT_APPLIED: "Resolved {id} as not applied, retrying",
    Resolution.SKIP: "Skipped {id}",
}


def handle_task_command(
    command: TaskCommand, task: Task, message: Message, context: ChatContext, *, now: datetime
) -> ChatMessage:
    """Carry out the command and return the reply.

    The description is shown only in the chat that the task belongs to, in private and to operators.
    """
    is_visible_here = message.can_show(task.reply_target) or context.is_operator_chat(message)
    about = quote_description(task.description) if is_visible_here else _HIDDEN_DESCRIPTION
    name = f"{task.short_id}: {about}"
    match command:
        case ShowTask() if not is_visible_here:
            return ChatMessage(f"Task {name}.")
        case ShowTask():
            sender_timezone = find_sender_timezone(message, context.profiles)
            return ChatMessage(
                format_task_details(task, sender_timezone.name_if_known), _buttons(task)
            )
        case Snooze():
            return ChatMessage(_snooze(task, command, about, message, context, now))
        case Done(occurrence=occurrence):
            dismiss_reminder(task, occurrence, context.create_deps, now=now)
            sender_timezone = find_sender_timezone(message, context.profiles)
            return ChatMessage(f"Done: {about}{_next_occurrence_text(task, sender_timezone)}")
        case Cancel():
            return ChatMessage(f"Cancelled {name}{_cancel_with_snoozes(task, context, now=now)}")
        case Approve():
            approve_task(task, context.approval_deps, at=now)
            return ChatMessage(f"Approved {name}")
        case Reject(reason=reason):
            after = reject_task(task, reason, context.get_failure_deps(), at=now)
            return ChatMessage(f"Rejected {name}\nStatus: {status_label(after)}")
        case _:
            transition, reply = _choose_transition(command, at=now)
            transition = mark_requested_by(message, transition)
            deps = context.create_deps
            after = update_task(task, transition, store=deps.store, queue=deps.queue, now=now)
            hint = _hint_if_pending(after, message, context, now=now)
            return ChatMessage(f"{reply.format(id=task.short_id)}: {about}{hint}")


def _snooze(
    task: Task, command: Snooze, about: str, message: Message, context: ChatContext, now: datetime
) -> str:
    """Snooze the reminder and return the reply."""
    sender_timezone = find_sender_timezone(message, context.profiles)
    result = snooze(task, command, message, context, sender_timezone, now=now)
    hint = _hint_line(result.task, result.due_at, message, context, sender_timezone)
    return f"{_snooze_text(result, sender_timezone)}: {about}{hint}"


def _choose_transition(
    command: Retry | Pause | Resume | Resolve, *, at: datetime
) -> tuple[Callable[[Task], Task], str]:
    """Return the transition for the command, and the reply's beginning with a place for the id."""
    match command:
        case Retry():
            return lambda task: user_actions.retry(task, at=at), "Retrying {id}"
        case Pause():
            return user_actions.pause, "Paused {id}"
        case Resume():
            return lambda task: user_actions.resume(task, at=at), "Resumed {id}"
        case Resolve(resolution=resolution):
            text = _RESOLUTION_TEXTS[resolution]
            return lambda task: resolve_indeterminate(task, resolution, at=at), text


def _buttons(task: Task) -> tuple[Button, ...]:
    """Return the buttons for a task that needs a decision, else none."""
    if task.status is Status.PENDING_VERIFICATION:
        return verification_buttons(task)
    if (
        task.run is not None
        and task.run.is_unsafe_to_repeat
        and (buttons := resolution_buttons(task))
    ):
        return buttons
    return failure_buttons(task) if task.status in (Status.FAILED, Status.BLOCKED) else ()


def _snooze_text(result: SnoozeResult, sender_timezone: SenderTimezone) -> str:
    time = format_time(result.due_at, sender_timezone.name_for(result.task))
    if result.is_series_occurrence:
        return f"Not snoozed, the series comes again on {time}"
    return f"Snoozed {result.task.short_id} until {time}"


def _hint_line(
    task: Task,
    at: datetime,
    message: Message,
    context: ChatContext,
    sender_timezone: SenderTimezone,
) -> str:
    hint = quiet_hours_hint(task, at, message, context, zone=sender_timezone.name_for(task))
    return f"\n{hint}" if hint else ""


def _hint_if_pending(task: Task, message: Message, context: ChatContext, *, now: datetime) -> str:
    if not task.is_waiting or not task.is_reminder:
        return ""
    return _hint_line(
        task,
        max(task.due_at, now),
        message,
        context,
        find_sender_timezone(message, context.profiles),
    )


def _next_occurrence_text(task: Task, sender_timezone: SenderTimezone) -> str:
    if task.repeat is None or not task.is_waiting:
        return ""
    return f"\nNext occurrence: {format_time(task.due_at, sender_timezone.name_for(task))}"


def _cancel_with_snoozes(task: Task, context: ChatContext, *, now: datetime) -> str:
    """Cancel the task and its snoozes; return what the reply says about the snoozes.

    A delivered reminder itself cannot be cancelled, only its snoozes.
    """
    deps = context.create_deps
    if task.status is Status.DELIVERED and cancel_all_snoozes(task, deps, now=now):
        return _SNOOZES_CANCELLED
    transition = partial(user_actions.cancel, at=now)
    update_task(task, transition, store=deps.store, queue=deps.queue, now=now)
    return _SNOOZES_CANCELLED if cancel_all_snoozes(task, deps, now=now) else ""
