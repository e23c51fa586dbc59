"""A task and the review of its specification follow each other.

Whatever happened, both are read as they are now, and the one is moved that the other leaves no
choice. So records that come twice, late or out of order lead to the same.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.errors import StaleTaskError, UnknownTaskError, UnreadableItemError
from duecourse.domain.lifecycle.blocked_outcome import after_review
from duecourse.domain.lifecycle.spec_review import awaited_review, original_of
from duecourse.domain.lifecycle.user_actions import cancelled
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_millisecond
from duecourse.ports.queues import WorkQueue
from duecourse.ports.runtime import Clock
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.tasks.enqueue_if_due_soon import send_if_soon

TRIES = 3


@dataclass(frozen=True)
class Follower:
    """All that is needed besides what was committed."""

    store: TaskStore
    queue: WorkQueue
    clock: Clock


def follow_review(old: Task | None, new: Task | None, follower: Follower) -> None:
    """Of tasks that have nothing to do with a review, nothing is read.

    Raises StaleTaskError after lost races: then it is to be called again.
    """
    if new is None:
        return
    awaited = {awaited_review(old), awaited_review(new)} - {None}
    pairs = [(new.id, review_id) for review_id in awaited if review_id]
    if (original_id := original_of(new)) and new.status is not Status.IN_PROGRESS:
        pairs.append((original_id, new.id))
    for original_id, review_id in pairs:
        with suppress(UnreadableItemError):  # tried again, it would be no more readable
            _settle(original_id, review_id, follower)


def _settle(original_id: str, review_id: str, follower: Follower) -> None:
    for _ in range(TRIES):
        now = to_millisecond(follower.clock.now())
        original, review = (_found(one, follower.store) for one in (original_id, review_id))
        try:
            _bring_together(original, review, review_id, follower, now=now)
        except StaleTaskError:
            continue
        return
    raise StaleTaskError(original_id)


def _bring_together(
    original: Task | None, review: Task | None, review_id: str, follower: Follower, *, now: datetime
) -> None:
    if original is not None and awaited_review(original) == review_id:
        after = after_review(original, review, at=now)
        if after is not original:
            follower.store.save(original, after)
        send_if_soon(after, queue=follower.queue, now=now)
        return
    if original and review and original.owner != review.owner:
        return  # a review belongs to the owner of its task: this link was made by somebody else
    if review is not None and _can_be_called_off(review):
        follower.store.save(review, cancelled(review, at=now))
    elif original is not None:
        # Whoever took it up may have died before it could send it.
        send_if_soon(original, queue=follower.queue, now=now)


def _can_be_called_off(review: Task) -> bool:
    """While it runs only its worker may write it: then its next change leads here again."""
    return review.is_open and review.status is not Status.IN_PROGRESS


def _found(task_id: str, store: TaskStore) -> Task | None:
    try:
        return store.get(task_id)
    except UnknownTaskError:
        return None
