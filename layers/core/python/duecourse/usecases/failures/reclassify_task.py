"""Let a person correct the category or kind of a task's last failure, and decide again."""

from __future__ import annotations

from dataclasses import replace

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.failures.decision import decide
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.reclassification import (
    CategoryOrKind,
    apply,
    is_unchanged,
    manual_diagnosis,
    reopen,
    subject_before,
)
from duecourse.domain.lifecycle.spec_review import build_new_review
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.usecases.failures.diagnose import read_retry_outcomes
from duecourse.usecases.failures.record_failure import (
    FailureDeps,
    failure_context,
    policy_of,
    throttle_retry,
)
from duecourse.usecases.retry_on_conflict import retry_on_conflict
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon
from duecourse.usecases.tasks.save_with_subject import TaskChange, save_with_subject

MAX_ATTEMPTS = 3


def reclassify_task(
    task: Task, corrected_to: CategoryOrKind, deps: FailureDeps, *, requested_by: str | None = None
) -> Task:
    """Apply a category or a kind to the last failure and decide again.

    `requested_by` says who corrected it. A failure that has that category and kind already is
    unchanged. Raises InvalidFieldsError if the task's policy lacks the category, InvalidStateError
    if no failure can be reclassified, StaleTaskError after repeated conflicts.
    """

    def reclassify(attempt: int) -> Task:
        current = task if attempt == 1 else deps.store.get(task.id)
        return _reclassify(current, corrected_to, deps, requested_by)

    return retry_on_conflict(reclassify, conflict=StaleTaskError, max_attempts=MAX_ATTEMPTS)


def _reclassify(
    task: Task, corrected_to: CategoryOrKind, deps: FailureDeps, requested_by: str | None
) -> Task:
    now = truncate_to_millisecond(deps.clock.now())
    reopened = reopen(task)
    policy = policy_of(task, deps.policies)
    diagnosis = manual_diagnosis(corrected_to, reopened, policy)
    if is_unchanged(reopened, diagnosis):
        return task
    retry_outcomes = read_retry_outcomes(task, diagnosis.category, deps.learning, now=now)

    def decide_again(subject: Subject | None) -> TaskChange:
        context = failure_context(
            reopened.task_before, reopened.report, subject_before(reopened, subject), retry_outcomes
        )
        # A person may say that a budget was used up, unlike the text of an error.
        context = replace(context, is_over_budget=True)
        decision = decide(reopened.report.failure, diagnosis, policy, context)
        decision = throttle_retry(decision, task, deps, now=now)
        after = apply(task, reopened, diagnosis, decision, at=now, corrected_by=requested_by)
        return TaskChange(after, decision.subject, build_new_review(task, after))

    saved = save_with_subject(
        task, decide_again, store=deps.store, subjects=deps.subjects, backoff=deps.backoff
    )
    enqueue_if_due_soon(saved.next_task, queue=deps.queue, now=now)
    return saved.task
