"""Whether what would come waits for somebody's quiet hours to end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.wait import Wait
from duecourse.ports.chat import QuietHoursStore


@dataclass(frozen=True)
class QuietHoursDeferral:
    until: datetime
    wait: Wait


def check_quiet_hours(
    owner: Owner, quiet_hours: QuietHoursStore, *, at: datetime, owner_requested_at: datetime | None
) -> QuietHoursDeferral | None:
    """What would come at this instant is held; None where it comes.

    That is asked for all that comes, and may be known from a minute ago. So before something waits,
    what holds now is read: nobody would let it through again.
    """
    hold = None
    for known in (quiet_hours.get_cached, quiet_hours.get):
        quiet = known(owner)
        until = quiet.deferred_until(at, requested_at=owner_requested_at) if quiet else None
        if quiet is None or until is None:
            return None
        hold = QuietHoursDeferral(until, quiet.wait(until))
    return hold
