"""What was blocked for too long has failed: nobody answered."""

from __future__ import annotations

from datetime import timedelta

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.lifecycle.blocked_outcome import timed_out
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_millisecond
from duecourse.usecases.dispatch.rescue_stalled import Sweeper
from duecourse.usecases.tasks.read_tasks import read_tasks


def time_out_blocked(sweeper: Sweeper, blocked_for: timedelta) -> int:
    """How many. What there is no time for, the next sweep finds again."""
    ended = 0
    now = to_millisecond(sweeper.clock.now())
    blocked = sweeper.store.blocked_before(now - blocked_for)
    for task in read_tasks(blocked, sweeper.store):
        if not sweeper.has_time():
            break
        ended += _end(task, sweeper, blocked_for)
    return ended


def _end(task: Task, sweeper: Sweeper, blocked_for: timedelta) -> bool:
    after = timed_out(task, at=to_millisecond(sweeper.clock.now()), blocked_for=blocked_for)
    if after is task:
        return False
    try:
        sweeper.store.save(task, after)
    except StaleTaskError:
        return False  # somebody was faster
    return True
