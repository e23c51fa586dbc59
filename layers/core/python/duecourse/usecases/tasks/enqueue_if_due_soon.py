"""Enqueue a task directly if it is due before the next scan."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.dispatch.timing import is_due_soon
from duecourse.domain.lifecycle.task_lane import dispatch_of
from duecourse.domain.tasks.task import Task
from duecourse.ports.queues import WorkQueue


def enqueue_if_due_soon(task: Task, *, queue: WorkQueue, now: datetime) -> None:
    """Enqueue the stored task, if no scan will. Never raises: the sweeper finds what was not sent.

    An error here would tell the caller that the task was not stored, and a repeat would double it.
    """
    if not task.is_scheduled:
        return
    dispatch = dispatch_of(task)
    if is_due_soon(task.due_at, now=now, lane=dispatch.lane):
        queue.try_send(dispatch, now=now)
