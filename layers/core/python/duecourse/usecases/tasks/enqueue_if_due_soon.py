"""The fast lane: a use case that saves a task due before the next scan enqueues it directly."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.dispatch.timing import Dispatch, is_due_soon
from duecourse.domain.lifecycle.spec_review import build_review
from duecourse.domain.tasks.task import Task
from duecourse.ports.queues import WorkQueue


def enqueue_if_due_soon(task: Task, *, queue: WorkQueue, now: datetime) -> None:
    """Enqueue the task if it is due soon, or instead the review it waits for.

    The review was created by the same transaction as the change of the task.
    """
    due = build_review(task) or task
    if due.is_scheduled and is_due_soon(due.due_at, now=now):
        queue.send([Dispatch(due.due_at, due.id)], now=now)
