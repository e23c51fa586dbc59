"""The tasks that the sample events in `events/` are about."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from duecourse.app import stores
from duecourse.domain.lifecycle.lease import Lease
from duecourse.domain.lifecycle.run_transitions import claim
from duecourse.domain.tasks.handler import HandlerCapabilities
from duecourse.domain.tasks.task import ACTION, REMINDER, Task

DUE_AT = datetime(2026, 2, 17, 15, tzinfo=UTC)
RUN_ID = "b1b2c3d4-0000-4000-8000-000000000001"
_TASK_ID = "a1b2c3d4-0000-4000-8000-00000000000"
_LEASE = timedelta(hours=1)  # time to invoke a function by hand


def sample_tasks(*, now: datetime) -> list[Task]:
    """Return two reminders that are due, and an action that is running."""
    first = Task(
        id=f"{_TASK_ID}1",
        type=REMINDER,
        channel="log",
        sender_id="ada",
        reply_target="ada",
        description="Call John",
        due_at=DUE_AT,
        nominal_at=DUE_AT,
        created_at=DUE_AT - timedelta(hours=1),
        anchor=DUE_AT.replace(tzinfo=None),
    )
    second = replace(first, id=f"{_TASK_ID}2", description="Call Mary")
    action = replace(
        first,
        id=f"{_TASK_ID}3",
        type=ACTION,
        description="fix the build",
        policy="agent",
        max_retries=5,
        payload={"provider": "scripted"},
    )
    return [first, second, _start(action, now=now)]


def _start(task: Task, *, now: datetime) -> Task:
    lease = Lease(run_id=RUN_ID, expires_at=now + _LEASE, handler_version="sample")
    return claim(task, lease, HandlerCapabilities(), at=now)


def create_sample_tasks(*, now: datetime) -> list[str]:
    """Store the tasks and return their ids. Those that are there already stay as they are."""
    return [stores.task_store().create(task).id for task in sample_tasks(now=now)]
