"""Builders of tasks. Each takes the fields that matter and fills in the rest."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from duecourse.domain.lifecycle import run_transitions
from duecourse.domain.lifecycle.lease import Lease
from duecourse.domain.requests.capabilities import Capabilities
from duecourse.domain.requests.new_task import build_task, parse_new_task
from duecourse.domain.tasks.handler import HandlerCapabilities
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.task_edit import TaskEdit, Timing
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.timezones import load_timezone, to_wall_time

from tests.support.builders.moments import HOUR, NOW
from tests.support.builders.runs import (
    LEASE,
)

ID = "0a1b2c3d-0000-4000-8000-000000000000"
SOON: dict[str, Any] = {"in": "5m"}  # `in` cannot be a keyword argument
DEFAULT_CAPABILITIES = HandlerCapabilities()  # no prepare, no emit, idempotent
PROVIDER_DOWN = Wait(WaitReason.CIRCUIT_BREAKER, detail={"provider": "x"})
STACK_CAPABILITIES = Capabilities(
    types=frozenset({"reminder", "action"}),
    channels=frozenset({"console", "slack"}),
    policies={"omega": 3, "agent": 5, "enrichment": 3, "standard": 10},
    default_channel="console",
)


def a_timing_edit(due_at: datetime, **fields: Any) -> TaskEdit:
    """Return an edit of the due time: not recurring and in UTC by default."""
    timing = {"anchor": due_at.replace(tzinfo=None), "repeat": None, "timezone": "UTC"}
    return TaskEdit(timing=Timing(due_at, **{**timing, **fields}))


def a_task(**fields: Any) -> Task:
    """Return a reminder, due now and not recurring by default, with a matching anchor."""
    due_at = fields.setdefault("due_at", NOW)
    nominal_at = fields.setdefault("nominal_at", due_at)
    zone = load_timezone(fields.get("timezone", "UTC"))
    defaults = {
        "id": ID,
        "type": "reminder",
        "channel": "console",
        "sender_id": "ada",
        "reply_target": "ada",
        "description": "stretch",
        "created_at": NOW - HOUR,
        "anchor": to_wall_time(nominal_at, zone),
    }
    return Task(**{**defaults, **fields})


def an_action(**fields: Any) -> Task:
    """Return an action for the scripted provider under the `agent` policy."""
    defaults = {"type": "action", "policy": "agent", "max_retries": 5}
    return a_task(**{**defaults, "payload": {"provider": "scripted"}, **fields})


def a_requested_task(*, now: datetime = NOW, **fields: Any) -> Task:
    """Return the task that an API request with these fields creates."""
    return task_from_json({"description": "stretch", **fields}, now=now)


def task_from_json(
    raw: dict[str, Any], *, capabilities: Capabilities = STACK_CAPABILITIES, now: datetime = NOW
) -> Task:
    """Parsed, checked and built like the body of `POST /tasks`."""
    new_task = parse_new_task(raw, capabilities=capabilities, now=now)
    return build_task(new_task, task_id=ID, capabilities=capabilities, now=now)


def claim_task(
    task: Task,
    owner: str = "run-1",
    *,
    at: datetime = NOW,
    capabilities: HandlerCapabilities = DEFAULT_CAPABILITIES,
    version: str = "1",
) -> Task:
    lease = Lease(run_id=owner, expires_at=at + LEASE, handler_version=version)
    return run_transitions.claim(task, lease, capabilities, at=at)


def quiet_hours_wait(end: str) -> Wait:
    """Return the wait of a task that quiet hours defer until `end`, in UTC."""
    return Wait(WaitReason.QUIET_HOURS, detail={"end": end, "zone": "UTC"})
