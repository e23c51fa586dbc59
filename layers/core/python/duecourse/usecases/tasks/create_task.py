"""Create a task with one conditional write, and enqueue it if it is due soon."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from duecourse.domain.errors import IdempotencyConflictError, InvalidFieldsError
from duecourse.domain.requests.action_payload import max_call_cost
from duecourse.domain.requests.capabilities import Capabilities
from duecourse.domain.requests.new_task import NewTask, build_task
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.ports.limits import Budgets
from duecourse.ports.queues import WorkQueue
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon


@dataclass(frozen=True)
class NewTaskId:
    """The id of a new task.

    `request_hash` is set if the id derives from an idempotency key. Then the task may exist, and
    is the same if its request has the same hash.
    """

    value: str
    request_hash: str | None = None


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
    new_task: NewTask,
    deps: CreateTaskDeps,
    *,
    task_id: NewTaskId,
    now: datetime,
    created_by: str | None = None,
    snooze_of: str | None = None,
) -> CreateResult:
    """Create the task, or return the existing one if the same id and request were used before.

    Raises InvalidFieldsError, and IdempotencyConflictError if the id was used with another request.
    A repeat also enqueues a task that a crash left unsent.
    """
    try:
        task = build_task(new_task, task_id=task_id.value, capabilities=deps.capabilities, now=now)
    except InvalidFieldsError:
        # An accepted request stays accepted, for example after its due time has passed.
        existing = _find_existing(task_id, deps.store)
        if existing is None:
            raise
        result = CreateResult(existing, is_new=False)
    else:
        wait = _budget_wait(task, deps.budgets, now=now)
        task = replace(task, created_by=created_by, snooze_of=snooze_of, wait=wait)
        result = _store(task, task_id, deps.store)
    enqueue_if_due_soon(result.task, queue=deps.queue, now=now)
    return result


def _find_existing(task_id: NewTaskId, store: TaskStore) -> Task | None:
    """Return the task that the same request created, else None."""
    if task_id.request_hash is None:
        return None
    tasks = store.find(task_id.value)
    return next((task for task in tasks if task.request_hash == task_id.request_hash), None)


def _store(task: Task, task_id: NewTaskId, store: TaskStore) -> CreateResult:
    task = replace(task, request_hash=task_id.request_hash)
    stored = store.create(task)
    if stored.request_hash != task_id.request_hash:
        raise IdempotencyConflictError
    # A random id can only be new, even if the response to the write was lost and it was repeated.
    return CreateResult(stored, is_new=stored is task or task_id.request_hash is None)


def _budget_wait(task: Task, budgets: Budgets, *, now: datetime) -> Wait | None:
    """Return a wait if today's budget cannot pay for the task, else None.

    It only informs: the budget may be sufficient again when the task runs.
    """
    name = task.payload.get("budget")
    if task.is_reminder or name is None:
        return None
    budget = budgets.get_today(name, now=now)
    is_reset_by_then = task.due_at >= budget.resets_at
    if is_reset_by_then or budget.remaining >= max_call_cost(task.payload):
        return None
    return Wait(WaitReason.BUDGET, until=budget.resets_at, detail={"budget": name})
