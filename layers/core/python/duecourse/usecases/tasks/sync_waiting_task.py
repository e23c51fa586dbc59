"""Keep a task and the task that it waits for in step.

Each call reads both tasks and applies the one transition that their states require. Records that
arrive twice, late or out of order therefore lead to the same state.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.errors import StaleTaskError, UnknownTaskError, UnreadableItemError
from duecourse.domain.lifecycle.awaited_task import awaited_task_id, waiting_task_id
from duecourse.domain.lifecycle.blocked_outcome import settle_wait
from duecourse.domain.lifecycle.spec_review import is_review
from duecourse.domain.lifecycle.user_actions import cancel
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.ports.queues import WorkQueue
from duecourse.ports.runtime import Clock
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.retry_on_conflict import retry_on_conflict
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon

MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class WaitSyncDeps:
    store: TaskStore
    queue: WorkQueue
    clock: Clock


@dataclass(frozen=True)
class _Pair:
    """The ids of a task that waits and of the task it waits for."""

    waiting_id: str
    awaited_id: str


def sync_waiting_task(old: Task | None, new: Task | None, deps: WaitSyncDeps) -> None:
    """Sync the pairs of waiting and awaited task that a change from `old` to `new` concerns.

    Reads nothing for a task that waits for none and that none waits for. Raises StaleTaskError
    after repeated conflicts; the caller should try again.
    """
    if new is None:
        return
    for pair in _find_pairs(old, new):
        with suppress(UnreadableItemError):  # a retry could not read it either
            _sync_pair(pair, deps)


def _find_pairs(old: Task | None, new: Task) -> set[_Pair]:
    awaited_ids = (awaited_task_id(old), awaited_task_id(new))
    pairs = {_Pair(new.id, awaited_id) for awaited_id in awaited_ids if awaited_id}
    waiting_id = waiting_task_id(new)
    if waiting_id and new.status is not Status.IN_PROGRESS:
        pairs.add(_Pair(waiting_id, new.id))
    return pairs


def _sync_pair(pair: _Pair, deps: WaitSyncDeps) -> None:
    retry_on_conflict(
        lambda _: _sync_once(pair, deps), conflict=StaleTaskError, max_attempts=MAX_ATTEMPTS
    )


def _sync_once(pair: _Pair, deps: WaitSyncDeps) -> None:
    now = truncate_to_millisecond(deps.clock.now())
    waiting = _get_or_none(pair.waiting_id, deps.store)
    awaited = _get_or_none(pair.awaited_id, deps.store)
    if waiting is not None and awaited_task_id(waiting) == pair.awaited_id:
        _settle(waiting, awaited, deps, now=now)
    else:
        _end_obsolete(waiting, awaited, deps, now=now)


def _settle(waiting: Task, awaited: Task | None, deps: WaitSyncDeps, *, now: datetime) -> None:
    after = settle_wait(waiting, awaited, at=now)
    if after is not waiting:
        deps.store.save(waiting, after)
        enqueue_if_due_soon(after, queue=deps.queue, now=now)
    elif awaited is not None:
        # The process that created it may have crashed before it could enqueue it.
        enqueue_if_due_soon(awaited, queue=deps.queue, now=now)


def _end_obsolete(
    waiting: Task | None, awaited: Task | None, deps: WaitSyncDeps, *, now: datetime
) -> None:
    """Cancel a review that its task no longer waits for, or enqueue the task that moved on."""
    if waiting and awaited and waiting.owner != awaited.owner:
        return  # the link is forged: a review has the owner of its task
    if awaited is not None and _can_cancel(awaited):
        deps.store.save(awaited, cancel(awaited, at=now))
    elif waiting is not None:
        # The process that resumed it may have crashed before it could enqueue it.
        enqueue_if_due_soon(waiting, queue=deps.queue, now=now)


def _can_cancel(awaited: Task) -> bool:
    """Return whether the task exists only to be awaited, and may be cancelled here.

    While it runs, only its worker may write it; its next change triggers another sync.
    """
    return is_review(awaited) and awaited.is_open and awaited.status is not Status.IN_PROGRESS


def _get_or_none(task_id: str, store: TaskStore) -> Task | None:
    try:
        return store.get(task_id)
    except UnknownTaskError:
        return None
