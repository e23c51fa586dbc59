"""Let a person say what the last failure of a task was, and write down what follows."""

from __future__ import annotations

from dataclasses import replace

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.failures.decision import decide
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.reclassification import (
    rejudged,
    reopened,
    said_to_be,
    subject_before,
)
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_millisecond
from duecourse.usecases.failures.diagnose import recall_tries
from duecourse.usecases.failures.record_failure import Recorder, held, policy_of, situation_of
from duecourse.usecases.tasks.enqueue_if_due_soon import send_if_soon
from duecourse.usecases.tasks.save_with_subject import settle

TRIES = 3


def reclassify_task(
    task: Task, category: str, recorder: Recorder, *, by: str | None = None
) -> Task:
    """A failure that is of the category already is left as it is. `by` is who says so.

    Raises InvalidFieldsError for a category that the task's policy does not have, RefusedError
    where there is no failure to judge anew, StaleTaskError after lost races.
    """
    for _ in range(TRIES):
        try:
            return _reclassify(task, category, recorder, by)
        except StaleTaskError:
            task = recorder.store.get(task.id)
    raise StaleTaskError(task.id)


def _reclassify(task: Task, category: str, recorder: Recorder, by: str | None) -> Task:
    now = to_millisecond(recorder.clock.now())
    case = reopened(task)
    policy = policy_of(task, recorder.policies)
    diagnosis = said_to_be(category, case, policy)
    if category == case.run.category:
        return task
    tries = recall_tries(task, category, recorder.memory, now=now)

    def change(subject: Subject | None) -> tuple[Task, Subject | None]:
        situation = situation_of(case.before, case.report, subject_before(case, subject))
        situation = replace(situation, tries=tries)
        decision = decide(case.report.failure, diagnosis, policy, situation)
        decision = held(decision, recorder, now=now)
        return rejudged(task, case, diagnosis, decision, at=now, by=by), decision.subject

    after = settle(
        task, change, store=recorder.store, subjects=recorder.subjects, pause=recorder.pause
    )
    send_if_soon(after, queue=recorder.queue, now=now)
    return after
