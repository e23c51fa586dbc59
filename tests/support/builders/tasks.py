"""Tasks: each builder takes the fields that matter and fills in the rest."""

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
SOON: dict[str, Any] = {"in": "5m"}  # `in` is no name for a keyword argument
DEFAULT_CAPABILITIES = (
    HandlerCapabilities()
)  # nothing to prepare, nobody to tell, and a repeat is harmless
PROVIDER_DOWN = Wait(WaitReason.CIRCUIT_BREAKER, detail={"provider": "x"})
STACK_CAPABILITIES = Capabilities(
    types=frozenset({"reminder", "action"}),
    channels=frozenset({"console", "slack"}),
    policies={"omega": 3, "agent": 5, "enrichment": 3},
    default_channel="console",
)


def a_timing_edit(due_at: datetime, **fields: Any) -> TaskEdit:
    """Once, in UTC, unless told otherwise."""
    kept = {"anchor": due_at.replace(tzinfo=None), "repeat": None, "timezone": "UTC"}
    return TaskEdit(timing=Timing(due_at, **{**kept, **fields}))


def a_task(**fields: Any) -> Task:
    """Due now and once, unless told otherwise; its anchor fits its nominal time."""
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
    """Under the policy of actions, carried out by a provider."""
    defaults = {"type": "action", "policy": "agent", "max_retries": 5}
    return a_task(**{**defaults, "payload": {"provider": "scripted"}, **fields})


def a_requested_task(*, now: datetime = NOW, **fields: Any) -> Task:
    """Made from a request, as callers send it."""
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
    manner: HandlerCapabilities = DEFAULT_CAPABILITIES,
    version: str = "1",
) -> Task:
    lease = Lease(run_id=owner, expires_at=at + LEASE, handler_version=version)
    return run_transitions.claim(task, lease, manner, at=at)


def quiet_hours_wait(end: str) -> Wait:
    """As the quiet hours that end then, in UTC, put off a task."""
    return Wait(WaitReason.QUIET_HOURS, detail={"end": end, "zone": "UTC"})
