"""A person says what they want to hear of their tasks, or asks what we take it to be."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification_kind import Notify
from duecourse.domain.chat.parse_quiet_hours import QuietQuestionError, read_quiet_words
from duecourse.domain.chat.timezone_lookup import ZoneQuestionError, find_zone
from duecourse.domain.lifecycle.quiet_hours import QuietTime
from duecourse.domain.text.formatting import spoken_time
from duecourse.usecases.chat.context import ChatDesk
from duecourse.usecases.chat.release_held_reminders import let_through
from duecourse.usecases.chat.sender_timezone import GUESSED, Known, zone_of

_MEANS = {
    Notify.ALL: "all there is to say of your tasks, each retry included",
    Notify.IMPORTANT: "of a first failure, of what needs you, of the end, and when it works again",
    Notify.NONE: "only of what needs you",
}


def answer_notify(wanted: Notify | None, sender: Message, chat: ChatDesk) -> Saying:
    profile = chat.profiles.get(sender.owner)
    if wanted is None:
        level = profile.notify or chat.notify
        others = " or ".join(str(one) for one in Notify if one is not level)
        return Saying(f"{_told(level, 'You hear')} /notify {others} changes that.")
    chat.profiles.save(replace(profile, notify=wanted))
    return Saying(_told(wanted, "From now on you hear"))


def _told(level: Notify, begins: str) -> str:
    return f"{begins} {_MEANS[level]} ({level}). Reminders come in any case."


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


_BECAUSE = {
    Known.TOLD: "Your time zone is {zone}.",
    Known.GUESSED: GUESSED,
    Known.NOT: "I do not know your time zone, so times are in UTC. /timezone <place> sets it, "
    "for example: /timezone Europe/Berlin",
}


def answer_timezone(name: str, sender: Message, chat: ChatDesk, *, now: datetime) -> Saying:
    if not name:
        theirs = zone_of(sender, chat.profiles)
        known = _BECAUSE[theirs.known].format(zone=theirs.name)
        return Saying(f"{known}\nIt is {spoken_time(_minute(now), theirs.name)}.")
    try:
        zone = find_zone(name)
    except ZoneQuestionError as question:
        return Saying(str(question))
    profile = chat.profiles.get(sender.owner)
    chat.profiles.save(replace(profile, timezone=zone.key))
    time = spoken_time(_minute(now), zone.key)
    said = f"Your time zone is {zone.key} from now on. It is {time}."
    return Saying(said + _quiet_there(sender, chat, zone.key, now=now))


def _quiet_there(sender: Message, chat: ChatDesk, zone: str, *, now: datetime) -> str:
    """Whoever sleeps from ten on does so wherever they are, and is awake where it is day."""
    quiet = chat.quiet_hours.latest(sender.owner)
    if quiet is None:
        return ""
    moved = replace(quiet, zone=zone)
    chat.quiet_hours.set(sender.owner, moved)
    come = let_through(moved, sender, chat, now=now)
    return "\n".join(["", f"Your quiet hours are {moved.spoken}.", *come])


def _minute(now: datetime) -> datetime:
    return now.replace(second=0, microsecond=0)
