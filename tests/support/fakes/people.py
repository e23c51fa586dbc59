"""What is kept of people, in memory."""

from __future__ import annotations

from duecourse.domain.lifecycle.quiet_hours import QuietHours
from duecourse.domain.tasks.owner import Owner


class MemoryQuietHours:
    def __init__(self) -> None:
        self.kept: dict[Owner, QuietHours] = {}

    def get_cached(self, owner: Owner) -> QuietHours | None:
        return self.kept.get(owner)

    get = get_cached

    def set(self, owner: Owner, quiet_hours: QuietHours | None) -> None:
        if quiet_hours is None:
            self.kept.pop(owner, None)
        else:
            self.kept[owner] = quiet_hours
