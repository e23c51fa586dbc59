"""Put a reminder off, or let go of it.

What has rung rings once more as a reminder of its own, so that a series is left alone. Its id comes
from the occurrence that rang: however often somebody snoozes that, one reminder waits, and the last
word counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from duecourse.domain import change
from duecourse.domain.chat.buttons import RANG
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import RefusedError
from duecourse.domain.ids import id_for_key
from duecourse.domain.instant import to_millisecond, to_text
from duecourse.domain.status import Status
from duecourse.domain.task import REMINDER, Task
from duecourse.domain.wallclock import to_instant, to_wall, zone_named
from duecourse.domain.when import Unclear, When, read_length, read_when
from duecourse.usecases.change_task import change_task
from duecourse.usecases.chat_desk import LATEST, TOO_LATE, ChatDesk, zone_of
from duecourse.usecases.create_task import Desk, NewId, create_task

_HOW_LONG = "For how long? For example: /snooze a1b2c3d4 20 minutes"
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Wish:
    """`from_at` is when the time runs from, `nominal_at` the occurrence's own time."""

    how_long: str
    from_at: datetime
    nominal_at: datetime


def snooze(task: Task, how_long: str, sender: Message, chat: ChatDesk, *, now: datetime) -> Task:
    """The task that rings next: this one, or the one made for it."""
    length = how_long.strip().lower()
    has_rung = _has_rung(task, at=sender.at, is_said=length.endswith(f" {RANG}"))
    length = length.removesuffix(f" {RANG}").strip()
    if has_rung:
        rang_at = task.run.nominal_at if task.run else task.nominal_at
        wish = Wish(length, sender.at, rang_at)
    else:
        wish = Wish(length, max(sender.at, task.nominal_at), task.nominal_at)
    until = _until(wish, task, sender, chat)
    if now - until > LATEST:
        raise RefusedError(TOO_LATE)
    return (_ring_again if has_rung else _put_off)(task, until, chat.desk, now=now)


def let_go(task: Task, desk: Desk, *, now: datetime) -> None:
    """It is done: what would ring again for it does not. A series goes on."""
    if not task.is_reminder:
        raise RefusedError(f"task {task.short_id} is no reminder: cancel it instead")
    is_over = task.status is Status.PENDING and task.repeat is None
    waiting = [one for one in _snoozed_after(task, desk) if one.status is Status.PENDING]
    for one in [*waiting, *([task] if is_over else [])]:
        wish = partial(change.cancelled, at=now)
        change_task(one, wish, store=desk.store, queue=desk.queue, now=now)


def _has_rung(task: Task, *, at: datetime, is_said: bool) -> bool:
    """What rang is meant: it is over, or said to be, or nearer than what is to come."""
    if not task.is_reminder or task.run is None:
        return False
    if is_said or task.status is Status.DELIVERED:
        return True
    if task.status is not Status.PENDING or task.delivered_at is None:
        return False
    return abs(at - task.delivered_at) < abs(task.due_at - at)


def _until(wish: Wish, task: Task, sender: Message, chat: ChatDesk) -> datetime:
    if wish.how_long == "tomorrow":
        zone = zone_named(task.timezone)
        day = to_wall(wish.from_at, zone).date() + _DAY
        return to_instant(datetime.combine(day, to_wall(wish.nominal_at, zone).time()), zone)
    length = read_length(wish.how_long)
    if length is not None:
        return to_millisecond(wish.from_at + length)
    place = zone_of(sender, chat.profiles)
    words = wish.how_long.removeprefix("until ").removeprefix("till ")
    match read_when(words, zone=place.zone, now=sender.at):
        case Unclear(question):
            raise RefusedError(question)
        case When(rest="", delay=None, wall=wall, repeat=None) if wall is not None:
            return to_instant(wall, place.zone)
    raise RefusedError(_HOW_LONG)


def _put_off(task: Task, until: datetime, desk: Desk, *, now: datetime) -> Task:
    wish = partial(change.snoozed, until=until)
    return change_task(task, wish, store=desk.store, queue=desk.queue, now=now)


def _ring_again(task: Task, until: datetime, desk: Desk, *, now: datetime) -> Task:
    for again in _snoozed_after(task, desk):
        if again.status is Status.PENDING:
            return _put_off(again, until, desk, now=now)
        task = again
    raw = {
        "type": REMINDER,
        "channel": task.channel,
        "sender_id": task.sender_id,
        "reply_target": task.reply_target,
        "description": task.description,
        "timezone": task.timezone,
        "due_at": to_text(until),
    }
    new_id = NewId(_id_of_next(task), may_exist=True)
    return create_task(raw, desk, task_id=new_id, now=min(now, until)).task


def _snoozed_after(task: Task, desk: Desk) -> Iterator[Task]:
    """The reminders that this one was snoozed to, one after the other."""
    while found := desk.store.find(_id_of_next(task)):
        task = found[0]
        yield task


def _id_of_next(task: Task) -> str:
    return id_for_key(task.id, f"snoozed {task.run.mutation.key if task.run else ''}")
