"""Recording a failure: once, decided on what is there, written in one go, and sent when soon."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pytest
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.errors import StaleTaskError, UnknownTaskError
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.lifecycle.lease import lease_expired_report
from duecourse.domain.lifecycle.user_actions import cancel
from duecourse.domain.limits.circuit_breaker import DEFAULT_RULES, CircuitState
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.failures.record_failure import RecordedFailure, record_failure

from tests.support.builders.failures import BOOM, a_failure_report, a_subject, fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import LEASE, a_run, run_of
from tests.support.builders.tasks import ID, a_task, an_action, claim_task
from tests.support.failure_deps import failure_deps
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.limits import MemoryBreakers
from tests.support.fakes.queues import ListQueue
from tests.support.fakes.tasks import MemoryStore, MemorySubjects

LIMIT = 50
OVER_BUDGET = Failure.create("no money left", code="budget_exceeded")
DOWN = Failure.create("throttled", code="function_throttled")  # transient


@dataclass
class Desk:
    """Where failures are recorded, with everything in reach of the test."""

    store: MemoryStore
    queue: ListQueue = field(default_factory=ListQueue)
    breakers: MemoryBreakers = field(default_factory=MemoryBreakers)
    clock: ManualClock = field(default_factory=lambda: ManualClock(NOW))

    def record(self, report: FailureReport, **changes: Any) -> RecordedFailure | None:
        parts = {"queue": self.queue, "breakers": self.breakers, "clock": self.clock}
        recorder = failure_deps(self.store, **{**parts, "pending_retries_limit": LIMIT, **changes})
        return record_failure(report, recorder)

    def task(self, task_id: str = ID) -> Task:
        return self.store.get(task_id)


def a_desk(*tasks: Task, subjects: MemorySubjects | None = None) -> Desk:
    return Desk(MemoryStore(*tasks, subjects=subjects))


def an_id(n: int) -> str:
    return f"{n:08x}-0000-4000-8000-000000000000"


def a_job(**fields: Any) -> Task:
    """Running, on a subject."""
    defaults = {"policy": "enrichment", "subject": "story-1", "max_retries": 3}
    return claim_task(an_action(**{**defaults, **fields}))


# Once


def test_a_failure_is_written_as_it_was_decided() -> None:
    desk = a_desk(claim_task(a_task()))
    recorded = desk.record(a_failure_report(desk.task()))
    assert recorded is not None
    assert desk.task() == recorded.task
    assert (recorded.task.retry_count, recorded.task.due_at) == (1, NOW + 2 * MINUTE)


def test_a_retry_that_is_soon_is_sent_at_once() -> None:
    desk = a_desk(claim_task(a_task()))
    desk.record(a_failure_report(desk.task()))
    assert desk.queue == [Dispatch(NOW + 2 * MINUTE, ID)]


def test_a_retry_that_is_far_away_is_left_to_the_scanner() -> None:
    desk = a_desk(claim_task(an_action()))
    desk.record(a_failure_report(desk.task(), Failure.create("x", code="function_timeout")))
    assert (desk.task().status, desk.queue) == (Status.PENDING, [])


def test_what_is_not_tried_again_is_not_sent() -> None:
    desk = a_desk(claim_task(a_task(max_retries=1)))
    desk.record(a_failure_report(desk.task()))
    assert (desk.task().status, desk.queue) == (Status.FAILED, [])


def test_a_report_that_comes_twice_counts_once() -> None:
    desk = a_desk(claim_task(a_task()))
    report = a_failure_report(desk.task())
    assert desk.record(report) is not None
    assert desk.record(report) is None
    assert desk.task().retry_count == 1


def test_a_report_that_comes_twice_sends_the_retry_again() -> None:
    """Whoever recorded it may have died before it could send it."""
    desk = a_desk(claim_task(a_task()))
    report = a_failure_report(desk.task())
    desk.record(report)
    desk.record(report)
    assert desk.queue == [Dispatch(NOW + 2 * MINUTE, ID)] * 2


def test_a_report_of_another_run_is_dropped() -> None:
    task = claim_task(a_task(), "run-2")
    desk = a_desk(task)
    assert desk.record(replace(a_failure_report(task), run_id="run-1")) is None
    assert (desk.task(), desk.queue) == (task, [])


def test_a_report_of_a_task_that_was_called_off_is_dropped() -> None:
    running = claim_task(a_task())
    gone = cancel(a_task(run=a_run()), at=NOW)
    desk = a_desk(gone)
    assert desk.record(a_failure_report(running)) is None
    assert desk.task() == gone


def test_a_report_of_a_task_nobody_knows_is_refused() -> None:
    with pytest.raises(UnknownTaskError):
        a_desk().record(a_failure_report(claim_task(a_task())))


# When


@pytest.mark.parametrize(
    ("found_at", "due_at"),
    [
        (NOW, NOW + 2 * MINUTE),
        (NOW + MINUTE, NOW + 2 * MINUTE),
        (NOW + HOUR, NOW + HOUR),
    ],
)
def test_a_report_that_comes_late_waits_no_longer_and_never_in_the_past(
    found_at: datetime, due_at: datetime
) -> None:
    desk = a_desk(claim_task(a_task()))
    desk.clock.at = found_at
    desk.record(a_failure_report(desk.task(), at=NOW))
    assert desk.task().due_at == due_at


@pytest.mark.parametrize("early", [MILLISECOND, LEASE])
def test_a_crash_is_not_believed_before_the_lease_ran_out(early: Any) -> None:
    task = claim_task(a_task())
    desk = a_desk(task)
    desk.clock.at = NOW + LEASE - early
    assert desk.record(lease_expired_report(task)) is None
    assert desk.task() == task


def test_a_crash_is_recorded_once_the_lease_ran_out() -> None:
    desk = a_desk(claim_task(a_task()))
    desk.clock.at = NOW + LEASE
    desk.record(lease_expired_report(desk.task()))
    task = desk.task()
    assert (run_of(task).status, task.due_at) == (RunStatus.CRASHED, NOW + LEASE + 2 * MINUTE)


def test_each_attempt_has_a_jitter_of_its_own_that_can_be_repeated() -> None:
    def wait(attempt: int) -> Any:
        desk = a_desk(claim_task(an_action(run=a_run(attempt=attempt, status=RunStatus.CRASHED))))
        recorded = desk.record(a_failure_report(desk.task()))
        assert recorded is not None
        return recorded.decision.due_at

    assert wait(1) == wait(1)
    assert wait(1) != wait(2)


def test_a_policy_that_was_taken_away_leaves_its_tasks_to_the_simplest_one() -> None:
    desk = a_desk(claim_task(a_task(policy="homemade")))
    recorded = desk.record(a_failure_report(desk.task()))
    assert recorded is not None
    assert recorded.decision.delay == 2 * MINUTE


# Subjects


def test_a_subject_is_counted_together_with_its_job() -> None:
    desk = a_desk(a_job())
    desk.record(a_failure_report(desk.task()))
    subject = desk.store.subjects.get("story-1")
    assert (subject.failure_count, subject.cooldown_until) == (1, NOW + DAY / 2)


def test_a_job_fails_with_the_last_failure_of_its_subject() -> None:
    subjects = MemorySubjects(a_subject(failure_count=4, version=4))
    desk = a_desk(a_job(), subjects=subjects)
    desk.record(a_failure_report(desk.task()))
    assert (desk.task().status, subjects.get("story-1").is_given_up) == (Status.FAILED, True)


def test_a_duplicate_does_not_count_for_the_subject_either() -> None:
    desk = a_desk(a_job())
    report = a_failure_report(desk.task())
    desk.record(report)
    desk.record(report)
    assert desk.store.subjects.get("story-1").failure_count == 1


# Races


def test_a_race_lost_on_the_subject_is_decided_anew_on_what_is_there() -> None:
    """Two jobs of one subject fail at the same moment: both count, and the last one gives up."""
    subjects = MemorySubjects(a_subject(failure_count=3, version=3))
    desk = a_desk(a_job(), a_job(id=an_id(2)), subjects=subjects)
    desk.store.concurrent_writes = [lambda: desk.record(a_failure_report(desk.task(an_id(2))))]
    desk.record(a_failure_report(desk.task(ID)))
    assert subjects.get("story-1").failure_count == 5
    assert (desk.task(ID).status, desk.task(an_id(2)).status) == (Status.FAILED, Status.PENDING)


def test_a_race_lost_to_the_same_report_counts_once() -> None:
    desk = a_desk(claim_task(a_task()))
    report = a_failure_report(desk.task())
    desk.store.concurrent_writes = [lambda: desk.record(report)]
    assert desk.record(report) is None
    assert desk.task().retry_count == 1


def test_who_loses_every_race_says_so() -> None:
    desk = a_desk(claim_task(a_task()))

    def touch() -> None:
        task = desk.task()
        desk.store.tasks[ID] = replace(task, version=task.version + 1)

    desk.store.concurrent_writes = [touch] * 50
    with pytest.raises(StaleTaskError):
        desk.record(a_failure_report(desk.task()))


# Storms


def a_storm(failures: int, failure: Failure = BOOM) -> Desk:
    desk = a_desk(*(claim_task(a_task(id=an_id(n))) for n in range(failures)))
    for n in range(failures):
        desk.record(a_failure_report(desk.task(an_id(n)), failure))
    return desk


def test_up_to_the_limit_every_retry_comes_when_it_asked() -> None:
    due = {task.due_at for task in a_storm(LIMIT).store.tasks.values()}
    assert due == {NOW + 2 * MINUTE}


def test_one_retry_more_than_the_limit_is_held_for_a_minute() -> None:
    desk = a_storm(LIMIT + 1)
    assert desk.task(an_id(LIMIT)).due_at == NOW + 3 * MINUTE


def test_a_storm_comes_back_in_waves() -> None:
    waves = Counter(task.due_at for task in a_storm(2 * LIMIT + 1).store.tasks.values())
    assert waves == {NOW + 2 * MINUTE: 50, NOW + 3 * MINUTE: 50, NOW + 4 * MINUTE: 1}


def test_what_waits_for_a_budget_is_not_held() -> None:
    desk = a_storm(LIMIT + 1)
    broke = claim_task(a_task(id=an_id(1000)))
    desk.store.create(broke)
    desk.record(a_failure_report(broke, OVER_BUDGET))
    assert desk.task(broke.id).due_at == NOW + DAY / 2


def test_a_last_failure_is_told_at_once_also_in_a_storm() -> None:
    desk = a_storm(LIMIT)
    last = claim_task(fail_repeatedly(a_task(id=an_id(1000)), 2), "last")
    desk.store.create(last)
    desk.record(a_failure_report(last))
    assert desk.task(last.id).status is Status.FAILED


# Breakers


def outage(failures: int, failure: Failure, **fields: Any) -> CircuitState:
    """What the provider's breaker makes of so many."""
    tasks = [claim_task(an_action(id=an_id(n), **fields)) for n in range(failures)]
    desk = a_desk(*tasks)
    for task in tasks:
        desk.record(a_failure_report(task, failure))
    return desk.breakers.breakers.get("scripted").state


@pytest.mark.parametrize(
    ("failures", "state"),
    [
        (DEFAULT_RULES.failure_threshold - 1, CircuitState.CLOSED),
        (DEFAULT_RULES.failure_threshold, CircuitState.OPEN),
    ],
)
def test_a_provider_that_is_down_opens_its_breaker(failures: int, state: CircuitState) -> None:
    assert outage(failures, DOWN) is state


@pytest.mark.parametrize("failure", [BOOM, OVER_BUDGET], ids=["its answer", "a call not made"])
def test_what_does_not_show_a_provider_down_leaves_its_breaker_closed(failure: Failure) -> None:
    assert outage(2 * DEFAULT_RULES.failure_threshold, failure) is CircuitState.CLOSED


def test_a_task_without_a_provider_opens_no_breaker() -> None:
    assert outage(2 * DEFAULT_RULES.failure_threshold, DOWN, payload={}) is CircuitState.CLOSED


def test_an_answer_shows_that_the_provider_is_there() -> None:
    tasks = [claim_task(an_action(id=an_id(n))) for n in range(6)]
    desk = a_desk(*tasks)
    for n, task in enumerate(tasks):
        desk.record(a_failure_report(task, BOOM if n == 4 else DOWN))
    assert desk.breakers.breakers.get("scripted").failures == 1


def test_a_call_not_made_is_no_answer() -> None:
    tasks = [claim_task(an_action(id=an_id(n))) for n in range(6)]
    desk = a_desk(*tasks)
    for n, task in enumerate(tasks):
        desk.record(a_failure_report(task, OVER_BUDGET if n == 4 else DOWN))
    assert desk.breakers.breakers.get("scripted").failures == 5


def test_a_crash_tells_nothing_of_the_provider() -> None:
    tasks = [claim_task(an_action(id=an_id(n))) for n in range(9)]
    desk = a_desk(*tasks)
    desk.clock.at = NOW + LEASE
    for task in tasks:
        desk.record(replace(lease_expired_report(task), failure=DOWN))
    assert desk.breakers.breakers.get("scripted").failures == 0
