"""That operators were told of an alert, or are being told: what keeps it from being told twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duecourse.domain.alerts.rules import Alert
from duecourse.domain.time.instant import truncate_to_millisecond

# Telling takes seconds. Whoever has not said by then that it is done has died.
SEND_LEASE = timedelta(minutes=2)


@dataclass(frozen=True, kw_only=True, slots=True)
class AlertCooldown:
    """`since` is when it was begun, also for whoever goes on after the first one died.

    `until` then nobody else tells it: while it is being told that is the lease of whoever does,
    afterwards (`is_done`) the alert's cooldown.
    """

    level: int
    started_at: datetime
    suppressed_until: datetime
    is_sent: bool = False
    version: int = 1

    def suppresses(self, alert: Alert, *, now: datetime) -> bool:
        """What has got worse is told at once, but not while somebody is telling of it."""
        return now < self.suppressed_until and not (self.is_sent and alert.level > self.level)

    def mark_sent(self, alert: Alert) -> AlertCooldown:
        return replace(
            self,
            suppressed_until=truncate_to_millisecond(alert.cooldown_until),
            is_sent=True,
            version=self.version + 1,
        )


def begin_send(alert: Alert, previous: AlertCooldown | None, *, now: datetime) -> AlertCooldown:
    """To be told now. What somebody began and did not end is the same telling still."""
    now = truncate_to_millisecond(now)
    fresh = AlertCooldown(level=alert.level, started_at=now, suppressed_until=now + SEND_LEASE)
    if previous is None:
        return fresh
    goes_on = not previous.is_sent and previous.level == alert.level
    since = previous.started_at if goes_on else now
    return replace(fresh, started_at=since, version=previous.version + 1)
