"""Keep a task and the review of its specification in step.

Each call reads both tasks and applies the one transition that their states require. Records that
arrive twice, late or out of order therefore lead to the same state.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.errors import StaleTaskError, UnknownTaskError, UnreadableItemError
from duecourse.domain.lifecycle.blocked_outcome import apply_review
from duecourse.domain.lifecycle.spec_review import awaited_review_id, reviewed_task_id
from duecourse.domain.lifecycle.user_actions import cancel
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.ports.queues import WorkQueue
from duecourse.ports.runtime import Clock
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon

MAX_ATTEMPTS = 3


@dataclass(frozen=True)
class ReviewSyncDeps:
    store: TaskStore
    queue: WorkQueue
    clock: Clock


def sync_spec_review(old: Task | None, new: Task | None, deps: ReviewSyncDeps) -> None:
    """Sync the pairs of task and review that a change from `old` to `new` concerns.

    Reads nothing for a task that has no review. Raises StaleTaskError after repeated conflicts; the
    caller should try again.
    """
    if new is None:
        return
    awaited = {awaited_review_id(old), awaited_review_id(new)} - {None}
    pairs = [(new.id, review_id) for review_id in awaited if review_id]
    if (original_id := reviewed_task_id(new)) and new.status is not Status.IN_PROGRESS:
        pairs.append((original_id, new.id))
    for original_id, review_id in pairs:
        with suppress(UnreadableItemError):  # a retry could not read it either
            _sync_pair(original_id, review_id, deps)


def _sync_pair(original_id: str, review_id: str, deps: ReviewSyncDeps) -> None:
    for _ in range(MAX_ATTEMPTS):
        now = truncate_to_millisecond(deps.clock.now())
        original, review = (_get_or_none(one, deps.store) for one in (original_id, review_id))
        try:
            _apply_sync(original, review, review_id, deps, now=now)
        except StaleTaskError:
            continue
        return
    raise StaleTaskError(original_id)


def _apply_sync(
    original: Task | None,
    review: Task | None,
    review_id: str,
    deps: ReviewSyncDeps,
    *,
    now: datetime,
) -> None:
    if original is not None and awaited_review_id(original) == review_id:
        after = apply_review(original, review, at=now)
        if after is not original:
            deps.store.save(original, after)
        enqueue_if_due_soon(after, queue=deps.queue, now=now)
        return
    if original and review and original.owner != review.owner:
        return  # the link is forged: a review has the owner of its task
    if review is not None and _can_cancel(review):
        deps.store.save(review, cancel(review, at=now))
    elif original is not None:
        # The process that resumed it may have crashed before it could enqueue it.
        enqueue_if_due_soon(original, queue=deps.queue, now=now)


def _can_cancel(review: Task) -> bool:
    """Return whether the review may be cancelled here.

    While it runs, only its worker may write it; its next change triggers another sync.
    """
    return review.is_open and review.status is not Status.IN_PROGRESS


def _get_or_none(task_id: str, store: TaskStore) -> Task | None:
    try:
        return store.get(task_id)
    except UnknownTaskError:
        return None
