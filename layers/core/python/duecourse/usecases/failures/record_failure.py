"""The failure path: understand what went wrong, decide, and write it all down in one go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from duecourse.domain.errors import StaleTaskError
from duecourse.domain.failures.decision import Decision, Situation, decide
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.subject import Subject
from duecourse.domain.lifecycle.apply_failure import asks_person, concerns, failed, is_in_doubt
from duecourse.domain.lifecycle.retry_throttle import held_until
from duecourse.domain.lifecycle.run_transitions import running
from duecourse.domain.lifecycle.spec_review import can_be_reviewed
from duecourse.domain.limits.budget import next_reset
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.instant import to_millisecond
from duecourse.ports.limits import Breakers
from duecourse.ports.queues import WorkQueue
from duecourse.ports.runtime import Clock, Pause
from duecourse.ports.tasks import Subjects, TaskStore
from duecourse.usecases.failures.diagnose import Memory, recall
from duecourse.usecases.limits.circuit_breaker import report as report_provider
from duecourse.usecases.tasks.enqueue_if_due_soon import send_if_soon
from duecourse.usecases.tasks.save_with_subject import settle

TRIES = 3


@dataclass(frozen=True)
class Recorder:
    """All that recording needs besides the report."""

    store: TaskStore
    subjects: Subjects
    queue: WorkQueue
    breakers: Breakers
    policies: Mapping[str, Policy]
    clock: Clock
    pending_retries_limit: int
    memory: Memory
    pause: Pause = lambda _: None


@dataclass(frozen=True)
class Recorded:
    task: Task
    diagnosis: Diagnosis
    decision: Decision


def record_failure(report: FailureReport, recorder: Recorder) -> Recorded | None:
    """None where the run is over already: a report that comes twice counts once.

    Raises UnknownTaskError.
    """
    for _ in range(TRIES):
        task = recorder.store.get(report.task_id)
        now = to_millisecond(recorder.clock.now())
        if not concerns(task, report, at=now):
            # Whoever recorded it may have died before it could send the retry.
            send_if_soon(task, queue=recorder.queue, now=now)
            return None
        try:
            return _record(task, report, recorder, now=now)
        except StaleTaskError:
            continue
    raise StaleTaskError(report.task_id)


def _record(task: Task, report: FailureReport, recorder: Recorder, *, now: datetime) -> Recorded:
    policy = policy_of(task, recorder.policies)
    recalled = recall(task, report, policy, recorder.memory, now=now)
    diagnosis = recalled.diagnosis
    made: list[Decision] = []

    def change(subject: Subject | None) -> tuple[Task, Subject | None]:
        situation = replace(situation_of(task, report, subject), tries=recalled.tries)
        decision = decide(report.failure, diagnosis, policy, situation)
        decision = held(decision, recorder, now=now)
        made.append(decision)
        return failed(task, report, diagnosis, decision, at=now), decision.subject

    after = settle(
        task, change, store=recorder.store, subjects=recorder.subjects, pause=recorder.pause
    )
    send_if_soon(after, queue=recorder.queue, now=now)
    _tell_breaker(task, report, made[-1], recorder, now=now)
    return Recorded(after, diagnosis, made[-1])


def _tell_breaker(
    task: Task, report: FailureReport, decision: Decision, recorder: Recorder, *, now: datetime
) -> None:
    """Any answer shows that the provider is there. A crash, or a call not made, tells nothing."""
    tells = report.origin in (Origin.WORK, Origin.ANSWER) and decision.counts
    if task.provider is None or not tells:
        return
    report_provider(
        task.provider,
        is_down=report.origin is Origin.WORK and decision.category.trips_breaker,
        began_at=running(task).started_at,
        breakers=recorder.breakers,
        now=now,
    )


def policy_of(task: Task, policies: Mapping[str, Policy]) -> Policy:
    """A policy that was taken away leaves its tasks to the simplest one."""
    return policies.get(task.policy) or policies["omega"]


def situation_of(task: Task, report: FailureReport, subject: Subject | None) -> Situation:
    return Situation(
        retry_count=task.retry_count,
        max_retries=task.max_retries,
        failed_at=report.failed_at,
        budget_resets_at=next_reset(report.failed_at),
        attempt=running(task).attempt,
        salt=f"{task.id}:{running(task).attempt}",
        has_spec=can_be_reviewed(task),
        subject=subject,
        origin=report.origin,
        asks_person=asks_person(task, report),
        is_in_doubt=is_in_doubt(task, report),
        budget=task.payload.get("budget"),
    )


def held(decision: Decision, recorder: Recorder, *, now: datetime) -> Decision:
    """Too many retries at once wait for each other."""
    if decision.due_at is None or decision.action is Action.WAIT_FOR_BUDGET:
        return decision
    limit = recorder.pending_retries_limit
    latest = recorder.store.latest_retries(limit)
    due_at = held_until(latest, limit=limit, due_at=decision.due_at, now=now)
    if due_at == decision.due_at:
        return decision
    wait = Wait(WaitReason.RETRY_THROTTLE, until=due_at, detail={"limit": limit})
    return replace(decision, due_at=due_at, wait=wait)
