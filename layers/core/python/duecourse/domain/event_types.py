"""The types of live events: all that the bus and the WebSockets ever tell of."""

from __future__ import annotations

EVENT_TYPES = frozenset(
    {
        "task:created",
        "task:changed",
        "task:paused",
        "task:resumed",
        "task:parked",
        "task:undelivered",
        "task:skipped",
        "task:started",
        "task:delivered",
        "task:completed",
        "task:cancelled",
        "task:failed",
        "task:retry_scheduled",
        "task:retry_executed",
        "task:retry_exhausted",
        "task:recovery_action",
        "task:spec_refresh_requested",
        "task:escalated",
        "task:permanently_blocked",
        "task:unblocked",
        "task:indeterminate",
        "task:resolved",
        "task:reclassified",
        "task:verification_requested",
        "task:approved",
        "budget:exceeded",
        "breaker:opened",
        "breaker:closed",
    }
)
# `task:` stands for all that begin so.
EVENT_FAMILIES = frozenset(f"{kind.partition(':')[0]}:" for kind in EVENT_TYPES)
