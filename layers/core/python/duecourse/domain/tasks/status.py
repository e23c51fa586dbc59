"""The states of a task and the one table of legal moves between them.

docs/lifecycle.md says in words who moves a task out of each state after a crash.
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


# pending -> pending is a change that leaves the task waiting: edited, paused, resumed, run now;
# in_progress -> in_progress a phase that was reached; pending_verification -> the same: a verifier
# is asked. From pending, blocked and failed a failure that a person reclassifies may lead to
# whatever it leads to from in_progress.
TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset(
        {
            Status.PENDING,
            Status.IN_PROGRESS,
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
            Status.COMPLETED,
            Status.FAILED,
            Status.BLOCKED,
            Status.CANCELLED,
        }
    ),
    Status.FAILED: frozenset({Status.PENDING, Status.FAILED, Status.BLOCKED}),
    Status.DELIVERED: frozenset(),
    Status.COMPLETED: frozenset(),
    Status.CANCELLED: frozenset(),
}

CLOSED_STATUSES = frozenset({Status.DELIVERED, Status.COMPLETED, Status.FAILED, Status.CANCELLED})
