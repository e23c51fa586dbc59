"""Snooze a reminder.

A pending reminder is rescheduled. A delivered occurrence gets a new one-time reminder, so a series
is unchanged. The id of that reminder derives from the occurrence: snoozing the occurrence again
moves the same reminder, and the last request wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from duecourse.domain.chat.commands import Snooze
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.occurrence_ref import OccurrenceRef, latest_occurrence_at
from duecourse.domain.chat.requested_by import mark_requested_by
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.user_actions import MIN_SNOOZE_GAP
from duecourse.domain.naturaltime import (
    Clarification,
    ResolvedTime,
    parse_duration_text,
    parse_when,
)
from duecourse.domain.requests.new_task import NewTask
from duecourse.domain.requests.request_hash import hash_new_task
from duecourse.domain.requests.schedule import Schedule
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import REMINDER, Task
from duecourse.domain.time.dst import to_instant
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.domain.time.timezones import load_timezone, to_wall_time
from duecourse.usecases.chat.context import (
    MAX_DELAY,
    MESSAGE_TOO_LATE,
    ChatContext,
    ClarificationError,
)
from duecourse.usecases.chat.sender_timezone import SenderTimezone
from duecourse.usecases.chat.snooze_chain import (
    cancel_snoozes,
    find_original,
    iterate_snoozes,
    snooze_id,
)
from duecourse.usecases.tasks.create_task import CreateTaskDeps, NewTaskId, create_task
from duecourse.usecases.tasks.update_task import update_task

_ASK_DURATION = "For how long? Example: /snooze a1b2c3d4 20 minutes"
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class SnoozeRequest:
    """`duration_text` counts from `starts_at`. `nominal_at` is the occurrence's nominal time."""

    duration_text: str
    starts_at: datetime
    nominal_at: datetime


@dataclass(frozen=True)
class SnoozeResult:
    """`task` is the rescheduled or the new reminder, due at `due_at`.

    `is_series_occurrence`: no reminder was made, because the series has an occurrence at that time.
    """

    task: Task
    due_at: datetime
    is_series_occurrence: bool = False


def snooze(
    task: Task,
    command: Snooze,
    message: Message,
    context: ChatContext,
    sender_timezone: SenderTimezone,
    *,
    now: datetime,
) -> SnoozeResult:
    """Snooze the delivered occurrence or reschedule the coming one.

    Raises ClarificationError if the duration is not understood or the message arrived too late.
    """
    length = command.duration_text.strip().lower()
    occurrence_at = _delivered_occurrence(task, command.occurrence, at=message.sent_at)
    if occurrence_at is None:
        request = SnoozeRequest(length, max(message.sent_at, task.nominal_at), task.nominal_at)
    else:
        request = SnoozeRequest(
            length, max(message.sent_at, min(occurrence_at, now)), occurrence_at
        )
    until = _parse_until(request, task, sender_timezone, sent_at=message.sent_at)
    if now - until > MAX_DELAY:
        raise ClarificationError(MESSAGE_TOO_LATE)
    if occurrence_at is None:
        zone = sender_timezone.name_for(task)
        return SnoozeResult(
            _reschedule(task, until, message, context.create_deps, now=now, zone=zone), until
        )
    if series_due_at := _nearby_series_occurrence(
        task, until, context.create_deps, after=message.sent_at
    ):
        cancel_snoozes(task, occurrence_at, context.create_deps, now=now)
        return SnoozeResult(task, series_due_at, is_series_occurrence=True)
    return SnoozeResult(
        _create_or_move_snooze(task, occurrence_at, until, message, context, now=now), until
    )


def _delivered_occurrence(
    task: Task, occurrence: OccurrenceRef | None, *, at: datetime
) -> datetime | None:
    """Return the nominal time of the delivered occurrence that is meant, else None.

    None means the coming occurrence: none was delivered, or the coming one is nearer to `at`.
    """
    if not task.is_reminder or task.run is None:
        return None
    if occurrence is not None or task.status is Status.DELIVERED:
        nominal_at = occurrence.nominal_at if occurrence else None
        return nominal_at or latest_occurrence_at(task)
    if task.status is not Status.PENDING or task.delivered_at is None:
        return None
    is_nearer = abs(at - task.delivered_at) < abs(task.due_at - at)
    return latest_occurrence_at(task) if is_nearer else None


def _parse_until(
    request: SnoozeRequest, task: Task, sender_timezone: SenderTimezone, *, sent_at: datetime
) -> datetime:
    if request.duration_text == "tomorrow":
        zone = load_timezone(sender_timezone.name_for(task))
        day = to_wall_time(request.starts_at, zone).date() + _DAY
        return to_instant(
            datetime.combine(day, to_wall_time(request.nominal_at, zone).time()), zone
        )
    length = parse_duration_text(request.duration_text)
    if length is not None:
        return truncate_to_millisecond(request.starts_at + length)
    words = request.duration_text.removeprefix("until ").removeprefix("till ")
    match parse_when(words, zone=sender_timezone.zone, now=sent_at):
        case Clarification(question):
            raise ClarificationError(question)
        case ResolvedTime(remaining_text="", delay=None, wall_time=wall, repeat=None) if (
            wall is not None
        ):
            return to_instant(wall, sender_timezone.zone)
    raise ClarificationError(_ASK_DURATION)


def _nearby_series_occurrence(
    task: Task, until: datetime, deps: CreateTaskDeps, *, after: datetime
) -> datetime | None:
    """Return the series' occurrence within MIN_SNOOZE_GAP of `until`, else None.

    A snooze that near would deliver two reminders at about the same time.
    """
    first = find_original(task, deps)
    if first is None or first.series is None or not first.is_open or first.paused:
        return None
    following = first.series.next_after(max(until - MIN_SNOOZE_GAP, after))
    if following == first.nominal_at:
        following = first.due_at  # the occurrence itself may be rescheduled
    is_near = following is not None and abs(following - until) < MIN_SNOOZE_GAP
    return following if is_near else None


def _reschedule(
    task: Task,
    until: datetime,
    message: Message,
    deps: CreateTaskDeps,
    *,
    now: datetime,
    zone: str | None = None,
) -> Task:
    transition = partial(
        user_actions.snooze,
        until=until,
        display_timezone=zone,
        requested_at=truncate_to_millisecond(now),
    )
    return update_task(
        task, mark_requested_by(message, transition), store=deps.store, queue=deps.queue, now=now
    )


def _create_or_move_snooze(
    task: Task,
    occurrence_at: datetime,
    until: datetime,
    message: Message,
    context: ChatContext,
    *,
    now: datetime,
) -> Task:
    deps = context.create_deps
    if _is_delivered_for(task, until) or _has_come_since(task, occurrence_at, until, message):
        return task
    for existing in iterate_snoozes(task, occurrence_at, deps):
        if _is_delivered_for(existing, until):
            return existing  # a redelivery of the message that created it
        if existing.status is Status.PENDING:
            return _reschedule(existing, until, message, deps, now=now)
        task, occurrence_at = existing, latest_occurrence_at(existing)
    context.limits.check_room(deps.store.list_open(task.owner), is_series=False)
    new_task = NewTask(
        type=REMINDER,
        channel=task.channel,
        sender_id=task.sender_id,
        reply_target=task.reply_target,
        description=task.description,
        schedule=Schedule(due_at=until, timezone=task.timezone),
    )
    new_id = NewTaskId(snooze_id(task, occurrence_at), hash_new_task(new_task))
    operator = None if task.owner == message.owner else f"{message.channel}:{message.sender_id}"
    first = task.snooze_of or task.id
    return create_task(
        new_task,
        deps,
        task_id=new_id,
        now=min(now, until),
        created_by=operator,
        snooze_of=first,
    ).task


def _is_delivered_for(task: Task, until: datetime) -> bool:
    return task.status in (Status.DELIVERED, Status.IN_PROGRESS) and task.due_at == until


def _has_come_since(task: Task, occurrence_at: datetime, until: datetime, message: Message) -> bool:
    """Return whether the occurrence of a series came at `until` or later, after the message.

    Then the message comes again: the first time it rescheduled the occurrence.
    """
    delivered_at = task.delivered_at
    if delivered_at is None or task.series is None or latest_occurrence_at(task) != occurrence_at:
        return False
    return message.sent_at < delivered_at and until <= delivered_at
