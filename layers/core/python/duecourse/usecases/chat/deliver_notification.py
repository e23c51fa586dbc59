"""Deliver a notification, unless its recipient muted that kind or has quiet hours now."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.chat.staleness import is_stale
from duecourse.domain.chat.stored_reply import add_late_note
from duecourse.domain.errors import (
    ChannelUnauthorizedError,
    RecipientGoneError,
    UnknownTaskError,
)
from duecourse.domain.limits.channel_breaker import MAX_CHANNEL_WAIT
from duecourse.domain.limits.circuit_breaker import Rejected
from duecourse.ports.chat import Profiles, QuietHoursStore
from duecourse.ports.integrations import Channel
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.limits.channel_pause import (
    admit_to_channel,
    pause_channel,
    resume_channel,
)
from duecourse.usecases.limits.circuit_breaker import BreakerDeps
from duecourse.usecases.limits.quiet_hours import check_quiet_hours

LATE_AFTER = timedelta(minutes=5)


class DeliveryOutcome(StrEnum):
    SENT = "notification_sent"
    DEFERRED = "notification_deferred"
    MUTED = "notification_muted"
    STALE = "notification_stale"
    NO_CHANNEL = "notification_without_channel"
    RECIPIENT_GONE = "recipient_gone"
    CHANNEL_PAUSED = "channel_paused"


@dataclass(frozen=True)
class DeliveryResult:
    """`deferred_until` is set for DEFERRED and CHANNEL_PAUSED: when to deliver it.

    `reason` is what the channel said, if it said anything.
    """

    outcome: DeliveryOutcome
    deferred_until: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True)
class NotificationDeps:
    """Dependencies of delivery. `default_notify` holds until a person chooses a level."""

    channels: Mapping[str, Channel]
    profiles: Profiles
    quiet_hours: QuietHoursStore
    store: TaskStore
    default_notify: NotifyLevel
    breakers: BreakerDeps


def deliver_notification(
    notification: Notification, deps: NotificationDeps, *, is_redelivery: bool, now: datetime
) -> DeliveryResult:
    """Deliver the notification or return why not. A late delivery is dropped if it became stale.

    The task is read only for a late delivery. Raises what the channel raises, except
    RecipientGoneError, since a retry cannot help, and ChannelUnauthorizedError, which pauses the
    channel: whatever waits for it is tried again without counting attempts.
    """
    channel = deps.channels.get(notification.channel)
    if channel is None:
        return DeliveryResult(DeliveryOutcome.NO_CHANNEL)
    if (result := _mute_or_defer(notification, deps, now=now)) is not None:
        return result
    has_waited = notification.waiting_since is not None
    if has_waited and (result := _wait_for_channel(notification, deps, now=now)) is not None:
        return result
    is_late = is_redelivery or has_waited or _is_of_old_change(notification, now=now)
    if is_late and _is_stale(notification, deps.store):
        return DeliveryResult(DeliveryOutcome.STALE)
    try:
        _send(notification, channel, now=now)
    except RecipientGoneError as gone:
        return DeliveryResult(DeliveryOutcome.RECIPIENT_GONE, reason=str(gone))
    except ChannelUnauthorizedError as refused:
        return _pause_channel(notification, refused, deps, now=now)
    if has_waited:
        _resume_channel(notification, deps, now=now)
    return DeliveryResult(DeliveryOutcome.SENT)


def _wait_for_channel(
    notification: Notification, deps: NotificationDeps, *, now: datetime
) -> DeliveryResult | None:
    """Return the deferral if the channel is still paused, else None: perhaps this is the probe."""
    if _has_waited_too_long(notification, now=now):
        return None
    channel, key = notification.channel, notification.idempotency_key
    admission = admit_to_channel(channel, key, breakers=deps.breakers, now=now)
    if isinstance(admission, Rejected):
        return DeliveryResult(DeliveryOutcome.CHANNEL_PAUSED, admission.retry_at)
    return None


def _pause_channel(
    notification: Notification,
    refused: ChannelUnauthorizedError,
    deps: NotificationDeps,
    *,
    now: datetime,
) -> DeliveryResult:
    """Pause the channel and defer the notification. Raises `refused` if it has waited too long."""
    channel, key = notification.channel, notification.idempotency_key
    retry_at = pause_channel(channel, key, started_at=now, breakers=deps.breakers, now=now)
    if _has_waited_too_long(notification, now=now):
        raise refused  # it ends as a dead letter, like what a channel refuses for an hour
    return DeliveryResult(DeliveryOutcome.CHANNEL_PAUSED, retry_at, str(refused))


def _has_waited_too_long(notification: Notification, *, now: datetime) -> bool:
    return now - (notification.waiting_since or now) > MAX_CHANNEL_WAIT


def _resume_channel(notification: Notification, deps: NotificationDeps, *, now: datetime) -> None:
    # The notification is sent. If this fails, the next probe resumes the channel.
    with suppress(Exception):
        channel, key = notification.channel, notification.idempotency_key
        resume_channel(channel, key, started_at=now, breakers=deps.breakers, now=now)


def _send(notification: Notification, channel: Channel, *, now: datetime) -> None:
    message, content = notification.reply_to, notification.message
    if message is not None:
        channel.reply(message, add_late_note(content, message, now=now))
    else:
        channel.send(notification.target, content, idempotency_key=notification.idempotency_key)


def _mute_or_defer(
    notification: Notification, deps: NotificationDeps, *, now: datetime
) -> DeliveryResult | None:
    if notification.owner is None:
        return None
    level = deps.profiles.get(notification.owner).notify or deps.default_notify
    if not level.wants(notification.kind):
        return DeliveryResult(DeliveryOutcome.MUTED)
    deferral = check_quiet_hours(
        notification.owner,
        deps.quiet_hours,
        at=now,
        owner_requested_at=notification.owner_requested_at,
    )
    return DeliveryResult(DeliveryOutcome.DEFERRED, deferral.until) if deferral else None


def _is_of_old_change(notification: Notification, *, now: datetime) -> bool:
    """Return whether the journal was late: the task may have changed since."""
    changed_at = notification.changed_at
    return changed_at is not None and now - changed_at > LATE_AFTER


def _is_stale(notification: Notification, store: TaskStore) -> bool:
    if not notification.kind.can_become_stale:
        return False
    try:
        task = store.get(notification.task_id)
    except UnknownTaskError:
        return is_stale(notification, None)
    return is_stale(notification, task)
