"""Recording a failure once, in one transaction, and enqueueing a retry that is due soon."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.errors import StaleTaskError
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.lifecycle.lease import lease_expired_report
from duecourse.domain.lifecycle.user_actions import cancel
from duecourse.domain.limits.circuit_breaker import DEFAULT_RULES, CircuitState
from duecourse.domain.limits.circuit_breakers import StoredBreaker
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.failures.record_failure import CorrectedRun, RecordedFailure, record_failure
from duecourse.usecases.limits.circuit_breaker import BreakerDeps

from tests.support.builders.failures import BOOM, a_failure_report, a_subject, fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import LEASE, a_run, run_of
from tests.support.builders.tasks import ID, a_task, an_action, claim_task
from tests.support.failure_deps import RETRY_LIMIT, failure_deps
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.limits import MemoryBreakers
from tests.support.fakes.queues import ListQueue
from tests.support.fakes.tasks import MemoryStore, MemorySubjects

LIMIT = RETRY_LIMIT.pending
OVER_BUDGET = Failure.create("no money left", code="budget_exceeded")
DOWN = Failure.create("throttled", code="function_throttled")  # transient


@dataclass
class RecordHarness:
    """Records failures and exposes every dependency to the test."""

    store: MemoryStore
    queue: ListQueue = field(default_factory=ListQueue)
    breakers: BreakerDeps = field(default_factory=lambda: BreakerDeps(MemoryBreakers()))
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))

    def record(self, report: FailureReport, **changes: Any) -> RecordedFailure | None:
        deps = {"queue": self.queue, "breakers": self.breakers, "clock": self.clock}
        recorder = failure_deps(self.store, **{**deps, **changes})
        recorded = record_failure(report, recorder)
        assert not isinstance(recorded, CorrectedRun)
        return recorded

    def task(self, task_id: str = ID) -> Task:
        return self.store.get(task_id)


def make_harness(*tasks: Task, subjects: MemorySubjects | None = None) -> RecordHarness:
    return RecordHarness(MemoryStore(*tasks, subjects=subjects))


def an_id(n: int) -> str:
    return f"{n:08x}-0000-4000-8000-000000000000"


def a_job(**fields: Any) -> Task:
    """Return a running job on a subject."""
    defaults = {"policy": "enrichment", "subject": "story-1", "max_retries": 3}
    return claim_task(an_action(**{**defaults, **fields}))


# Once


def test_a_failure_is_stored_with_its_decision() -> None:
    harness = make_harness(claim_task(a_task()))
    recorded = harness.record(a_failure_report(harness.task()))
    assert recorded is not None
    assert harness.task() == recorded.task
    assert (recorded.task.retry_count, recorded.task.due_at) == (1, NOW + 2 * MINUTE)


def test_a_retry_that_is_due_soon_is_enqueued() -> None:
    harness = make_harness(claim_task(an_action()))
    harness.record(a_failure_report(harness.task(), DOWN))
    assert harness.queue == [Dispatch(harness.task().due_at, ID)]
    assert harness.task().due_at < NOW + MINUTE


@pytest.mark.parametrize("failure", [BOOM, Failure.create("x", code="function_timeout")])
def test_a_retry_that_is_due_later_is_left_to_the_scanner(failure: Failure) -> None:
    harness = make_harness(claim_task(an_action()))
    harness.record(a_failure_report(harness.task(), failure))
    assert (harness.task().status, harness.queue) == (Status.PENDING, [])


def test_a_final_failure_is_not_enqueued() -> None:
    harness = make_harness(claim_task(a_task(max_retries=1)))
    harness.record(a_failure_report(harness.task()))
    assert (harness.task().status, harness.queue) == (Status.FAILED, [])


class UnreadableBreakers(MemoryBreakers):
    def get_cached(self, provider: str) -> StoredBreaker:  # noqa: ARG002
        raise TimeoutError("DynamoDB did not answer")


def test_a_recorded_failure_whose_breaker_cannot_be_read_is_no_error() -> None:
    harness = make_harness(claim_task(an_action()))
    harness.breakers = BreakerDeps(UnreadableBreakers())
    recorded = harness.record(a_failure_report(harness.task(), DOWN))
    assert recorded is not None
    assert (recorded.follow_up_error, harness.task()) == ("TimeoutError", recorded.task)


def test_a_duplicate_report_counts_once() -> None:
    harness = make_harness(claim_task(a_task()))
    report = a_failure_report(harness.task())
    assert harness.record(report) is not None
    assert harness.record(report) is None
    assert harness.task().retry_count == 1


def test_a_duplicate_report_enqueues_the_retry_again() -> None:
    """The process that recorded it may have crashed before it enqueued the retry."""
    harness = make_harness(claim_task(an_action()))
    report = a_failure_report(harness.task(), DOWN)
    harness.record(report)
    harness.record(report)
    assert harness.queue == [Dispatch(harness.task().due_at, ID)] * 2


def test_a_report_of_another_run_is_dropped() -> None:
    task = claim_task(a_task(), "run-2")
    harness = make_harness(task)
    assert harness.record(replace(a_failure_report(task), run_id="run-1")) is None
    assert (harness.task(), harness.queue) == (task, [])


def test_a_report_of_a_cancelled_task_is_dropped() -> None:
    running = claim_task(a_task())
    cancelled = cancel(a_task(run=a_run()), at=NOW)
    harness = make_harness(cancelled)
    assert harness.record(a_failure_report(running)) is None
    assert harness.task() == cancelled


def test_a_report_of_a_deleted_task_is_dropped() -> None:
    assert make_harness().record(a_failure_report(claim_task(a_task()))) is None


# When


@pytest.mark.parametrize(
    ("found_at", "due_at"),
    [
        (NOW, NOW + 2 * MINUTE),
        (NOW + MINUTE, NOW + 2 * MINUTE),
        (NOW + HOUR, NOW + HOUR),
    ],
)
def test_a_late_report_does_not_extend_the_delay_nor_set_a_past_due_time(
    found_at: datetime, due_at: datetime
) -> None:
    harness = make_harness(claim_task(a_task()))
    harness.clock.at = found_at
    harness.record(a_failure_report(harness.task(), at=NOW))
    assert harness.task().due_at == due_at


@pytest.mark.parametrize("early", [MILLISECOND, LEASE])
def test_a_crash_is_not_recorded_before_the_lease_expired(early: Any) -> None:
    task = claim_task(a_task())
    harness = make_harness(task)
    harness.clock.at = NOW + LEASE - early
    assert harness.record(lease_expired_report(task)) is None
    assert harness.task() == task


def test_a_crash_is_recorded_after_the_lease_expired() -> None:
    harness = make_harness(claim_task(a_task()))
    harness.clock.at = NOW + LEASE
    harness.record(lease_expired_report(harness.task()))
    task = harness.task()
    assert (run_of(task).status, task.due_at) == (RunStatus.CRASHED, NOW + LEASE + 2 * MINUTE)


def test_each_attempt_has_its_own_deterministic_jitter() -> None:
    def wait(attempt: int) -> Any:
        harness = make_harness(
            claim_task(an_action(run=a_run(attempt=attempt, status=RunStatus.CRASHED)))
        )
        recorded = harness.record(a_failure_report(harness.task()))
        assert recorded is not None
        return recorded.decision.due_at

    assert wait(1) == wait(1)
    assert wait(1) != wait(2)


def test_a_task_whose_policy_was_removed_uses_the_default_policy() -> None:
    harness = make_harness(claim_task(a_task(policy="homemade")))
    recorded = harness.record(a_failure_report(harness.task()))
    assert recorded is not None
    assert recorded.decision.delay == 2 * MINUTE


# Subjects


def test_the_subject_and_its_job_are_counted_together() -> None:
    harness = make_harness(a_job())
    harness.record(a_failure_report(harness.task()))
    subject = harness.store.subjects.get("story-1")
    assert (subject.failure_count, subject.cooldown_until) == (1, NOW + DAY / 2)


def test_a_job_fails_for_good_when_its_subject_does() -> None:
    subjects = MemorySubjects(a_subject(failure_count=4, version=4))
    harness = make_harness(a_job(), subjects=subjects)
    harness.record(a_failure_report(harness.task()))
    assert (harness.task().status, subjects.get("story-1").is_given_up) == (Status.FAILED, True)


def test_a_duplicate_report_does_not_count_for_the_subject() -> None:
    harness = make_harness(a_job())
    report = a_failure_report(harness.task())
    harness.record(report)
    harness.record(report)
    assert harness.store.subjects.get("story-1").failure_count == 1


# Races


def test_a_write_conflict_on_the_subject_repeats_the_decision_with_current_state() -> None:
    """Two jobs of one subject fail at the same moment: both count, and the last one gives up."""
    subjects = MemorySubjects(a_subject(failure_count=3, version=3))
    harness = make_harness(a_job(), a_job(id=an_id(2)), subjects=subjects)
    harness.store.concurrent_writes = [
        lambda: harness.record(a_failure_report(harness.task(an_id(2))))
    ]
    harness.record(a_failure_report(harness.task(ID)))
    assert subjects.get("story-1").failure_count == 5
    assert (harness.task(ID).status, harness.task(an_id(2)).status) == (
        Status.FAILED,
        Status.PENDING,
    )


def test_a_write_conflict_with_the_same_report_counts_once() -> None:
    harness = make_harness(claim_task(a_task()))
    report = a_failure_report(harness.task())
    harness.store.concurrent_writes = [lambda: harness.record(report)]
    assert harness.record(report) is None
    assert harness.task().retry_count == 1


def test_repeated_write_conflicts_raise() -> None:
    harness = make_harness(claim_task(a_task()))

    def touch() -> None:
        task = harness.task()
        harness.store.tasks[ID] = replace(task, version=task.version + 1)

    harness.store.concurrent_writes = [touch] * 50
    with pytest.raises(StaleTaskError):
        harness.record(a_failure_report(harness.task()))


# Storms


def record_failures(failures: int, failure: Failure = BOOM) -> RecordHarness:
    harness = make_harness(*(claim_task(a_task(id=an_id(n))) for n in range(failures)))
    for n in range(failures):
        harness.record(a_failure_report(harness.task(an_id(n)), failure))
    return harness


def test_retries_up_to_the_limit_keep_their_due_time() -> None:
    due = {task.due_at for task in record_failures(LIMIT).store.tasks.values()}
    assert due == {NOW + 2 * MINUTE}


def test_one_retry_above_the_limit_is_deferred_by_a_minute() -> None:
    harness = record_failures(LIMIT + 1)
    assert harness.task(an_id(LIMIT)).due_at == NOW + 3 * MINUTE


def test_a_burst_of_retries_is_spread_over_minutes() -> None:
    waves = Counter(task.due_at for task in record_failures(2 * LIMIT + 1).store.tasks.values())
    assert waves == {NOW + 2 * MINUTE: 50, NOW + 3 * MINUTE: 50, NOW + 4 * MINUTE: 1}


def test_a_task_that_waits_for_a_budget_is_not_throttled() -> None:
    harness = record_failures(LIMIT + 1)
    over_budget = claim_task(a_task(id=an_id(1000)))
    harness.store.create(over_budget)
    harness.record(a_failure_report(over_budget, OVER_BUDGET))
    assert harness.task(over_budget.id).due_at == NOW + DAY / 2


def test_a_final_failure_is_recorded_at_once_during_a_burst() -> None:
    harness = record_failures(LIMIT)
    last = claim_task(fail_repeatedly(a_task(id=an_id(1000)), 2), "last")
    harness.store.create(last)
    harness.record(a_failure_report(last))
    assert harness.task(last.id).status is Status.FAILED


# Breakers


def breaker_after(failures: int, failure: Failure, **fields: Any) -> CircuitState:
    """Return the provider's circuit breaker after this many failures."""
    tasks = [claim_task(an_action(id=an_id(n), **fields)) for n in range(failures)]
    harness = make_harness(*tasks)
    for task in tasks:
        harness.record(a_failure_report(task, failure))
    return harness.breakers.store.get("scripted").breaker.state


@pytest.mark.parametrize(
    ("failures", "state"),
    [
        (DEFAULT_RULES.failure_threshold - 1, CircuitState.CLOSED),
        (DEFAULT_RULES.failure_threshold, CircuitState.OPEN),
    ],
)
def test_failures_of_a_provider_open_its_circuit_breaker(
    failures: int, state: CircuitState
) -> None:
    assert breaker_after(failures, DOWN) is state


@pytest.mark.parametrize("failure", [BOOM, OVER_BUDGET], ids=["its answer", "a call not made"])
def test_failures_that_are_no_outage_keep_the_circuit_breaker_closed(failure: Failure) -> None:
    assert breaker_after(2 * DEFAULT_RULES.failure_threshold, failure) is CircuitState.CLOSED


def test_a_task_without_a_provider_opens_no_circuit_breaker() -> None:
    assert (
        breaker_after(2 * DEFAULT_RULES.failure_threshold, DOWN, payload={}) is CircuitState.CLOSED
    )


def breaker_after_sequence(*failures: Failure) -> CircuitState:
    tasks = [claim_task(an_action(id=an_id(n))) for n in range(len(failures))]
    harness = make_harness(*tasks)
    for task, failure in zip(tasks, failures, strict=True):
        harness.record(a_failure_report(task, failure))
    return harness.breakers.store.get("scripted").breaker.state


def test_a_response_of_the_provider_resets_the_failure_count() -> None:
    assert breaker_after_sequence(*[DOWN] * 9, BOOM, *[DOWN] * 9) is CircuitState.CLOSED


def test_a_call_that_was_not_made_does_not_reset_the_failure_count() -> None:
    assert breaker_after_sequence(*[DOWN] * 9, OVER_BUDGET, DOWN) is CircuitState.OPEN


def test_a_success_that_the_worker_saw_resets_the_failure_count() -> None:
    """Nothing is written for a success, so the next report says when the worker had one."""
    tasks = [claim_task(an_action(id=an_id(n))) for n in range(12)]
    harness = make_harness(*tasks)
    for n, task in enumerate(tasks):
        at = NOW + timedelta(seconds=n)
        report = replace(a_failure_report(task, DOWN), failed_at=at)
        reached_at = at if n == 9 else None
        harness.record(replace(report, provider_reached_at=reached_at))
    assert harness.breakers.store.get("scripted").breaker.state is CircuitState.CLOSED


def test_a_crash_does_not_affect_the_circuit_breaker() -> None:
    tasks = [claim_task(an_action(id=an_id(n))) for n in range(12)]
    harness = make_harness(*tasks)
    harness.clock.at = NOW + LEASE
    for task in tasks:
        harness.record(replace(lease_expired_report(task), failure=DOWN))
    assert harness.breakers.store.list_all() == {}


# A read that is outdated


@pytest.mark.parametrize(
    "replica",
    [None, a_task(), replace(claim_task(a_task()), version=1)],
    ids=["not there yet", "before the claim", "an older version of the run"],
)
def test_a_failure_is_recorded_although_the_first_read_is_outdated(replica: Task | None) -> None:
    running = claim_task(a_task())
    harness = make_harness(running)
    harness.store.replica[ID] = replica

    recorded = harness.record(a_failure_report(running))

    assert recorded is not None
    assert (harness.task().retry_count, harness.task().status) == (1, Status.PENDING)


def test_a_report_that_a_replica_takes_for_new_counts_once() -> None:
    running = claim_task(a_task())
    harness = make_harness(running)
    harness.record(a_failure_report(running))
    harness.store.replica[ID] = running

    assert harness.record(a_failure_report(running)) is None
    assert harness.task().retry_count == 1
