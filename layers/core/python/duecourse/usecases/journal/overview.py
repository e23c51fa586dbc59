"""Read the current state of the system for the dashboard: a limited number of each kind."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from heapq import merge
from itertools import islice

from duecourse.domain.dispatch.lanes import FIRST_ATTEMPT_LANES, RETRY_LANES
from duecourse.domain.lifecycle.task_lane import is_retry_pending
from duecourse.domain.limits.budget import Budget
from duecourse.domain.limits.circuit_breaker import CircuitBreaker
from duecourse.domain.limits.circuit_breakers import snapshot
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.ports.limits import Budgets, CircuitBreakerStore
from duecourse.ports.tasks import TaskStore

MAX_LISTED = 50
_READ_LIMITS = (2 * MAX_LISTED, 10 * MAX_LISTED)  # running tasks come first


@dataclass(frozen=True, kw_only=True, slots=True)
class Overview:
    """`due_soon` excludes retries. `breakers` are by provider; `budgets` are those used today."""

    at: datetime
    due_soon: Sequence[Task]
    running: Sequence[Task]
    retries: Sequence[Task]
    needs_person: Sequence[Task]
    breakers: Sequence[tuple[str, CircuitBreaker]]
    budgets: Sequence[Budget]


def read_overview(
    *, store: TaskStore, breakers: CircuitBreakerStore, budgets: Budgets, now: datetime
) -> Overview:
    """Return the overview. The cost does not depend on the number of tasks."""
    soonest = _list_soonest(store)
    retries = store.list_soonest(_READ_LIMITS[0], RETRY_LANES)
    running = (task for task in merge(soonest, retries, key=_due_key) if _is_running(task))
    return Overview(
        at=now,
        due_soon=_take_first(task for task in soonest if _is_scheduled(task)),
        running=_take_first(running),
        retries=_list_retries(retries, store),
        needs_person=_list_needing_person(store),
        breakers=snapshot(breakers.list_all(), now),
        budgets=budgets.list_used_on(now),
    )


def _list_soonest(store: TaskStore) -> Sequence[Task]:
    """Return the soonest first attempts; read further, once, if the first read has only running
    tasks."""
    near, far = _READ_LIMITS
    found = store.list_soonest(near, FIRST_ATTEMPT_LANES)
    is_all = len(found) < MAX_LISTED  # the store may have dropped some that changed
    if is_all or any(map(_is_scheduled, found)):
        return found
    return store.list_soonest(far, FIRST_ATTEMPT_LANES)


def _list_retries(soonest: Sequence[Task], store: TaskStore) -> Sequence[Task]:
    """Return the pending ones of `soonest`; read on if running retries left them no room."""
    pending = _take_first(filter(is_retry_pending, soonest))
    is_all = len(pending) == MAX_LISTED or len(soonest) < MAX_LISTED
    return pending if is_all else store.list_retries(MAX_LISTED)


def _is_scheduled(task: Task) -> bool:
    return task.is_waiting and task.next_retry_at is None


def _is_running(task: Task) -> bool:
    return task.status is Status.IN_PROGRESS


def _due_key(task: Task) -> tuple[datetime, str]:
    return task.due_at, task.id


def _list_needing_person(store: TaskStore) -> Sequence[Task]:
    """Return blocked and unverified tasks, longest waiting first."""
    found = [*store.list_blocked(MAX_LISTED), *store.list_to_verify(MAX_LISTED)]
    return _take_first(sorted(found, key=lambda task: (_waiting_since(task), task.id)))


def _waiting_since(task: Task) -> datetime:
    if task.status is Status.BLOCKED:
        return task.blocked_since
    return task.run.started_at if task.run else task.due_at


def _take_first(tasks: Iterable[Task]) -> list[Task]:
    return list(islice(tasks, MAX_LISTED))
