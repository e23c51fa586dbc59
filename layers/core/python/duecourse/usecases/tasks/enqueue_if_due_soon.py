"""The fast lane: whoever writes a task that is due before the scanner's next look sends it."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.dispatch.timing import Dispatch, takes_fast_lane
from duecourse.domain.lifecycle.spec_review import review_for
from duecourse.domain.tasks.task import Task
from duecourse.ports.queues import WorkQueue


def send_if_soon(task: Task, *, queue: WorkQueue, now: datetime) -> None:
    """And of a task that waits for a review, that one: the same write made it."""
    due = review_for(task) or task
    if due.falls_due and takes_fast_lane(due.due_at, now=now):
        queue.send([Dispatch(due.due_at, due.id)], now=now)
