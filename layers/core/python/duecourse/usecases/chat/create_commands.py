"""The commands that create a task (/remind, /do); the reply says what was understood."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.duplicates import find_duplicate
from duecourse.domain.chat.limits import ChatLimits, LimitReachedError
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.parse_reminder import parse_reminder, parse_time_at_end
from duecourse.domain.chat.refusal import action_refusal_text
from duecourse.domain.errors import IdempotencyConflictError
from duecourse.domain.naturaltime import Clarification, ResolvedTime, parse_when
from duecourse.domain.requests.new_task import NewTask
from duecourse.domain.requests.request_hash import hash_new_task
from duecourse.domain.requests.schedule import Schedule
from duecourse.domain.tasks.task import ACTION, REMINDER, Task
from duecourse.domain.text.describe_recurrence import describe_recurrence
from duecourse.domain.text.formatting import format_time, quote_description
from duecourse.domain.time.dst import to_instant
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.usecases.chat.context import (
    MAX_DELAY,
    MESSAGE_TOO_LATE,
    ChatContext,
    ClarificationError,
)
from duecourse.usecases.chat.quiet_hours_hint import quiet_hours_hint
from duecourse.usecases.chat.sender_timezone import SenderTimezone, find_sender_timezone
from duecourse.usecases.tasks.create_task import NewTaskId, create_task

_ASK_WHEN = "When? Example: /remind in 10 minutes stretch"
_ASK_WHAT = "What should I remind you of? Example: /remind in 10 minutes stretch"
_ASK_TIME_FIRST = (
    "Should it run at the time at the end? Then put the time first: /do <when> <what>\n"
    "To start now: /do now <what>"
)
_NO_PROVIDER = "Actions are not available here: no provider is configured."


@dataclass(frozen=True)
class TaskDraft:
    """A task as understood from a message. `when` is None for an action that runs at once."""

    type: str
    description: str
    when: ResolvedTime | None
    payload: dict[str, Any] | None = None


def handle_remind(
    text: str, message: Message, context: ChatContext, *, now: datetime
) -> ChatMessage:
    sender_timezone = find_sender_timezone(message, context.profiles)
    when = parse_reminder(text, zone=sender_timezone.zone, now=message.sent_at)
    if when is None:
        return ChatMessage(_ASK_WHEN)
    if isinstance(when, Clarification):
        return ChatMessage(when.question)
    if not when.remaining_text:
        return ChatMessage(_ASK_WHAT)
    return _create(
        TaskDraft(REMINDER, when.remaining_text, when), message, context, sender_timezone, now=now
    )


def handle_do(text: str, message: Message, context: ChatContext, *, now: datetime) -> ChatMessage:
    if not context.access.allows_actions(message):
        return ChatMessage(action_refusal_text(message, context.access))
    if not context.providers:
        return ChatMessage(_NO_PROVIDER)
    sender_timezone = find_sender_timezone(message, context.profiles)
    when = parse_when(text, zone=sender_timezone.zone, now=message.sent_at)
    if isinstance(when, Clarification):
        return ChatMessage(when.question)
    if when is None and parse_time_at_end(text, zone=sender_timezone.zone, now=message.sent_at):
        return ChatMessage(_ASK_TIME_FIRST)
    if when and not when.remaining_text:
        return ChatMessage("What should I do? Example: /do at 18:00 sum up the day")
    payload = {"provider": context.providers[0]}
    draft = TaskDraft(ACTION, when.remaining_text if when else text, when, payload)
    return _create(draft, message, context, sender_timezone, now=now)


def _create(
    draft: TaskDraft,
    message: Message,
    context: ChatContext,
    sender_timezone: SenderTimezone,
    *,
    now: datetime,
) -> ChatMessage:
    due_at = _due_at(draft.when, message.sent_at, sender_timezone)
    new_task = _to_new_task(draft, message, sender_timezone)
    open_tasks = context.create_deps.store.list_open(message.owner)
    confirm = partial(
        _confirmation, draft, message, context, sender_timezone, _list_visible(open_tasks, message)
    )
    try:
        if now - due_at > MAX_DELAY:
            raise ClarificationError(MESSAGE_TOO_LATE)
        _check_limits(new_task, message, open_tasks, context.limits)
    except (ClarificationError, LimitReachedError):
        made = context.create_deps.store.find(message.task_id, owner=message.owner)
        if not made:
            raise
        return confirm(made[0])  # the message is redelivered, and was in time the first time
    new_id = NewTaskId(message.task_id, hash_new_task(new_task))
    try:
        # Validate against the earlier time: what was in the future when they wrote it is valid.
        task = create_task(new_task, context.create_deps, task_id=new_id, now=min(now, due_at)).task
    except IdempotencyConflictError:
        task = context.create_deps.store.get(message.task_id)  # redelivered after a zone change
    return confirm(task)


def _check_limits(
    new_task: NewTask, message: Message, open_tasks: Sequence[Task], limits: ChatLimits
) -> None:
    """Raise LimitReachedError if the sender may not have this task besides their open ones."""
    schedule = new_task.schedule
    if schedule.repeat is not None and schedule.due_at is not None:
        limits.check_interval(schedule.repeat, schedule.due_at.replace(tzinfo=None))
    others = [task for task in open_tasks if task.id != message.task_id]
    limits.check_room(others, is_series=schedule.repeat is not None)


def _due_at(
    when: ResolvedTime | None, sent_at: datetime, sender_timezone: SenderTimezone
) -> datetime:
    if when is not None and when.wall_time is not None:
        return to_instant(when.wall_time, sender_timezone.zone)
    return truncate_to_millisecond(sent_at + (when.delay or timedelta(0) if when else timedelta(0)))


def _to_new_task(draft: TaskDraft, message: Message, sender_timezone: SenderTimezone) -> NewTask:
    """Build the task from the message alone, never from the current time.

    A redelivered message must give the same task, or its idempotency key conflicts.
    """
    wall_time = draft.when.wall_time if draft.when else None
    return NewTask(
        type=draft.type,
        channel=message.channel,
        sender_id=message.sender_id,
        reply_target=message.reply_target,
        description=draft.description,
        schedule=Schedule(
            due_at=wall_time or _due_at(draft.when, message.sent_at, sender_timezone),
            timezone=sender_timezone.name,
            repeat=draft.when.repeat if draft.when else None,
        ),
        payload=draft.payload,
    )


def _confirmation(
    draft: TaskDraft,
    message: Message,
    context: ChatContext,
    sender_timezone: SenderTimezone,
    visible_tasks: Sequence[Task],
    task: Task,
) -> ChatMessage:
    kind = "Reminder" if task.is_reminder else "Action"
    starts = "starts now" if draft.when is None else f"set for {_due_text(task, sender_timezone)}"
    lines = [f"{kind} {task.short_id} {starts}: {task.description}"]
    if task.repeat:
        lines.append(f"Repeats: {describe_recurrence(task.repeat, task.anchor)}")
    if sender_timezone.hint and draft.when and draft.when.wall_time:
        lines.append(sender_timezone.hint)
    if hint := quiet_hours_hint(
        task, task.due_at, message, context, zone=sender_timezone.name_for(task)
    ):
        lines.append(hint)
    if other := find_duplicate(task, visible_tasks):
        lines.append(
            f"Similar task: {other.short_id}, {_due_text(other, sender_timezone)}: "
            f"{quote_description(other.description)}\nCancel it: /cancel {other.short_id}"
        )
    return ChatMessage("\n".join(lines))


def _list_visible(open_tasks: Sequence[Task], message: Message) -> Sequence[Task]:
    """Return the open tasks that may be shown in this chat."""
    return [task for task in open_tasks if message.can_show(task.reply_target)]


def _due_text(task: Task, sender_timezone: SenderTimezone) -> str:
    return format_time(task.due_at, sender_timezone.name_for(task))
