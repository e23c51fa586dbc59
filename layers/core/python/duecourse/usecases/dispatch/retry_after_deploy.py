"""Tasks that failed by a bug of their handler are tried again once other code is deployed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from duecourse.domain.dispatch.deployment import deployed
from duecourse.domain.errors import StaleTaskError
from duecourse.domain.lifecycle.user_actions import mended
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_millisecond
from duecourse.ports.dispatch import Deployments
from duecourse.ports.queues import WorkQueue
from duecourse.ports.runtime import Clock
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.tasks.enqueue_if_due_soon import send_if_soon
from duecourse.usecases.tasks.read_tasks import read_tasks


@dataclass(frozen=True)
class Mender:
    """All that is needed besides the deployed version."""

    store: TaskStore
    deployments: Deployments
    queue: WorkQueue
    clock: Clock
    has_time: Callable[[], bool] = lambda: True


def take_up_mended(version: str, mender: Mender) -> int:
    """How many. Where nothing was deployed of late, one read is all it takes."""
    now = to_millisecond(mender.clock.now())
    known = mender.deployments.load()
    deployment = deployed(version, known, at=now)
    if deployment.is_done:
        return 0
    taken_up = 0
    for task in read_tasks(mender.store.awaiting_fix(), mender.store):
        if not mender.has_time():
            break  # the next sweep goes on: this version is not done with
        taken_up += _take_up(task, version, mender)
    else:
        deployment = deployment.looked_at_all(at=now)
    if deployment != known:
        mender.deployments.save(deployment)
    return taken_up


def _take_up(task: Task, version: str, mender: Mender) -> bool:
    now = to_millisecond(mender.clock.now())
    after = mended(task, version, at=now)
    if after is task:
        return False
    try:
        mender.store.save(task, after)
    except StaleTaskError:
        return False  # a person was faster
    send_if_soon(after, queue=mender.queue, now=now)
    return True
