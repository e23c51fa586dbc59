"""What is kept of people, in memory."""

from __future__ import annotations

from duecourse.domain.owner import Owner
from duecourse.domain.quiet_time import QuietTime


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
