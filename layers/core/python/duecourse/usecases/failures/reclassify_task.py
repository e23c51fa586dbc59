"""Let a person correct the category of a task's last failure, and apply what follows from it."""

from __future__ import annotations

from dataclasses import replace

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.failures.decision import decide
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.reclassification import (
    apply,
    manual_diagnosis,
    reopen,
    subject_before,
)
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.usecases.failures.diagnose import read_retry_outcomes
from duecourse.usecases.failures.record_failure import (
    FailureDeps,
    policy_of,
    situation_of,
    throttle_retry,
)
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon
from duecourse.usecases.tasks.save_with_subject import save_with_subject

MAX_ATTEMPTS = 3


def reclassify_task(
    task: Task, category: str, deps: FailureDeps, *, requested_by: str | None = None
) -> Task:
    """Apply `category` to the last failure and decide again. `requested_by` says who corrected it.

    A failure that has the category already is unchanged. Raises InvalidFieldsError if the task's
    policy lacks the category, InvalidStateError if no failure can be reclassified, StaleTaskError
    after repeated conflicts.
    """
    for _ in range(MAX_ATTEMPTS):
        try:
            return _reclassify(task, category, deps, requested_by)
        except StaleTaskError:
            task = deps.store.get(task.id)
    raise StaleTaskError(task.id)


def _reclassify(task: Task, category: str, deps: FailureDeps, requested_by: str | None) -> Task:
    now = truncate_to_millisecond(deps.clock.now())
    case = reopen(task)
    policy = policy_of(task, deps.policies)
    diagnosis = manual_diagnosis(category, case, policy)
    if category == case.run.category:
        return task
    tries = read_retry_outcomes(task, category, deps.learning, now=now)

    def change(subject: Subject | None) -> tuple[Task, Subject | None]:
        situation = situation_of(case.task_before, case.report, subject_before(case, subject))
        situation = replace(situation, retry_outcomes=tries)
        decision = decide(case.report.failure, diagnosis, policy, situation)
        decision = throttle_retry(decision, deps, now=now)
        return apply(
            task, case, diagnosis, decision, at=now, corrected_by=requested_by
        ), decision.subject

    after = save_with_subject(
        task, change, store=deps.store, subjects=deps.subjects, backoff=deps.backoff
    )
    enqueue_if_due_soon(after, queue=deps.queue, now=now)
    return after
