"""What was blocked for too long has failed: nobody answered."""

from __future__ import annotations

from datetime import timedelta

from duecourse.domain.errors import StaleTaskError, UnknownTaskError
from duecourse.domain.instant import to_millisecond
from duecourse.domain.unattended import timed_out
from duecourse.usecases.sweep import Sweeper


def time_out_blocked(sweeper: Sweeper, blocked_for: timedelta) -> int:
    """How many. What there is no time for, the next sweep finds again."""
    ended = 0
    now = to_millisecond(sweeper.clock.now())
    for task_id in sweeper.store.blocked_before(now - blocked_for):
        if not sweeper.has_time():
            break
        ended += _end(task_id, sweeper, blocked_for)
    return ended


def _end(task_id: str, sweeper: Sweeper, blocked_for: timedelta) -> bool:
    try:
        task = sweeper.store.get(task_id)
        after = timed_out(task, at=to_millisecond(sweeper.clock.now()), blocked_for=blocked_for)
        if after is task:
            return False
        sweeper.store.save(task, after)
    except (StaleTaskError, UnknownTaskError):
        return False  # somebody was faster, or it aged out
    return True
