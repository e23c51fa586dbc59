"""Tell somebody what became of their task, if they want to hear it and may be disturbed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from duecourse.domain.chat.notification import Notice
from duecourse.domain.chat.notification_kind import Notify
from duecourse.domain.chat.staleness import is_outdated
from duecourse.domain.errors import RecipientGoneError, UnknownTaskError
from duecourse.ports.chat import Profiles, QuietHours
from duecourse.ports.integrations import Channel
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.limits.quiet_hours import hold_back


class Told(StrEnum):
    SENT = "notice_sent"
    HELD = "notice_held"
    NOT_WANTED = "notice_unwanted"
    OUTDATED = "notice_outdated"
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
    """`store` has the tasks; `notify` is what people hear until they say otherwise."""

    channels: Mapping[str, Channel]
    profiles: Profiles
    quiet_hours: QuietHours
    store: TaskStore
    notify: Notify


def give_notice(notice: Notice, crier: Crier, *, has_waited: bool, now: datetime) -> Given:
    """What `has_waited` is told if it still holds: only for that its task is read.

    Raises what the channel raises, but for somebody who is gone: at the next try they will not
    hear it either, nor will a channel be set up that is not.
    """
    channel = crier.channels.get(notice.channel)
    if channel is None:
        return Given(Told.NO_CHANNEL)
    if (kept := _kept_back(notice, crier, now=now)) is not None:
        return kept
    if has_waited and _is_over(notice, crier.store):
        return Given(Told.OUTDATED)
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
    hold = hold_back(notice.owner, crier.quiet_hours, at=now, wanted_at=notice.wanted_at)
    return Given(Told.HELD, hold.until) if hold else None


def _is_over(notice: Notice, store: TaskStore) -> bool:
    if not notice.kind.may_be_outdated:
        return False
    try:
        task = store.get(notice.task_id)
    except UnknownTaskError:
        return is_outdated(notice, None)
    return is_outdated(notice, task)
