"""Values for tests: each builder takes the fields that matter and fills in the rest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from duecourse.domain import attempt
from duecourse.domain.failure import Failure
from duecourse.domain.instant import from_text
from duecourse.domain.request import Offer, new_task
from duecourse.domain.run import Mutation, Reason, Run
from duecourse.domain.task import Task
from duecourse.domain.wallclock import to_wall, zone_named

NOW = datetime(2026, 2, 17, 12, 0, tzinfo=UTC)  # a Tuesday
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
MILLISECOND = timedelta(milliseconds=1)
LEASE = timedelta(seconds=90)
ID = "0a1b2c3d-0000-4000-8000-000000000000"
SOON: dict[str, Any] = {"in": "5m"}  # `in` is no name for a keyword argument
BOOM = Failure(message="boom", category="unknown")
OFFER = Offer(
    types=frozenset({"reminder"}),
    channels=frozenset({"console", "slack"}),
    policies=frozenset({"omega"}),
    default_channel="console",
)


def at(text: str) -> datetime:
    return from_text(text)


def a_task(**fields: Any) -> Task:
    """Due now and once, unless told otherwise; its anchor fits its nominal time."""
    due_at = fields.setdefault("due_at", NOW)
    nominal_at = fields.setdefault("nominal_at", due_at)
    zone = zone_named(fields.get("timezone", "UTC"))
    defaults = {
        "id": ID,
        "type": "reminder",
        "channel": "console",
        "sender_id": "ada",
        "reply_target": "ada",
        "description": "stretch",
        "created_at": NOW - HOUR,
        "anchor": to_wall(nominal_at, zone),
    }
    return Task(**{**defaults, **fields})


def a_run(**fields: Any) -> Run:
    defaults = {
        "id": "run-1",
        "attempt": 1,
        "reason": Reason.FIRST,
        "mutation": Mutation(key=fields.get("id", "run-1")),
        "nominal_at": NOW,
        "started_at": NOW,
        "lease_expires_at": NOW + LEASE,
        "handler_version": "1",
    }
    return Run(**{**defaults, **fields})


def a_requested_task(*, now: datetime = NOW, **fields: Any) -> Task:
    """Made from a request, as callers send it."""
    raw = {"description": "stretch", **fields}
    return new_task(raw, task_id=ID, offer=OFFER, now=now)


def claimed(task: Task, owner: str = "run-1", *, at: datetime = NOW) -> Task:
    lease = attempt.Lease(owner=owner, expires_at=at + LEASE, handler_version="1")
    return attempt.claimed(task, lease, at=at)


def run_of(task: Task) -> Run:
    assert task.run is not None
    return task.run


def failed_times(task: Task, times: int) -> Task:
    """Claimed and failed so often in a row, each attempt at its own due time."""
    for _ in range(times):
        running = claimed(task, f"run-{task.version}", at=task.due_at)
        task = attempt.failed(running, BOOM, at=task.due_at)
    return task
