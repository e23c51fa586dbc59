"""The deployed code version, as the sweeper tracks it for tasks that wait for a fixed handler."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

# Containers of the previous version may still run, and report failures, for this long.
ROLLOUT_PERIOD = timedelta(minutes=15)


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A deployed version. `is_rescan_done`: all tasks waiting for it were checked after rollout."""

    version: str
    first_seen_at: datetime
    is_rescan_done: bool = False

    def finish_scan(self, *, scan_started_at: datetime) -> Deployment:
        """Record a finished scan. It completes the rescan only if it started after the rollout."""
        return replace(self, is_rescan_done=scan_started_at >= self.first_seen_at + ROLLOUT_PERIOD)


def track_version(version: str, previous: Deployment | None, *, at: datetime) -> Deployment:
    if previous is not None and previous.version == version:
        return previous
    return Deployment(version=version, first_seen_at=at)
