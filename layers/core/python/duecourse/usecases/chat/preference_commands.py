"""The commands for personal settings (/notify, /quiet, /timezone): show or change them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.chat.parse_quiet_hours import QuietHoursClarificationError, parse_quiet_hours
from duecourse.domain.chat.timezone_lookup import TimezoneClarificationError, find_timezone
from duecourse.domain.lifecycle.quiet_hours import QuietHours
from duecourse.domain.text.formatting import format_time
from duecourse.usecases.chat.context import ChatContext
from duecourse.usecases.chat.release_held_reminders import release_held_reminders
from duecourse.usecases.chat.sender_timezone import GUESSED_HINT, ZoneSource, find_sender_timezone

_LEVEL_DESCRIPTIONS = {
    NotifyLevel.ALL: "everything about your tasks, including each retry",
    NotifyLevel.IMPORTANT: "first failures, questions for you, final results and recoveries",
    NotifyLevel.NONE: "only questions for you",
}


def handle_notify(
    requested_level: NotifyLevel | None, message: Message, context: ChatContext
) -> ChatMessage:
    profile = context.profiles.get(message.owner)
    if requested_level is None:
        level = profile.notify or context.default_notify
        others = " or ".join(f"/notify {other}" for other in NotifyLevel if other is not level)
        return ChatMessage(f"{_level_text(level)} Change it: {others}")
    context.profiles.save(replace(profile, notify=requested_level))
    return ChatMessage(_level_text(requested_level))


def _level_text(level: NotifyLevel) -> str:
    return f"Notifications: {level} ({_LEVEL_DESCRIPTIONS[level]}). Reminders always come."


_OFF_WORDS = ("off", "none", "no")
_NOT_SET = "You have no quiet hours. Example: /quiet 22:00-7:00"
_TURNED_OFF = "Your quiet hours are off."
_DEFERRAL_NOTE = "Reminders and notifications wait until they end. Turn them off: /quiet off"
_ASK_TIMEZONE = "I need your time zone first. Example: /timezone Europe/Berlin"


def handle_quiet_hours(
    text: str, message: Message, context: ChatContext, *, now: datetime
) -> ChatMessage:
    quiet = context.quiet_hours.get(message.owner)
    if not text:
        return ChatMessage(
            f"Your quiet hours are {quiet.description}. {_DEFERRAL_NOTE}" if quiet else _NOT_SET
        )
    if text.lower() in _OFF_WORDS:
        return _turn_off(message, context, is_set=quiet is not None, now=now)
    sender_timezone = find_sender_timezone(message, context.profiles)
    if sender_timezone.source is ZoneSource.UNKNOWN:
        return ChatMessage(_ASK_TIMEZONE)
    try:
        start, end = parse_quiet_hours(text)
    except QuietHoursClarificationError as question:
        return ChatMessage(str(question))
    quiet = QuietHours(start, end, sender_timezone.name)
    context.quiet_hours.set(message.owner, quiet)
    lines = [f"Your quiet hours are {quiet.description}. {_DEFERRAL_NOTE}"]
    lines += [sender_timezone.hint] if sender_timezone.hint else []
    lines += release_held_reminders(quiet, message, context, now=now)
    return ChatMessage("\n".join(lines))


def _turn_off(
    message: Message, context: ChatContext, *, is_set: bool, now: datetime
) -> ChatMessage:
    """Remove the quiet hours and release what they deferred.

    After a crash in between, a redelivery finds no quiet hours but still releases the reminders.
    """
    if is_set:
        context.quiet_hours.set(message.owner, None)
    released = release_held_reminders(None, message, context, now=now)
    ended = is_set or bool(released)
    return ChatMessage("\n".join([_TURNED_OFF, *released]) if ended else _NOT_SET)


_TIMEZONE_TEXTS = {
    ZoneSource.SET_BY_USER: "Your time zone is {zone}.",
    ZoneSource.GUESSED: GUESSED_HINT,
    ZoneSource.UNKNOWN: "Your time zone is not set, so times are in UTC. Set it: /timezone <place>",
}


def handle_timezone(
    name: str, message: Message, context: ChatContext, *, now: datetime
) -> ChatMessage:
    if not name:
        sender_timezone = find_sender_timezone(message, context.profiles)
        description = _TIMEZONE_TEXTS[sender_timezone.source].format(zone=sender_timezone.name)
        local_time = format_time(_truncate_to_minute(now), sender_timezone.name)
        return ChatMessage(f"{description}\nLocal time: {local_time}")
    try:
        zone = find_timezone(name)
    except TimezoneClarificationError as question:
        return ChatMessage(str(question))
    profile = context.profiles.get(message.owner)
    context.profiles.save(replace(profile, timezone=zone.key))
    time = format_time(_truncate_to_minute(now), zone.key)
    reply = f"Your time zone is now {zone.key}. Local time: {time}"
    return ChatMessage(reply + _move_quiet_hours(message, context, zone.key, now=now))


def _move_quiet_hours(message: Message, context: ChatContext, zone: str, *, now: datetime) -> str:
    """Move quiet hours to the new zone and keep their wall-clock times."""
    quiet = context.quiet_hours.get(message.owner)
    if quiet is None:
        return ""
    moved = replace(quiet, timezone=zone)
    context.quiet_hours.set(message.owner, moved)
    released = release_held_reminders(moved, message, context, now=now)
    return "\n".join(["", f"Your quiet hours are {moved.description}.", *released])


def _truncate_to_minute(now: datetime) -> datetime:
    return now.replace(second=0, microsecond=0)
