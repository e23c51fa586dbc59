"""The statuses of a task and the one table of legal transitions between them.

docs/lifecycle.md describes what moves a task out of each status after a crash.
"""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    PENDING_VERIFICATION = "pending_verification"
    DELIVERED = "delivered"
    COMPLETED = "completed"
    FAILED = "failed"
    BLOCKED = "blocked"
    CANCELLED = "cancelled"


# A status may follow itself: a pending task is edited, paused, resumed or run now; a task in
# progress reaches its next phase; a task pending verification gets a verifier. If a person
# reclassifies a failure, or a worker reports late about a run that was taken for crashed, the task
# moves from pending, blocked or failed to where the run would have moved it from in_progress.
TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset(
        {
            Status.PENDING,
            Status.IN_PROGRESS,
            Status.DELIVERED,
            Status.COMPLETED,
            Status.FAILED,
            Status.BLOCKED,
            Status.CANCELLED,
        }
    ),
    Status.IN_PROGRESS: frozenset(
        {
            Status.PENDING,
            Status.IN_PROGRESS,
            Status.PENDING_VERIFICATION,
            Status.DELIVERED,
            Status.COMPLETED,
            Status.FAILED,
            Status.BLOCKED,
        }
    ),
    Status.PENDING_VERIFICATION: frozenset(
        {
            Status.PENDING,
            Status.PENDING_VERIFICATION,
            Status.COMPLETED,
            Status.FAILED,
            Status.BLOCKED,
            Status.CANCELLED,
        }
    ),
    Status.BLOCKED: frozenset(
        {
            Status.PENDING,
            Status.DELIVERED,
            Status.COMPLETED,
            Status.FAILED,
            Status.BLOCKED,
            Status.CANCELLED,
        }
    ),
    Status.FAILED: frozenset(
        {
            Status.PENDING,
            Status.DELIVERED,
            Status.COMPLETED,
            Status.FAILED,
            Status.BLOCKED,
        }
    ),
    Status.DELIVERED: frozenset(),
    Status.COMPLETED: frozenset(),
    Status.CANCELLED: frozenset(),
}

CLOSED_STATUSES = frozenset({Status.DELIVERED, Status.COMPLETED, Status.FAILED, Status.CANCELLED})
