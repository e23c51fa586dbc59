"""Tell somebody what became of their task, if they want to hear it and may be disturbed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from duecourse.domain.chat.kind import Notify
from duecourse.domain.chat.notice import Notice
from duecourse.domain.errors import RecipientGoneError
from duecourse.ports.outside import Channel
from duecourse.ports.people import Profiles, QuietHours


class Told(StrEnum):
    SENT = "notice_sent"
    HELD = "notice_held"
    NOT_WANTED = "notice_unwanted"
    NO_CHANNEL = "notice_without_channel"
    NOBODY = "recipient_gone"


@dataclass(frozen=True)
class Given:
    """`until` is when it may be told, where it is held."""

    told: Told
    until: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Crier:
    """`notify` is what people hear until they say otherwise."""

    channels: Mapping[str, Channel]
    profiles: Profiles
    quiet_hours: QuietHours
    notify: Notify = Notify.IMPORTANT


def give_notice(notice: Notice, crier: Crier, *, now: datetime) -> Given:
    """Raises what the channel raises, but for somebody who is gone: at the next try they will not
    hear it either, nor will a channel be set up that is not."""
    channel = crier.channels.get(notice.channel)
    if channel is None:
        return Given(Told.NO_CHANNEL)
    if (kept := _kept_back(notice, crier, now=now)) is not None:
        return kept
    try:
        channel.send(notice.target, notice.saying, key=notice.key)
    except RecipientGoneError as gone:
        return Given(Told.NOBODY, reason=str(gone))
    return Given(Told.SENT)


def _kept_back(notice: Notice, crier: Crier, *, now: datetime) -> Given | None:
    if notice.owner is None:
        return None
    wants = crier.profiles.get(notice.owner).notify or crier.notify
    if not wants.wants(notice.kind):
        return Given(Told.NOT_WANTED)
    quiet = crier.quiet_hours.of(notice.owner)
    until = quiet.holds_until(now, wanted_at=notice.wanted_at) if quiet else None
    return None if until is None else Given(Told.HELD, until)
