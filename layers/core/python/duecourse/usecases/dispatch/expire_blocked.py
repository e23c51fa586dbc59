"""Fail tasks that were blocked for too long."""

from __future__ import annotations

from datetime import timedelta

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.lifecycle.blocked_outcome import expire_blocked
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.usecases.runs.recover_expired_leases import SweepDeps
from duecourse.usecases.tasks.read_tasks import read_tasks


def expire_blocked_tasks(deps: SweepDeps, blocked_timeout: timedelta) -> int:
    """Fail every task blocked for longer than `blocked_timeout`; return how many.

    Stops when time runs out; the next sweep continues.
    """
    expired_count = 0
    now = truncate_to_millisecond(deps.clock.now())
    blocked = deps.store.list_blocked_before(now - blocked_timeout)
    for task in read_tasks(blocked, deps.store):
        if not deps.has_time():
            break
        expired_count += _expire(task, deps, blocked_timeout)
    return expired_count


def _expire(task: Task, deps: SweepDeps, blocked_timeout: timedelta) -> bool:
    after = expire_blocked(
        task, at=truncate_to_millisecond(deps.clock.now()), timeout=blocked_timeout
    )
    if after is task:
        return False
    try:
        deps.store.save(task, after)
    except StaleTaskError:
        return False  # another process changed it first
    return True
