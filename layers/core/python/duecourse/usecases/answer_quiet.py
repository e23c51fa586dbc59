"""A person says when they are not to be disturbed, or asks when that is."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.parse_quiet_hours import QuietQuestionError, read_quiet_words
from duecourse.domain.lifecycle.quiet_hours import QuietTime
from duecourse.usecases.chat_desk import ChatDesk
from duecourse.usecases.let_through import let_through
from duecourse.usecases.sender_zone import Known, zone_of

_OFF = ("off", "none", "no")
_NONE = "You have no quiet hours. /quiet 22:00-7:00 sets them."
_ENDED = "You have no quiet hours any more."
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
        return _turned_off(sender, chat, were_set=kept is not None, now=now)
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
    lines += let_through(quiet, sender, chat, now=now)
    return Saying("\n".join(lines))


def _turned_off(sender: Message, chat: ChatDesk, *, were_set: bool, now: datetime) -> Saying:
    """Whoever dies halfway hears this again: the hours are gone then, what they held is not."""
    if were_set:
        chat.quiet_hours.set(sender.owner, None)
    come = let_through(None, sender, chat, now=now)
    ended = were_set or bool(come)
    return Saying("\n".join([_ENDED, *come]) if ended else _NONE)
