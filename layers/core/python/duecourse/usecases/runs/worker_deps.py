"""The dependencies and settings of a worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duecourse.domain.tasks.handler import Handler
    from duecourse.ports.chat import QuietHoursStore
    from duecourse.ports.queues import FailureQueue, WorkQueue
    from duecourse.ports.runtime import Backoff, Clock
    from duecourse.ports.tasks import Subjects, TaskStore
    from duecourse.usecases.limits.circuit_breaker import BreakerDeps
    from duecourse.usecases.runs.verify_task import VerificationDeps


@dataclass(frozen=True)
class WorkerDeps:
    """`lease` is how long a run owns its task, `time_limit` the time one attempt may take.

    `version` is the version of the deployed handlers. `max_uncounted_wait` is how long a task may
    wait without an attempt.
    """

    store: TaskStore
    subjects: Subjects
    queue: WorkQueue
    slow_queue: WorkQueue
    failure_queue: FailureQueue
    breakers: BreakerDeps
    quiet_hours: QuietHoursStore
    handlers: Mapping[str, Handler]
    verification_deps: VerificationDeps
    clock: Clock
    new_id: Callable[[], str]
    lease: timedelta
    version: str
    time_limit: timedelta
    verification_timeout: timedelta
    max_uncounted_wait: timedelta
    backoff: Backoff = lambda _: None
