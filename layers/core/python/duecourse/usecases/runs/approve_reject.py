"""Record a person's or a verifier's decision on finished work."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.lifecycle.verification import approve, rejection_report
from duecourse.domain.tasks.task import Task
from duecourse.ports.queues import WorkQueue
from duecourse.ports.runtime import Backoff
from duecourse.ports.tasks import Subjects, TaskStore
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon
from duecourse.usecases.tasks.save_with_subject import save_success

if TYPE_CHECKING:
    from duecourse.usecases.failures.record_failure import FailureDeps


@dataclass(frozen=True)
class ApprovalDeps:
    store: TaskStore
    subjects: Subjects
    queue: WorkQueue
    backoff: Backoff = lambda _: None


def approve_task(task: Task, deps: ApprovalDeps, *, at: datetime) -> Task:
    """Approve the work of a task that waits for verification; record a success of its subject.

    Raises InvalidStateError if the task does not wait for verification, StaleTaskError on a
    conflict.
    """
    after = approve(task, at=at)
    save_success(task, after, store=deps.store, subjects=deps.subjects, backoff=deps.backoff, at=at)
    enqueue_if_due_soon(after, queue=deps.queue, now=at)
    return after


def reject_task(task: Task, reason: str, deps: FailureDeps, *, at: datetime) -> Task:
    """Reject the work of a task that waits for verification; this is recorded as a failure.

    Raises InvalidStateError if the task does not wait for verification, StaleTaskError on a
    conflict.
    """
    # Here, because it loads the classifier, which a worker that approves does not need.
    from duecourse.usecases.failures.record_failure import record_failure

    recorded = record_failure(rejection_report(task, reason, at=at), deps)
    if recorded is None:
        raise StaleTaskError(task.id)
    return recorded.task
