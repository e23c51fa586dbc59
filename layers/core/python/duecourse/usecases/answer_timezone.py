"""A person says where they are, or asks what we take it to be."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.timezone_lookup import ZoneQuestionError, find_zone
from duecourse.domain.text.formatting import spoken_time
from duecourse.usecases.chat_desk import ChatDesk
from duecourse.usecases.let_through import let_through
from duecourse.usecases.sender_zone import GUESSED, Known, zone_of

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
