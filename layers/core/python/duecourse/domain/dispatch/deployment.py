"""The deployed version as the sweeper knows it: tasks that wait for mended code ask for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

# As long, containers of the version before may run on, and what they fail of be recorded.
CHANGE_OVER = timedelta(minutes=15)


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """`is_done`: all that waited for this version was looked at after the change-over."""

    version: str
    since: datetime
    is_done: bool = False

    def looked_at_all(self, *, at: datetime) -> Deployment:
        """`at` is when that look began."""
        return replace(self, is_done=at >= self.since + CHANGE_OVER)


def deployed(version: str, known: Deployment | None, *, at: datetime) -> Deployment:
    if known is not None and known.version == version:
        return known
    return Deployment(version=version, since=at)
