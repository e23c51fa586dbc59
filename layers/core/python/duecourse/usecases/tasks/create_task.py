"""Create a task: one conditional put, and the fast lane if it is due soon."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from duecourse.domain.errors import IdempotencyConflictError, InvalidFieldsError
from duecourse.domain.requests.action_payload import most_a_call_costs
from duecourse.domain.requests.task_request import Offer, new_task
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.ports.limits import Budgets
from duecourse.ports.queues import WorkQueue
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.tasks.enqueue_if_due_soon import send_if_soon


@dataclass(frozen=True)
class NewId:
    """`may_exist`: it was made from an idempotency key, so that a task may have it already."""

    value: str
    may_exist: bool = False


@dataclass(frozen=True)
class Created:
    task: Task
    is_new: bool


@dataclass(frozen=True)
class Desk:
    """Where tasks are asked for."""

    store: TaskStore
    queue: WorkQueue
    budgets: Budgets
    offer: Offer


def create_task(
    raw: Mapping[str, Any],
    desk: Desk,
    *,
    task_id: NewId,
    now: datetime,
    by: str | None = None,
    snooze_of: str | None = None,
) -> Created:
    """The same id and request again give the task that is there; the same id, another request,
    an IdempotencyConflictError. A repeat also sends what a crash may have left unsent.
    """
    asked = _wanted(raw, desk, task_id=task_id, now=now)
    wanted = replace(asked, created_by=by, snooze_of=snooze_of)
    task = desk.store.create(wanted)
    if task.request_hash != wanted.request_hash:
        raise IdempotencyConflictError
    send_if_soon(task, queue=desk.queue, now=now)
    # An id that was never given away before can only be new, also where an answer was lost.
    return Created(task, is_new=task is wanted or not task_id.may_exist)


def _wanted(raw: Mapping[str, Any], desk: Desk, *, task_id: NewId, now: datetime) -> Task:
    """The task asked for, or the one that is there.

    What was accepted stays accepted, also when its time has passed.
    """
    fingerprint = _fingerprint(raw)
    try:
        task = new_task(raw, task_id=task_id.value, offer=desk.offer, now=now)
    except InvalidFieldsError:
        known = desk.store.find(task_id.value) if task_id.may_exist else []
        if not known or known[0].request_hash != fingerprint:
            raise
        return known[0]
    wait = _empty_budget(task, desk.budgets, now=now)
    return replace(task, request_hash=fingerprint, wait=wait)


def _empty_budget(task: Task, budgets: Budgets, *, now: datetime) -> Wait | None:
    """Said at once rather than found out at its time; the budget may clear until then."""
    name = task.payload.get("budget")
    if task.is_reminder or name is None:
        return None
    budget = budgets.today(name, now=now)
    is_whole_by_then = task.due_at >= budget.resets_at
    if is_whole_by_then or budget.remaining >= most_a_call_costs(task.payload):
        return None
    return Wait(WaitReason.BUDGET, until=budget.resets_at, detail={"budget": name})


def _fingerprint(raw: Mapping[str, Any]) -> str:
    canonical = json.dumps(raw, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
