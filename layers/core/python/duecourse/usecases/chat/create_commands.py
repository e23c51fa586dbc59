"""A person wants to be reminded, or something done: make the task, and say what was understood."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.duplicates import near_duplicate
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.parse_reminder import read_reminder, read_time_at_end
from duecourse.domain.errors import IdempotencyConflictError
from duecourse.domain.naturaltime import Unclear, When, read_when
from duecourse.domain.tasks.task import ACTION, REMINDER, Task
from duecourse.domain.text.describe_recurrence import spoken_repeat
from duecourse.domain.text.formatting import quoted, spoken_time
from duecourse.domain.time.instant import to_millisecond, to_text
from duecourse.domain.time.timezones import to_instant
from duecourse.usecases.chat.context import MOST_LATE, TOO_LATE, ChatDesk
from duecourse.usecases.chat.quiet_hours_hint import quiet_hint
from duecourse.usecases.chat.sender_timezone import SenderZone, zone_of
from duecourse.usecases.tasks.create_task import NewId, create_task

_WHEN = "When? For example: /remind in 10 minutes stretch"
_WHAT = "What about? For example: /remind in 10 minutes stretch"
_AT_END = (
    "Is the time at the end when it is to be done? Then begin with it: /do <when> <what>. "
    "If not: /do now <what>."
)
_NOBODY = "Nothing can be done here: no provider is set up."


@dataclass(frozen=True)
class Wanted:
    """`when` is None where it is to be done at once."""

    type: str
    description: str
    when: When | None
    payload: dict[str, Any] | None = None


def answer_remind(words: str, sender: Message, chat: ChatDesk, *, now: datetime) -> Saying:
    theirs = zone_of(sender, chat.profiles)
    when = read_reminder(words, zone=theirs.zone, now=sender.at)
    if when is None:
        return Saying(_WHEN)
    if isinstance(when, Unclear):
        return Saying(when.question)
    if not when.rest:
        return Saying(_WHAT)
    return _make(Wanted(REMINDER, when.rest, when), sender, chat, theirs, now=now)


def answer_do(words: str, sender: Message, chat: ChatDesk, *, now: datetime) -> Saying:
    if not chat.providers:
        return Saying(_NOBODY)
    theirs = zone_of(sender, chat.profiles)
    when = read_when(words, zone=theirs.zone, now=sender.at)
    if isinstance(when, Unclear):
        return Saying(when.question)
    if when is None and read_time_at_end(words, zone=theirs.zone, now=sender.at):
        return Saying(_AT_END)
    if when and not when.rest:
        return Saying("What is to be done? For example: /do at 18:00 sum up the day")
    payload = {"provider": chat.providers[0]}
    wanted = Wanted(ACTION, when.rest if when else words, when, payload)
    return _make(wanted, sender, chat, theirs, now=now)


def _make(
    wanted: Wanted, sender: Message, chat: ChatDesk, theirs: SenderZone, *, now: datetime
) -> Saying:
    due_at = _instant(wanted.when, sender.at, theirs)
    if now - due_at > MOST_LATE:
        made = chat.desk.store.find(sender.task_id, owner=sender.owner)
        return _told(made[0], wanted, sender, chat, theirs) if made else Saying(TOO_LATE)
    raw = _request(wanted, sender, theirs)
    new_id = NewId(sender.task_id, may_exist=True)
    try:
        # Nothing is in the past that was ahead when they said it.
        task = create_task(raw, chat.desk, task_id=new_id, now=min(now, due_at)).task
    except IdempotencyConflictError:
        task = chat.desk.store.get(sender.task_id)  # their clock was another then
    return _told(task, wanted, sender, chat, theirs)


def _instant(when: When | None, said_at: datetime, theirs: SenderZone) -> datetime:
    if when is not None and when.wall is not None:
        return to_instant(when.wall, theirs.zone)
    return to_millisecond(said_at + (when.delay or timedelta(0) if when else timedelta(0)))


def _request(wanted: Wanted, sender: Message, theirs: SenderZone) -> dict[str, Any]:
    """The same however often the message is delivered, so nothing in it is from now."""
    wall = wanted.when.wall if wanted.when else None
    raw: dict[str, Any] = {
        "type": wanted.type,
        "channel": sender.channel,
        "sender_id": sender.sender_id,
        "reply_target": sender.reply_target,
        "description": wanted.description,
        "timezone": theirs.name,
        "due_at": wall.isoformat() if wall else to_text(_instant(wanted.when, sender.at, theirs)),
    }
    if wanted.when and wanted.when.repeat:
        raw["repeat"] = wanted.when.repeat
    return raw if wanted.payload is None else raw | {"payload": wanted.payload}


def _told(
    task: Task, wanted: Wanted, sender: Message, chat: ChatDesk, theirs: SenderZone
) -> Saying:
    kind = "Reminder" if task.is_reminder else "Action"
    starts = "starts now" if wanted.when is None else f"set for {_when(task, theirs)}"
    lines = [f"{kind} {task.short_id} {starts}: {task.description}"]
    if task.repeat:
        lines.append(f"It repeats {spoken_repeat(task.repeat, task.anchor)}.")
    if theirs.hint and wanted.when and wanted.when.wall:
        lines.append(theirs.hint)
    if hint := quiet_hint(task, task.due_at, sender, chat, zone=theirs.name_for(task)):
        lines.append(hint)
    if other := near_duplicate(task, _others(sender, chat)):
        lines.append(
            f"You have one like it: {other.short_id}, {_when(other, theirs)}: "
            f"{quoted(other.description)}. /cancel {other.short_id} if one is enough."
        )
    return Saying("\n".join(lines))


def _others(sender: Message, chat: ChatDesk) -> list[Task]:
    """Theirs that may be spoken of here."""
    theirs = chat.desk.store.open_of(sender.owner)
    return [task for task in theirs if sender.is_place_of(task.reply_target)]


def _when(task: Task, theirs: SenderZone) -> str:
    return spoken_time(task.due_at, theirs.name_for(task))
