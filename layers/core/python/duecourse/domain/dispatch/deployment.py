"""The deployed version as the sweeper knows it: tasks that wait for mended code ask for it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

# As long, containers of the version before may run on, and what they fail of be recorded.
ROLLOUT_PERIOD = timedelta(minutes=15)


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """`is_done`: all that waited for this version was looked at after the change-over."""

    version: str
    first_seen_at: datetime
    is_rescan_done: bool = False

    def finish_scan(self, *, scan_started_at: datetime) -> Deployment:
        """`at` is when that look began."""
        return replace(self, is_rescan_done=scan_started_at >= self.first_seen_at + ROLLOUT_PERIOD)


def track_version(version: str, previous: Deployment | None, *, at: datetime) -> Deployment:
    if previous is not None and previous.version == version:
        return previous
    return Deployment(version=version, first_seen_at=at)
