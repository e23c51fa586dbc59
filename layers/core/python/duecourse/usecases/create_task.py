"""Create a task: one conditional put, and the fast lane if it is due soon."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from duecourse.domain.errors import IdempotencyConflictError, InvalidFieldsError
from duecourse.domain.request import Offer, new_task
from duecourse.domain.task import Task
from duecourse.ports import TaskStore, WorkQueue
from duecourse.usecases.send_if_soon import send_if_soon


@dataclass(frozen=True)
class NewId:
    """`may_exist`: it was made from an idempotency key, so that a task may have it already."""

    value: str
    may_exist: bool = False


@dataclass(frozen=True)
class Created:
    task: Task
    is_new: bool


def create_task(
    raw: Mapping[str, Any],
    *,
    task_id: NewId,
    offer: Offer,
    store: TaskStore,
    queue: WorkQueue,
    now: datetime,
) -> Created:
    """The same id and request again give the task that is there; the same id, another request,
    an IdempotencyConflictError. A repeat also sends what a crash may have left unsent.
    """
    wanted = _wanted(raw, task_id=task_id, offer=offer, store=store, now=now)
    task = store.create(wanted)
    if task.request_hash != wanted.request_hash:
        raise IdempotencyConflictError
    send_if_soon(task, queue=queue, now=now)
    # An id that was never given away before can only be new, also where an answer was lost.
    return Created(task, is_new=task is wanted or not task_id.may_exist)


def _wanted(
    raw: Mapping[str, Any], *, task_id: NewId, offer: Offer, store: TaskStore, now: datetime
) -> Task:
    """The task asked for, or the one that is there.

    What was accepted stays accepted, also when its time has passed.
    """
    fingerprint = _fingerprint(raw)
    try:
        task = new_task(raw, task_id=task_id.value, offer=offer, now=now)
    except InvalidFieldsError:
        known = store.find(task_id.value) if task_id.may_exist else []
        if not known or known[0].request_hash != fingerprint:
            raise
        return known[0]
    return replace(task, request_hash=fingerprint)


def _fingerprint(raw: Mapping[str, Any]) -> str:
    canonical = json.dumps(raw, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
