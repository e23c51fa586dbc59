"""Check whether a message to a person has to wait for the end of quiet hours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.wait import Wait

if TYPE_CHECKING:
    from duecourse.ports.chat import QuietHoursStore


@dataclass(frozen=True)
class QuietHoursDeferral:
    until: datetime
    wait: Wait


def check_quiet_hours(
    owner: Owner, quiet_hours: QuietHoursStore, *, at: datetime, owner_requested_at: datetime | None
) -> QuietHoursDeferral | None:
    """Return the deferral if the owner's quiet hours cover `at`, else None.

    The cached value may be a minute old, so it is read again before anything is deferred: if the
    quiet hours were removed meanwhile, nothing would release the message.
    """
    deferral = None
    for read in (quiet_hours.get_cached, quiet_hours.get):
        quiet = read(owner)
        until = quiet.deferred_until(at, requested_at=owner_requested_at) if quiet else None
        if quiet is None or until is None:
            return None
        deferral = QuietHoursDeferral(until, quiet.wait(until))
    return deferral
