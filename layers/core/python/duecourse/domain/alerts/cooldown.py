"""That operators were told of an alert, or are being told: what keeps it from being told twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duecourse.domain.alerts.rules import Alert
from duecourse.domain.time.instant import to_millisecond

# Telling takes seconds. Whoever has not said by then that it is done has died.
LEASE = timedelta(minutes=2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Telling:
    """`since` is when it was begun, also for whoever goes on after the first one died.

    `until` then nobody else tells it: while it is being told that is the lease of whoever does,
    afterwards (`is_done`) the alert's cooldown.
    """

    level: int
    since: datetime
    until: datetime
    is_done: bool = False
    version: int = 1

    def silences(self, alert: Alert, *, now: datetime) -> bool:
        """What has got worse is told at once, but not while somebody is telling of it."""
        return now < self.until and not (self.is_done and alert.level > self.level)

    def ended(self, alert: Alert) -> Telling:
        return replace(
            self, until=to_millisecond(alert.quiet_until), is_done=True, version=self.version + 1
        )


def begun(alert: Alert, before: Telling | None, *, now: datetime) -> Telling:
    """To be told now. What somebody began and did not end is the same telling still."""
    now = to_millisecond(now)
    fresh = Telling(level=alert.level, since=now, until=now + LEASE)
    if before is None:
        return fresh
    goes_on = not before.is_done and before.level == alert.level
    since = before.since if goes_on else now
    return replace(fresh, since=since, version=before.version + 1)
