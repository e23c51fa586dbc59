"""Create a task: one conditional put, and the fast lane if it is due soon."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from duecourse.domain.errors import IdempotencyConflictError
from duecourse.domain.request import Offer, new_task
from duecourse.domain.task import Task
from duecourse.ports import TaskStore, WorkQueue
from duecourse.usecases.send_if_soon import send_if_soon


@dataclass(frozen=True)
class Created:
    task: Task
    is_new: bool


def create_task(
    raw: Mapping[str, Any],
    *,
    task_id: str,
    offer: Offer,
    store: TaskStore,
    queue: WorkQueue,
    now: datetime,
) -> Created:
    """The same id and request again give the task that is there; the same id, another request,
    an IdempotencyConflictError. A repeat also sends what a crash may have left unsent.
    """
    fingerprint = _fingerprint(raw)
    wanted = replace(new_task(raw, task_id=task_id, offer=offer, now=now), request_hash=fingerprint)
    task = store.create(wanted)
    if task.request_hash != fingerprint:
        raise IdempotencyConflictError
    send_if_soon(task, queue=queue, now=now)
    return Created(task, is_new=task is wanted)


def _fingerprint(raw: Mapping[str, Any]) -> str:
    canonical = json.dumps(raw, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()[:16]
