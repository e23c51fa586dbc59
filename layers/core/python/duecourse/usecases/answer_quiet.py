"""A person says when they are not to be disturbed, or asks when that is."""

from __future__ import annotations

from datetime import datetime
from functools import partial

from duecourse.domain import change
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.quiet_words import QuietQuestionError, read_quiet_words
from duecourse.domain.chat.saying import Saying
from duecourse.domain.errors import IllegalMoveError, RefusedError
from duecourse.domain.quiet_time import WAITS_FOR, QuietTime
from duecourse.domain.status import Status
from duecourse.domain.task import Task
from duecourse.usecases.change_task import change_task
from duecourse.usecases.chat_desk import ChatDesk
from duecourse.usecases.sender_zone import Known, zone_of

_OFF = ("off", "none", "no")
_NONE = "You have no quiet hours. /quiet 22:00-7:00 sets them."
_WAITS = "What would come in them waits until they end. /quiet off ends that."
_WHERE = (
    "I do not know your time zone, so I cannot tell when that is. Say where you are first, "
    "for example: /timezone Europe/Berlin"
)


def answer_quiet(words: str, sender: Message, chat: ChatDesk, *, now: datetime) -> Saying:
    kept = chat.quiet_hours.latest(sender.owner)
    if not words:
        return Saying(f"Your quiet hours are {kept.spoken}. {_WAITS}" if kept else _NONE)
    if words.lower() in _OFF:
        return _turned_off(sender, chat, now=now) if kept else Saying(_NONE)
    theirs = zone_of(sender, chat.profiles)
    if theirs.known is Known.NOT:
        return Saying(_WHERE)
    try:
        start, end = read_quiet_words(words)
    except QuietQuestionError as question:
        return Saying(str(question))
    quiet = QuietTime(start, end, theirs.name)
    chat.quiet_hours.set(sender.owner, quiet)
    lines = [f"Your quiet hours are {quiet.spoken}. {_WAITS}"]
    lines += [theirs.hint] if theirs.hint else []
    if quiet.span_at(now) is None:
        lines += _let_through(sender, chat, now=now)
    return Saying("\n".join(lines))


def _turned_off(sender: Message, chat: ChatDesk, *, now: datetime) -> Saying:
    chat.quiet_hours.set(sender.owner, None)
    come = _let_through(sender, chat, now=now)
    return Saying("\n".join(["You have no quiet hours any more.", *come]))


def _let_through(sender: Message, chat: ChatDesk, *, now: datetime) -> list[str]:
    """What waited for the end of the hours that were: it comes, and is said to."""
    held = [task for task in chat.desk.store.open_of(sender.owner) if _is_held(task)]
    count = sum(_comes(task, chat, now=now) for task in held)
    if not count:
        return []
    return ["1 reminder that waited comes now." if count == 1 else f"{count} that waited come now."]


def _is_held(task: Task) -> bool:
    waits_for = task.waits_for or ""
    return task.status is Status.PENDING and not task.paused and waits_for.startswith(WAITS_FOR)


def _comes(task: Task, chat: ChatDesk, *, now: datetime) -> bool:
    """One that begins to ring at this moment rings anyhow."""
    wish = partial(change.run_now, at=now)
    try:
        change_task(task, wish, store=chat.desk.store, queue=chat.desk.queue, now=now)
    except (IllegalMoveError, RefusedError):
        return False
    return True
