"""Create a task with one conditional write, and enqueue it if it is due soon."""

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
    """The id of a new task. `can_exist`: it derives from an idempotency key, so it may be taken."""

    value: str
    can_exist: bool = False


@dataclass(frozen=True)
class CreateResult:
    task: Task
    is_new: bool


@dataclass(frozen=True)
class CreateTaskDeps:
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
    """Create the task, or return the existing one if the same id and request were used before.

    Raises IdempotencyConflictError if the id was used with another request. A repeat also enqueues
    a task that a crash left unsent.
    """
    asked = _build_or_find(request, deps, task_id=task_id, now=now)
    wanted = replace(asked, created_by=created_by, snooze_of=snooze_of)
    task = deps.store.create(wanted)
    if task.request_hash != wanted.request_hash:
        raise IdempotencyConflictError
    enqueue_if_due_soon(task, queue=deps.queue, now=now)
    # A random id can only be new, even if the response to the write was lost and it was repeated.
    return CreateResult(task, is_new=task is wanted or not task_id.can_exist)


def _build_or_find(
    request: Mapping[str, Any], deps: CreateTaskDeps, *, task_id: NewTaskId, now: datetime
) -> Task:
    """Return the requested task, or the existing one if the same request is no longer valid.

    An accepted request stays accepted, for example after its due time has passed.
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
    """Return a wait if today's budget cannot pay for the task, else None.

    It only informs: the budget may have money again when the task runs.
    """
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
