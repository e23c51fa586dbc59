"""Deliver a notification, unless its recipient muted that kind or has quiet hours now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.chat.staleness import is_stale
from duecourse.domain.chat.stored_reply import add_late_note
from duecourse.domain.errors import RecipientGoneError, UnknownTaskError
from duecourse.ports.chat import Profiles, QuietHoursStore
from duecourse.ports.integrations import Channel
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.limits.quiet_hours import check_quiet_hours


class DeliveryOutcome(StrEnum):
    SENT = "notification_sent"
    DEFERRED = "notification_deferred"
    MUTED = "notification_muted"
    STALE = "notification_stale"
    NO_CHANNEL = "notification_without_channel"
    RECIPIENT_GONE = "recipient_gone"


@dataclass(frozen=True)
class DeliveryResult:
    """`deferred_until` is set for DEFERRED: when the notification may be delivered."""

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


def deliver_notification(
    notification: Notification, deps: NotificationDeps, *, is_redelivery: bool, now: datetime
) -> DeliveryResult:
    """Deliver the notification or return why not. A redelivery is dropped if it has become stale.

    The task is read only for a redelivery. Raises what the channel raises, except
    RecipientGoneError: a retry cannot help there, nor if the channel is not configured.
    """
    channel = deps.channels.get(notification.channel)
    if channel is None:
        return DeliveryResult(DeliveryOutcome.NO_CHANNEL)
    if (result := _mute_or_defer(notification, deps, now=now)) is not None:
        return result
    if is_redelivery and _is_stale(notification, deps.store):
        return DeliveryResult(DeliveryOutcome.STALE)
    try:
        _send(notification, channel, now=now)
    except RecipientGoneError as gone:
        return DeliveryResult(DeliveryOutcome.RECIPIENT_GONE, reason=str(gone))
    return DeliveryResult(DeliveryOutcome.SENT)


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


def _is_stale(notification: Notification, store: TaskStore) -> bool:
    if not notification.kind.can_become_stale:
        return False
    try:
        task = store.get(notification.task_id)
    except UnknownTaskError:
        return is_stale(notification, None)
    return is_stale(notification, task)
