"""The fast lane: whoever writes a task that is due before the scanner's next look sends it."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.dispatch import Dispatch, takes_fast_lane
from duecourse.domain.task import Task
from duecourse.ports import WorkQueue


def send_if_soon(task: Task, *, queue: WorkQueue, now: datetime) -> None:
    if task.falls_due and takes_fast_lane(task.due_at, now=now):
        queue.send([Dispatch(task.due_at, task.id)], now=now)
