"""Send alerts to the operators, each at most once per cooldown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.alerts.cooldown import AlertCooldown, begin_send
from duecourse.domain.alerts.rules import Alert
from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.notification import Notification
from duecourse.domain.time.instant import to_text
from duecourse.ports.dispatch import AlertCooldownStore
from duecourse.ports.queues import NotificationQueue


@dataclass(frozen=True)
class AlertDeps:
    operator_chats: Sequence[ChatAddress]
    cooldowns: AlertCooldownStore
    notification_queue: NotificationQueue


def send_alerts(alerts: Sequence[Alert], deps: AlertDeps, *, now: datetime) -> list[str]:
    """Send the alerts that are not cooling down; return their names.

    Each is sent at least once while it lasts, and once per cooldown even if several processes run
    this at the same time. After a crash before the alert is marked as sent, it is sent again with
    the same idempotency key. An error does not stop the other alerts; the errors are raised as a
    group.
    """
    sent, errors = [], []
    for alert in alerts if deps.operator_chats else ():
        try:
            if _send_once(alert, deps, now):
                sent.append(alert.name)
        except Exception as error:  # noqa: BLE001 - raised below
            errors.append(error)
    if errors:
        raise ExceptionGroup("some alerts could not be sent", errors)
    return sent


def _send_once(alert: Alert, deps: AlertDeps, now: datetime) -> bool:
    """Send the alert; return False if it is cooling down or another process sends it."""
    before = deps.cooldowns.get(alert.topic)
    if before is not None and before.suppresses(alert, now=now):
        return False
    cooldown = begin_send(alert, before, now=now)
    if not deps.cooldowns.compare_and_set(alert.topic, before, cooldown):
        return False
    for operator in deps.operator_chats:
        if operator.channel == alert.unreachable_channel:
            continue
        deps.notification_queue.send(_to_notification(alert, operator, cooldown))
    deps.cooldowns.compare_and_set(alert.topic, cooldown, cooldown.mark_sent(alert))
    return True


def _to_notification(alert: Alert, chat: ChatAddress, cooldown: AlertCooldown) -> Notification:
    return Notification(
        channel=chat.channel,
        target=chat.target,
        message=ChatMessage(alert.text),
        idempotency_key=f"alert:{alert.name}:{to_text(cooldown.started_at)}:{chat}",
        task_id=f"alert:{alert.name}",
    )
