"""Events of tasks, budgets and circuit breakers, and their types."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class Event:
    """One event. For an event of a circuit breaker, `task_id` holds the breaker's key."""

    type: EventType
    task_id: str
    at: datetime
    detail: dict[str, Any] = field(default_factory=dict)


class EventType(StrEnum):
    TASK_CREATED = "task:created"
    TASK_CHANGED = "task:changed"
    TASK_PAUSED = "task:paused"
    TASK_RESUMED = "task:resumed"
    TASK_PARKED = "task:parked"
    TASK_UNDELIVERED = "task:undelivered"
    TASK_SKIPPED = "task:skipped"
    TASK_STARTED = "task:started"
    TASK_DELIVERED = "task:delivered"
    TASK_COMPLETED = "task:completed"
    TASK_CANCELLED = "task:cancelled"
    TASK_FAILED = "task:failed"
    TASK_RETRY_SCHEDULED = "task:retry_scheduled"
    TASK_RETRY_EXECUTED = "task:retry_executed"
    TASK_RETRY_EXHAUSTED = "task:retry_exhausted"
    TASK_RECOVERY_ACTION = "task:recovery_action"
    TASK_SPEC_REFRESH_REQUESTED = "task:spec_refresh_requested"
    TASK_ESCALATED = "task:escalated"
    TASK_PERMANENTLY_BLOCKED = "task:permanently_blocked"
    TASK_UNBLOCKED = "task:unblocked"
    TASK_INDETERMINATE = "task:indeterminate"
    TASK_RESOLVED = "task:resolved"
    TASK_RECLASSIFIED = "task:reclassified"
    TASK_CORRECTED = "task:corrected"
    TASK_VERIFICATION_REQUESTED = "task:verification_requested"
    TASK_APPROVED = "task:approved"
    BUDGET_EXCEEDED = "budget:exceeded"
    BREAKER_OPENED = "breaker:opened"
    BREAKER_CLOSED = "breaker:closed"

    @property
    def family(self) -> str:
        """Return the prefix that selects all types of this kind, such as `task:`."""
        return f"{self.partition(':')[0]}:"


EVENT_FAMILIES = frozenset(event_type.family for event_type in EventType)
