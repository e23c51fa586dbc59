"""Retry tasks that failed because of a handler bug, once a new version is deployed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from duecourse.domain.dispatch.deployment import track_version
from duecourse.domain.errors import StaleTaskError
from duecourse.domain.lifecycle.retry_after_deploy import retry_after_deploy
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.ports.dispatch import Deployments
from duecourse.ports.queues import WorkQueue
from duecourse.ports.runtime import Clock
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon
from duecourse.usecases.tasks.read_tasks import read_tasks


@dataclass(frozen=True)
class RedeployDeps:
    store: TaskStore
    deployments: Deployments
    queue: WorkQueue
    clock: Clock
    has_time: Callable[[], bool] = lambda: True


def retry_tasks_after_deploy(version: str, deps: RedeployDeps) -> int:
    """Retry the tasks that wait for a version other than the one that failed; return how many.

    If there was no deployment recently, this costs one read.
    """
    now = truncate_to_millisecond(deps.clock.now())
    stored = deps.deployments.load()
    deployment = track_version(version, stored, at=now)
    if deployment.is_rescan_done:
        return 0
    retried_count = 0
    for task in read_tasks(deps.store.list_awaiting_fix(), deps.store):
        if not deps.has_time():
            break  # the next sweep continues with this version
        retried_count += _retry_task(task, version, deps)
    else:
        deployment = deployment.finish_scan(scan_started_at=now)
    if deployment != stored:
        deps.deployments.save(deployment)
    return retried_count


def _retry_task(task: Task, version: str, deps: RedeployDeps) -> bool:
    now = truncate_to_millisecond(deps.clock.now())
    after = retry_after_deploy(task, version, at=now)
    if after is task:
        return False
    try:
        deps.store.save(task, after)
    except StaleTaskError:
        return False  # another process changed it first
    enqueue_if_due_soon(after, queue=deps.queue, now=now)
    return True
