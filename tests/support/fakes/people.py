"""What is kept of people, in memory."""

from __future__ import annotations

from duecourse.domain.lifecycle.quiet_hours import QuietTime
from duecourse.domain.tasks.owner import Owner


class MemoryQuietHours:
    def __init__(self) -> None:
        self.kept: dict[Owner, QuietTime] = {}

    def of(self, owner: Owner) -> QuietTime | None:
        return self.kept.get(owner)

    latest = of

    def set(self, owner: Owner, quiet: QuietTime | None) -> None:
        if quiet is None:
            self.kept.pop(owner, None)
        else:
            self.kept[owner] = quiet
