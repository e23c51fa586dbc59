"""Put a reminder off.

What has rung rings once more as a reminder of its own, so that a series is left alone. Its id comes
from the occurrence that rang: however often somebody snoozes that, one reminder waits, and the last
word counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from duecourse.domain.chat.commands import Snooze
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.occurrence_ref import Rung, latest_occurrence
from duecourse.domain.chat.requested_by import asked_by
from duecourse.domain.errors import RefusedError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.user_actions import SHORTEST_GAP
from duecourse.domain.naturaltime import Unclear, When, read_length, read_when
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import REMINDER, Task
from duecourse.domain.time.instant import to_millisecond, to_text
from duecourse.domain.time.timezones import to_instant, to_wall, zone_named
from duecourse.usecases.chat.context import MOST_LATE, TOO_LATE, ChatDesk
from duecourse.usecases.chat.sender_timezone import SenderZone
from duecourse.usecases.chat.snooze_chain import (
    cancel_snoozes,
    first_snoozed,
    id_of_snooze,
    snoozes_of,
)
from duecourse.usecases.tasks.create_task import Desk, NewId, create_task
from duecourse.usecases.tasks.update_task import change_task

_HOW_LONG = "For how long? For example: /snooze a1b2c3d4 20 minutes"
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Wish:
    """`from_at` is when the time runs from, `nominal_at` the occurrence's own time."""

    how_long: str
    from_at: datetime
    nominal_at: datetime


@dataclass(frozen=True)
class RingsNext:
    """`task` is the one put off, or made for what has rung. `is_by_itself`: none was made, as the
    series comes at that time."""

    task: Task
    at: datetime
    is_by_itself: bool = False


def snooze(
    task: Task,
    command: Snooze,
    sender: Message,
    chat: ChatDesk,
    theirs: SenderZone,
    *,
    now: datetime,
) -> RingsNext:
    length = command.how_long.strip().lower()
    rang_at = _occurrence_that_rang(task, command.rung, at=sender.at)
    if rang_at is None:
        wish = Wish(length, max(sender.at, task.nominal_at), task.nominal_at)
    else:
        wish = Wish(length, max(sender.at, min(rang_at, now)), rang_at)
    until = _until(wish, task, theirs, said_at=sender.at)
    if now - until > MOST_LATE:
        raise RefusedError(TOO_LATE)
    if rang_at is None:
        zone = theirs.name_for(task)
        return RingsNext(_put_off(task, until, sender, chat.desk, now=now, zone=zone), until)
    if by_itself := _comes_by_itself(task, until, chat.desk, after=sender.at):
        cancel_snoozes(task, rang_at, chat.desk, now=now)
        return RingsNext(task, by_itself, is_by_itself=True)
    return RingsNext(_ring_again(task, rang_at, until, sender, chat.desk, now=now), until)


def _occurrence_that_rang(task: Task, rung: Rung | None, *, at: datetime) -> datetime | None:
    """None where what is to come is meant: nothing rang, or it is nearer than what did."""
    if not task.is_reminder or task.run is None:
        return None
    if rung is not None or task.status is Status.DELIVERED:
        named = rung.nominal_at if rung else None
        return named or latest_occurrence(task)
    if task.status is not Status.PENDING or task.delivered_at is None:
        return None
    is_nearer = abs(at - task.delivered_at) < abs(task.due_at - at)
    return latest_occurrence(task) if is_nearer else None


def _until(wish: Wish, task: Task, theirs: SenderZone, *, said_at: datetime) -> datetime:
    if wish.how_long == "tomorrow":
        zone = zone_named(theirs.name_for(task))
        day = to_wall(wish.from_at, zone).date() + _DAY
        return to_instant(datetime.combine(day, to_wall(wish.nominal_at, zone).time()), zone)
    length = read_length(wish.how_long)
    if length is not None:
        return to_millisecond(wish.from_at + length)
    words = wish.how_long.removeprefix("until ").removeprefix("till ")
    match read_when(words, zone=theirs.zone, now=said_at):
        case Unclear(question):
            raise RefusedError(question)
        case When(rest="", delay=None, wall=wall, repeat=None) if wall is not None:
            return to_instant(wall, theirs.zone)
    raise RefusedError(_HOW_LONG)


def _comes_by_itself(
    task: Task, until: datetime, desk: Desk, *, after: datetime
) -> datetime | None:
    """When the series comes, where that is so near that it would ring twice at once."""
    first = first_snoozed(task, desk)
    if first is None or first.series is None or not first.is_open or first.paused:
        return None
    following = first.series.next_after(max(until - SHORTEST_GAP, after))
    if following == first.nominal_at:
        following = first.due_at  # it may have been put off itself
    is_near = following is not None and abs(following - until) < SHORTEST_GAP
    return following if is_near else None


def _put_off(
    task: Task,
    until: datetime,
    sender: Message,
    desk: Desk,
    *,
    now: datetime,
    zone: str | None = None,
) -> Task:
    wish = partial(user_actions.snoozed, until=until, zone=zone, at=to_millisecond(now))
    return change_task(task, asked_by(sender, wish), store=desk.store, queue=desk.queue, now=now)


def _ring_again(
    task: Task, rang_at: datetime, until: datetime, sender: Message, desk: Desk, *, now: datetime
) -> Task:
    if _rang_for(task, until):
        return task
    for again in snoozes_of(task, rang_at, desk):
        if _rang_for(again, until):
            return again  # this very message made it, and was taken up again
        if again.status is Status.PENDING:
            return _put_off(again, until, sender, desk, now=now)
        task, rang_at = again, latest_occurrence(again)
    raw = {
        "type": REMINDER,
        "channel": task.channel,
        "sender_id": task.sender_id,
        "reply_target": task.reply_target,
        "description": task.description,
        "timezone": task.timezone,
        "due_at": to_text(until),
    }
    new_id = NewId(id_of_snooze(task, rang_at), may_exist=True)
    operator = None if task.owner == sender.owner else f"{sender.channel}:{sender.sender_id}"
    first = task.snooze_of or task.id
    at = min(now, until)
    return create_task(raw, desk, task_id=new_id, now=at, by=operator, snooze_of=first).task


def _rang_for(task: Task, until: datetime) -> bool:
    return task.status in (Status.DELIVERED, Status.IN_PROGRESS) and task.due_at == until
