"""Whether what would come waits for somebody's quiet hours to end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.wait import Wait
from duecourse.ports.chat import QuietHours


@dataclass(frozen=True)
class Hold:
    until: datetime
    wait: Wait


def hold_back(
    owner: Owner, quiet_hours: QuietHours, *, at: datetime, wanted_at: datetime | None
) -> Hold | None:
    """What would come at this instant is held; None where it comes.

    That is asked for all that comes, and may be known from a minute ago. So before something waits,
    what holds now is read: nobody would let it through again.
    """
    hold = None
    for known in (quiet_hours.of, quiet_hours.latest):
        quiet = known(owner)
        until = quiet.holds_until(at, wanted_at=wanted_at) if quiet else None
        if quiet is None or until is None:
            return None
        hold = Hold(until, quiet.wait(until))
    return hold
