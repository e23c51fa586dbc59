"""Create a task: one conditional put, and the fast lane if it is due soon."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from duecourse.domain.errors import IdempotencyConflictError, InvalidFieldsError
from duecourse.domain.requests.action_payload import max_call_cost
from duecourse.domain.requests.task_request import Capabilities, parse_new_task
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.ports.limits import Budgets
from duecourse.ports.queues import WorkQueue
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon


@dataclass(frozen=True)
class NewTaskId:
    """`may_exist`: it was made from an idempotency key, so that a task may have it already."""

    value: str
    can_exist: bool = False


@dataclass(frozen=True)
class CreateResult:
    task: Task
    is_new: bool


@dataclass(frozen=True)
class CreateTaskDeps:
    """Where tasks are asked for."""

    store: TaskStore
    queue: WorkQueue
    budgets: Budgets
    capabilities: Capabilities


def create_task(
    request: Mapping[str, Any],
    deps: CreateTaskDeps,
    *,
    task_id: NewTaskId,
    now: datetime,
    created_by: str | None = None,
    snooze_of: str | None = None,
) -> CreateResult:
    """The same id and request again give the task that is there; the same id, another request,
    an IdempotencyConflictError. A repeat also sends what a crash may have left unsent.
    """
    asked = _build_or_find(request, deps, task_id=task_id, now=now)
    wanted = replace(asked, created_by=created_by, snooze_of=snooze_of)
    task = deps.store.create(wanted)
    if task.request_hash != wanted.request_hash:
        raise IdempotencyConflictError
    enqueue_if_due_soon(task, queue=deps.queue, now=now)
    # An id that was never given away before can only be new, also where an answer was lost.
    return CreateResult(task, is_new=task is wanted or not task_id.can_exist)


def _build_or_find(
    request: Mapping[str, Any], deps: CreateTaskDeps, *, task_id: NewTaskId, now: datetime
) -> Task:
    """The task asked for, or the one that is there.

    What was accepted stays accepted, also when its time has passed.
    """
    fingerprint = _request_hash(request)
    try:
        task = parse_new_task(
            request, task_id=task_id.value, capabilities=deps.capabilities, now=now
        )
    except InvalidFieldsError:
        known = deps.store.find(task_id.value) if task_id.can_exist else []
        if not known or known[0].request_hash != fingerprint:
            raise
        return known[0]
    wait = _budget_wait(task, deps.budgets, now=now)
    return replace(task, request_hash=fingerprint, wait=wait)


def _budget_wait(task: Task, budgets: Budgets, *, now: datetime) -> Wait | None:
    """Said at once rather than found out at its time; the budget may clear until then."""
    name = task.payload.get("budget")
    if task.is_reminder or name is None:
        return None
    budget = budgets.get_today(name, now=now)
    is_whole_by_then = task.due_at >= budget.resets_at
    if is_whole_by_then or budget.remaining >= max_call_cost(task.payload):
        return None
    return Wait(WaitReason.BUDGET, until=budget.resets_at, detail={"budget": name})


def _request_hash(request: Mapping[str, Any]) -> str:
    canonical = json.dumps(request, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
