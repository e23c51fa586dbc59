"""What is going on at this moment: as much of it as one look can take in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from duecourse.domain.limits.budget import Budget
from duecourse.domain.limits.circuit_breaker import Breaker
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.ports.limits import Breakers, Budgets
from duecourse.ports.tasks import TaskStore

LISTED = 50
_LOOKS = (2 * LISTED, 10 * LISTED)  # what runs was due before: it comes first


@dataclass(frozen=True, kw_only=True, slots=True)
class Now:
    """`due_soon` waits for its time, and not to be tried again. `breakers` are by provider, and
    `budgets` those that were used today."""

    at: datetime
    due_soon: Sequence[Task]
    running: Sequence[Task]
    retries: Sequence[Task]
    needs_person: Sequence[Task]
    breakers: Sequence[tuple[str, Breaker]]
    budgets: Sequence[Budget]


def read_now(*, store: TaskStore, breakers: Breakers, budgets: Budgets, now: datetime) -> Now:
    """It costs the same however many tasks there are."""
    soonest = _soonest(store)
    return Now(
        at=now,
        due_soon=_first(task for task in soonest if _is_due(task)),
        running=_first(task for task in soonest if task.status is Status.IN_PROGRESS),
        retries=store.retries(LISTED),
        needs_person=_needing_a_person(store),
        breakers=breakers.load().standing(now),
        budgets=budgets.used_on(now),
    )


def _soonest(store: TaskStore) -> Sequence[Task]:
    """Where so many retries come first that nothing else is seen, it looks further, once."""
    near, far = _LOOKS
    found = store.soonest(near)
    is_all = len(found) < LISTED  # some of those looked at may have moved on
    return found if is_all or any(map(_is_due, found)) else store.soonest(far)


def _is_due(task: Task) -> bool:
    return task.is_waiting and task.next_retry_at is None


def _needing_a_person(store: TaskStore) -> Sequence[Task]:
    """Those that have waited longest first."""
    found = [*store.blocked(LISTED), *store.to_verify(LISTED)]
    return _first(sorted(found, key=lambda task: (_waits_since(task), task.id)))


def _waits_since(task: Task) -> datetime:
    if task.status is Status.BLOCKED:
        return task.blocked_since
    return task.run.started_at if task.run else task.due_at


def _first(tasks: Iterable[Task]) -> list[Task]:
    return list(islice(tasks, LISTED))
