"""Cooldown of an alert: prevents it from being sent twice, or by two senders at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duecourse.domain.alerts.rules import Alert
from duecourse.domain.time.instant import truncate_to_millisecond

# Sending takes seconds. A sender that has not finished by then has crashed.
SEND_LEASE = timedelta(minutes=2)


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertCooldown:
    """The state of sending one alert.

    `started_at` is when sending began; it stays if another sender takes over after a crash. Nobody
    else sends before `suppressed_until`: the sender's lease while sending, the alert's cooldown
    once `is_sent`.
    """

    level: int
    started_at: datetime
    suppressed_until: datetime
    is_sent: bool = False
    version: int = 1

    def suppresses(self, alert: Alert, *, now: datetime) -> bool:
        """Return True if the alert must not be sent now.

        A higher level is sent at once, unless another sender is just sending.
        """
        return now < self.suppressed_until and not (self.is_sent and alert.level > self.level)

    def mark_sent(self, alert: Alert) -> AlertCooldown:
        return replace(
            self,
            suppressed_until=truncate_to_millisecond(alert.cooldown_until),
            is_sent=True,
            version=self.version + 1,
        )


def begin_send(alert: Alert, previous: AlertCooldown | None, *, now: datetime) -> AlertCooldown:
    """Return the cooldown that leases the alert to this sender.

    If the previous sender did not finish, this continues its send and keeps `started_at`.
    """
    now = truncate_to_millisecond(now)
    fresh = AlertCooldown(level=alert.level, started_at=now, suppressed_until=now + SEND_LEASE)
    if previous is None:
        return fresh
    is_same_send = not previous.is_sent and previous.level == alert.level
    since = previous.started_at if is_same_send else now
    return replace(fresh, started_at=since, version=previous.version + 1)
