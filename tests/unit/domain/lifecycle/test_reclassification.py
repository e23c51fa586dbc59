"""A user corrects a failure's category, and the task continues as if it had been classified so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.dispatch.lanes import Lane
from duecourse.domain.errors import InvalidFieldsError, InvalidStateError, StaleTaskError
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.subject import SubjectStatus
from duecourse.domain.journal.history import events_between
from duecourse.domain.lifecycle.lease import lease_expired_report
from duecourse.domain.lifecycle.task_lane import lane_of
from duecourse.domain.lifecycle.user_actions import cancel
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import IndeterminatePolicy, MutationStatus, RunStatus
from duecourse.domain.tasks.run_diagnosis import Location, Reading
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import WaitReason
from duecourse.usecases.failures.reclassify_task import reclassify_task
from duecourse.usecases.failures.record_failure import FailureDeps, record_failure

from tests.support.builders.failures import a_failure_report, a_subject, diagnosis_of
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.runs import LEASE, a_run, run_of
from tests.support.builders.tasks import ID, a_task, an_action, claim_task
from tests.support.failure_deps import failure_deps
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.queues import ListQueue
from tests.support.fakes.tasks import MemoryStore, MemorySubjects

SECOND = timedelta(seconds=1)
LATER = NOW + SECOND
TYPE_ERROR = Failure.create('file.ts(45,12): error TS2304: Cannot find name "foo"')  # code_error
TRANSIENT = Failure.create("throttled", code="function_throttled")
NO_JSON = Failure.create("JSON parse failed: Expecting value: line 1 column 1 (char 0)")
REFUSED_BY_POLICY = Failure.create("blocked", code="content_policy_violation")


class Harness:
    """A task store with the use cases that record and reclassify failures."""

    def __init__(self, task: Task, *, subjects: MemorySubjects | None = None) -> None:
        self.store = MemoryStore(task, subjects=subjects)
        self.queue = ListQueue()
        self.clock = ManualClock(NOW)

    @property
    def deps(self) -> FailureDeps:
        return failure_deps(self.store, queue=self.queue, clock=self.clock)

    @property
    def task(self) -> Task:
        return self.store.tasks[ID]  # the store may also hold its review

    def fail(self, failure: Failure, *, times: int = 1, **report_fields: Any) -> Task:
        for _ in range(times):
            if self.task.status is not Status.IN_PROGRESS:
                self.clock.at = max(self.clock.at, self.task.due_at)
                run_id = f"run-{self.task.version}"
                self.store.tasks[self.task.id] = claim_task(self.task, run_id, at=self.clock.at)
            report = replace(
                a_failure_report(self.task, failure, at=self.clock.at), **report_fields
            )
            assert record_failure(report, self.deps) is not None
        return self.task

    def reclassify(self, corrected_to: str | Kind, *, after: timedelta = SECOND) -> Task:
        self.clock.at += after
        return reclassify_task(self.task, corrected_to, self.deps)


def harness_with_failure(
    failure: Failure = TYPE_ERROR, *, times: int = 1, **fields: Any
) -> Harness:
    harness = Harness(an_action(**fields))
    harness.fail(failure, times=times)
    harness.queue.clear()
    return harness


def harness_with_subject(*, subjects: MemorySubjects | None = None, **fields: Any) -> Harness:
    """Return a harness whose task has a subject and the policy that counts its failures."""
    defaults = {"policy": "enrichment", "subject": "story-1", "max_retries": 3}
    return Harness(an_action(**{**defaults, **fields}), subjects=subjects)


def retry_delay_of(task: Task, since: datetime = NOW) -> timedelta:
    assert task.next_retry_at is not None
    return task.next_retry_at - since


def is_within_jitter_of(actual: timedelta, delay: timedelta) -> bool:
    return delay <= actual <= 1.1 * delay


def event_types(old: Task, new: Task) -> list[str]:
    return [event.type for event in events_between(old, new, at=LATER)]


# By kind


def test_a_kind_gives_the_category_that_holds_it() -> None:
    task = harness_with_failure().reclassify(Kind.RATE_LIMIT)
    assert (task.last_error_category, task.last_error_kind) == ("transient", Kind.RATE_LIMIT)
    assert (run_of(task).category, diagnosis_of(task).kind) == ("transient", Kind.RATE_LIMIT)


def test_a_kind_that_no_category_holds_gives_the_fallback() -> None:
    task = harness_with_failure(policy="enrichment").reclassify(Kind.ASSERTION)
    assert (task.last_error_category, task.last_error_kind) == ("unknown", Kind.ASSERTION)


def test_another_kind_of_the_same_category_changes_only_the_kind() -> None:
    harness = harness_with_failure(TRANSIENT)
    before = harness.reclassify(Kind.RATE_LIMIT)
    after = harness.reclassify(Kind.NETWORK)
    assert (before.last_error_category, after.last_error_category) == ("transient", "transient")
    assert (before.last_error_kind, after.last_error_kind) == (Kind.RATE_LIMIT, Kind.NETWORK)
    assert before.retry_count == after.retry_count
    assert after.version == before.version + 1


def test_a_category_keeps_a_kind_that_it_holds() -> None:
    harness = harness_with_failure(policy="enrichment")
    harness.reclassify(Kind.NETWORK)
    harness.reclassify("json_parse")
    assert harness.task.last_error_kind is Kind.BAD_JSON
    harness.reclassify(Kind.SERVER_ERROR)
    known = harness.task
    assert harness.reclassify("network_timeout") == known


def test_a_given_kind_that_the_failure_has_changes_nothing() -> None:
    harness = harness_with_failure()
    known = harness.reclassify(Kind.NETWORK)
    assert harness.reclassify(Kind.NETWORK) == known


# Waiting for a retry


def test_a_code_error_reclassified_as_transient_retries_after_30_seconds() -> None:
    harness = harness_with_failure()
    assert is_within_jitter_of(retry_delay_of(harness.task), 2 * MINUTE)
    task = harness.reclassify("transient")
    assert is_within_jitter_of(retry_delay_of(task), 30 * SECOND)
    assert (task.status, task.due_at, task.retry_count) == (Status.PENDING, task.next_retry_at, 1)
    assert (task.last_error_category, run_of(task).category) == ("transient", "transient")
    assert [entry.task_id for entry in harness.queue] == [task.id]
    assert harness.task == task


def test_a_category_with_a_longer_backoff_delays_the_retry() -> None:
    harness = harness_with_failure()
    assert is_within_jitter_of(
        retry_delay_of(harness.reclassify("resource_exhaustion")), 15 * MINUTE
    )
    assert harness.queue == []


def test_the_delay_counts_from_the_failure_and_is_never_in_the_past() -> None:
    task = harness_with_failure().reclassify("transient", after=90 * SECOND)
    assert task.due_at == NOW + 90 * SECOND


def test_reclassification_keeps_the_error() -> None:
    harness = harness_with_failure()
    before = harness.task
    task = harness.reclassify("transient")
    assert (task.last_error, run_of(task).error) == (before.last_error, run_of(before).error)
    assert run_of(task).ended_at == run_of(before).ended_at
    assert task.version == before.version + 1


def test_the_run_records_the_user_as_source_and_the_original_reading() -> None:
    harness = harness_with_failure()
    first = diagnosis_of(harness.task)
    harness.reclassify("transient")
    diagnosis = diagnosis_of(harness.reclassify("timeout"))
    assert (diagnosis.pattern, diagnosis.confidence) == ("person", 1.0)
    assert diagnosis.location == Location("file.ts", 45)
    assert diagnosis.read_as == Reading(
        category="code_error",
        kind=first.kind,
        pattern=first.pattern,
        confidence=first.confidence,
        location=first.location,
    )


def test_the_guidance_of_the_original_category_is_replaced() -> None:
    harness = harness_with_failure(times=2)
    before = harness.task.guidance
    guidance = harness.reclassify("transient").guidance
    assert len(guidance) == len(before) == 2
    assert guidance[0] == before[0]
    assert guidance[1] != before[1]


def test_retry_after_still_applies_after_reclassification() -> None:
    failure = Failure.create("no", type="Odd", retry_after=600)
    task = harness_with_failure(failure).reclassify("transient")
    assert is_within_jitter_of(retry_delay_of(task), 10 * MINUTE)


def test_budget_exceeded_waits_for_the_budget_and_is_not_counted() -> None:
    task = harness_with_failure().reclassify("budget_exceeded")
    assert (task.retry_count, task.due_at) == (0, NOW.replace(hour=0) + DAY)
    assert run_of(task).status is RunStatus.PAUSED_BUDGET
    assert lane_of(task) is Lane.LONG_RETRY


def test_an_uncounted_failure_is_counted_after_reclassification() -> None:
    harness = harness_with_failure(Failure.create("spent", code="budget_exceeded"))
    assert harness.task.retry_count == 0
    assert harness.reclassify("transient").retry_count == 1


def test_a_paused_task_stays_paused() -> None:
    harness = harness_with_failure()
    harness.store.tasks[harness.task.id] = replace(harness.task, paused=True)
    assert harness.reclassify("transient").paused


def test_the_same_category_changes_nothing() -> None:
    harness = harness_with_failure()
    before = harness.task
    assert harness.reclassify("code_error") is before
    assert harness.task is before


def test_a_crashed_run_stays_crashed() -> None:
    harness = Harness(claim_task(an_action()))
    harness.clock.at = NOW + LEASE
    assert record_failure(lease_expired_report(harness.task), harness.deps) is not None
    task = harness.reclassify("timeout")
    assert (run_of(task).status, task.last_error_category) == (RunStatus.CRASHED, "timeout")
    assert run_of(task).mutation.status is MutationStatus.INDETERMINATE


# Terminal and blocked tasks


def test_a_failure_reclassified_as_permanent_fails_the_task() -> None:
    harness = harness_with_subject()
    harness.fail(NO_JSON)
    task = harness.reclassify("content_policy")
    assert (task.status, task.next_retry_at) == (Status.FAILED, None)
    assert run_of(task).status is RunStatus.FAILED_PERMANENT
    assert (task.recovery_action, task.failed_occurrences) == ("give_up", 1)


def test_a_failed_task_reclassified_as_retryable_is_rescheduled() -> None:
    harness = harness_with_subject()
    ended = harness.fail(REFUSED_BY_POLICY)
    assert ended.status is Status.FAILED
    task = harness.reclassify("json_parse")
    assert (task.status, task.failed_occurrences) == (Status.PENDING, 0)
    assert is_within_jitter_of(retry_delay_of(task), 12 * HOUR)


def test_a_failed_task_without_attempts_left_stays_failed() -> None:
    harness = harness_with_subject(max_retries=1)
    harness.fail(NO_JSON)
    task = harness.reclassify("network_timeout")
    assert (task.status, task.last_error_category) == (Status.FAILED, "network_timeout")


def test_a_task_blocked_for_its_specification_is_rescheduled() -> None:
    harness = harness_with_failure(times=3, payload={"provider": "scripted", "spec": "x"})
    assert harness.task.status is Status.BLOCKED
    task = harness.reclassify("transient", after=DAY)
    assert (task.status, task.due_at) == (Status.PENDING, harness.clock.at)
    assert task.recovery_action == "retry_with_guidance"
    assert [entry.task_id for entry in harness.queue] == [task.id]


def test_a_task_blocked_by_a_bug_is_rescheduled() -> None:
    harness = Harness(an_action())
    blocked = harness.fail(TYPE_ERROR, origin=Origin.LOGIC)
    assert (blocked.status, blocked.recovery_action) == (Status.BLOCKED, "await_fix")
    assert harness.reclassify("transient").status is Status.PENDING


def test_a_task_that_failed_too_often_stays_blocked() -> None:
    harness = harness_with_failure(times=4)
    assert harness.task.status is Status.BLOCKED
    task = harness.reclassify("transient")
    assert (task.status, task.last_error_category) == (Status.BLOCKED, "transient")


def test_a_pending_retry_can_become_blocked() -> None:
    harness = harness_with_failure(
        TRANSIENT, times=3, payload={"provider": "scripted", "spec": "x"}
    )
    assert harness.task.status is Status.PENDING
    task = harness.reclassify("code_error")
    assert (task.status, task.next_retry_at) == (Status.BLOCKED, None)
    assert task.recovery_action == "retry_with_spec_refresh"


def test_a_series_continues_with_its_next_occurrence() -> None:
    harness = harness_with_subject(repeat="daily")
    harness.fail(NO_JSON)
    task = harness.reclassify("content_policy")
    assert (task.status, task.due_at) == (Status.PENDING, NOW + DAY)
    assert (task.next_retry_at, task.failed_occurrences) == (None, 1)


def test_an_occurrences_reschedule_does_not_carry_over_to_the_next() -> None:
    harness = harness_with_subject(repeat="daily", rescheduled_at=NOW, owner_rescheduled_at=NOW)
    harness.fail(NO_JSON)
    assert harness.reclassify("network_timeout").owner_rescheduled_at == NOW
    task = harness.reclassify("content_policy")
    assert (task.rescheduled_at, task.owner_rescheduled_at) == (None, None)


def test_a_retry_is_throttled_when_too_many_are_pending() -> None:
    harness = harness_with_failure()
    task = harness.task
    due_at = reclassify_task(task, "transient", harness.deps).due_at
    harness.store.tasks = {
        str(n): replace(task, id=str(n), due_at=due_at, next_retry_at=due_at) for n in range(5000)
    } | {task.id: task}
    after = reclassify_task(task, "transient", harness.deps)
    assert after.due_at > due_at
    assert after.wait is not None
    assert after.wait.reason is WaitReason.RETRY_THROTTLE


# The subject


def test_the_subject_is_reclassified_too() -> None:
    harness = harness_with_subject()
    harness.fail(REFUSED_BY_POLICY)
    assert harness.store.subjects.get("story-1").is_given_up
    harness.reclassify("json_parse")
    subject = harness.store.subjects.get("story-1")
    assert (subject.failure_count, subject.status) == (1, SubjectStatus.PENDING)
    assert subject.last_error_category == "json_parse"
    assert subject.cooldown_until is not None
    assert is_within_jitter_of(subject.cooldown_until - NOW, 12 * HOUR)


@pytest.mark.parametrize("since", ["tried", "reset"])
def test_a_subject_attempted_or_reset_since_is_unchanged(since: str) -> None:
    harness = harness_with_subject()
    harness.fail(REFUSED_BY_POLICY)
    subject = harness.store.subjects.get("story-1")
    changed = (
        subject.reset()
        if since == "reset"
        else subject.record_attempt("content_policy", "x", at=NOW + MINUTE, cooldown_until=None)
    )
    harness.store.subjects.save(changed)
    assert harness.reclassify("json_parse", after=HOUR).status is Status.PENDING
    assert harness.store.subjects.get("story-1") == changed


def test_a_failure_not_counted_on_the_subject_is_not_subtracted_from_it() -> None:
    subject = a_subject(failure_count=2, status=SubjectStatus.PENDING, version=1)
    harness = harness_with_subject(subjects=MemorySubjects(subject))
    harness.fail(TYPE_ERROR, origin=Origin.LOGIC)
    harness.reclassify("json_parse")
    assert harness.store.subjects.get("story-1").failure_count == 3


def test_a_conflict_reclassifies_the_current_version_of_the_task() -> None:
    harness = harness_with_failure()

    def cancel_concurrently() -> None:
        harness.store.tasks[harness.task.id] = cancel(harness.task, at=NOW)

    harness.store.concurrent_writes.append(cancel_concurrently)
    with pytest.raises(InvalidStateError, match="is cancelled"):
        harness.reclassify("transient")
    assert harness.task.status is Status.CANCELLED


def test_repeated_conflicts_raise_stale_task() -> None:
    harness = harness_with_failure()

    def bump_version() -> None:
        harness.store.tasks[harness.task.id] = replace(
            harness.task, version=harness.task.version + 1
        )

    harness.store.concurrent_writes += [bump_version] * 3
    with pytest.raises(StaleTaskError):
        harness.reclassify("transient")


# Rejected requests


def an_indeterminate_task() -> Task:
    run = a_run(
        status=RunStatus.CRASHED,
        ended_at=NOW,
        error="x",
        indeterminate_policy=IndeterminatePolicy.ASK_PERSON,
    )
    run = run.with_mutation_status(MutationStatus.INDETERMINATE)
    return an_action(status=Status.BLOCKED, run=run, recovery_action=Action.ASK_PERSON)


@pytest.mark.parametrize(
    ("task", "error"),
    [
        (lambda: an_action(), "pending: it has no failure"),
        (lambda: claim_task(an_action()), "running right now"),
        (an_indeterminate_task, "may or may not have happened: resolve it first"),
        (lambda: cancel(harness_with_failure().task, at=NOW), "cancelled: it has no failure"),
        (
            lambda: replace(harness_with_failure().task, status=Status.COMPLETED),
            "completed: it has no failure",
        ),
        (
            lambda: replace(harness_with_failure().task, next_retry_at=None),
            "pending: it has no failure",
        ),
        (lambda: a_task(status=Status.FAILED), "failed: it has no failure"),
        (lambda: an_action(status=Status.BLOCKED, run=a_run()), "blocked: it has no failure"),
    ],
)
def test_a_task_without_a_failure_to_reclassify_is_rejected(
    task: Callable[[], Task], error: str
) -> None:
    harness = Harness(task())
    before = harness.task
    with pytest.raises(InvalidStateError, match=error):
        harness.reclassify("transient")
    assert harness.task is before


def test_an_unknown_category_is_rejected_with_the_valid_ones() -> None:
    with pytest.raises(InvalidFieldsError, match=r"category: must be one of: .*timeout.*unknown"):
        harness_with_failure().reclassify("bad_luck")


# Events and guidance


def test_the_history_records_the_reclassification_and_the_new_decision() -> None:
    harness = harness_with_failure()
    before = harness.task
    task = harness.reclassify("transient")
    events = events_between(before, task, at=LATER)
    assert [event.type for event in events] == [
        *("task:reclassified", "task:retry_scheduled", "task:recovery_action")
    ]
    expected = {"run_id": run_of(task).id, "from": "code_error", "category": "transient"}
    kinds = {"from_kind": diagnosis_of(before).kind, "kind": "network", "clears_by": "waiting"}
    assert events[0].detail == {**expected, **kinds, "action": "retry_with_guidance"}
    assert events[0].at == LATER


@pytest.mark.parametrize("category", ["transient", "budget_exceeded"])
def test_a_non_code_category_drops_the_source_location(category: str) -> None:
    harness = harness_with_failure()
    assert "It points to file.ts, line 45." in harness.task.guidance[-1]
    task = harness.reclassify(category)
    assert "file.ts" not in " ".join(task.guidance)
    assert diagnosis_of(task).location is None


def test_reclassifying_back_to_code_error_restores_the_source_location() -> None:
    harness = harness_with_failure()
    harness.reclassify("transient")
    assert harness.reclassify("code_error").guidance[-1].endswith("It points to file.ts, line 45.")


def test_the_history_records_that_the_task_failed() -> None:
    harness = harness_with_subject()
    before = harness.fail(NO_JSON)
    assert event_types(before, harness.reclassify("content_policy")) == [
        "task:reclassified",
        "task:failed",
    ]


def test_the_history_records_that_the_task_was_unblocked() -> None:
    harness = harness_with_subject()
    before = harness.fail(REFUSED_BY_POLICY)
    assert event_types(before, harness.reclassify("json_parse")) == [
        *("task:reclassified", "task:unblocked", "task:retry_scheduled")
    ]


def test_an_unchanged_status_records_only_the_reclassification() -> None:
    harness = harness_with_failure(times=4)
    before = harness.task
    assert event_types(before, harness.reclassify("transient")) == ["task:reclassified"]
