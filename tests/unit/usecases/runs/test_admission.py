"""What may keep a due task from running, and what a run does to its subject."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.errors import StaleTaskError
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.subject import Subject, SubjectStatus
from duecourse.domain.lifecycle.quiet_hours import QuietHours
from duecourse.domain.limits.circuit_breaker import DEFAULT_RULES, CircuitState
from duecourse.domain.tasks.handler import Handler, RunContext
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.run import ProviderCall, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.tasks.wait_text import describe_wait
from duecourse.usecases.limits.circuit_breaker import record_result as tell_breaker
from duecourse.usecases.runs.check_admission import check_admission
from duecourse.usecases.runs.execute_task import (
    ExecutionResult,
    RunOutcome,
)

from tests.support.builders.failures import a_subject, fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import ID, a_task, an_action, claim_task
from tests.support.fakes.chat import MemoryQuietHours
from tests.support.fakes.tasks import MemoryStore, MemorySubjects
from tests.support.worker_harness import WorkerHarness

GIVEN_UP = a_subject(failure_count=5, status=SubjectStatus.PERMANENT_FAILURE, version=5)


class Provider(Handler):
    """Does what it is told, and remembers for which keys."""

    def __init__(self, error: Exception | None = None) -> None:
        self.calls: list[str] = []
        self.error = error

    def mutate(self, work: RunContext) -> str:
        self.calls.append(work.idempotency_key)
        work.call = ProviderCall(provider="scripted")
        if self.error:
            raise self.error
        return "done"


class Bench(WorkerHarness):
    """One provider, which carries out everything."""

    def __init__(self, task: Task, *subjects: Subject, error: Exception | None = None) -> None:
        self.provider = Provider(error)
        handlers = {"action": self.provider, "reminder": self.provider}
        super().__init__(MemoryStore(task, subjects=MemorySubjects(*subjects)), handlers)

    def record(self, report: FailureReport | None = None) -> None:
        [only] = self.failures
        super().record(report or only)


def a_job(**fields: Any) -> Task:
    defaults = {"policy": "enrichment", "subject": "story-1", "max_retries": 3}
    return an_action(**{**defaults, **fields})


def cooling(until: timedelta, **fields: Any) -> Subject:
    return a_subject(**{"failure_count": 1, "cooldown_until": NOW + until, "version": 1, **fields})


# A subject that cools down


def test_a_job_on_a_subject_that_cools_down_is_parked() -> None:
    harness = Bench(a_job(), cooling(HOUR))
    assert harness.run().outcome is RunOutcome.DEFERRED
    assert harness.task.status is Status.PENDING
    assert NOW + HOUR <= harness.task.due_at <= NOW + 1.1 * HOUR


def test_jobs_put_off_together_come_one_after_the_other() -> None:
    """Else all would try at once what one failure would have kept them from."""
    ids = [f"{n:08d}-0000-4000-8000-000000000000" for n in range(5)]
    breakers = Bench(a_job()).breakers
    quiet: dict[str, Any] = {"quiet_hours": MemoryQuietHours()}
    found = [
        check_admission(a_job(id=one), cooling(HOUR), breakers=breakers, **quiet, now=NOW)
        for one in ids
    ]
    assert len({obstacle.until for obstacle in found if obstacle}) == 5


def test_a_parked_job_calls_nobody_and_counts_nothing() -> None:
    harness = Bench(a_job(retry_count=1), cooling(HOUR))
    harness.run()
    assert (harness.provider.calls, harness.failures, harness.task.retry_count) == ([], [], 1)
    assert (harness.task.run, harness.subject) == (None, cooling(HOUR))


def test_a_parked_job_says_what_it_waits_for() -> None:
    harness = Bench(a_job(), cooling(HOUR))
    ran = harness.run()
    until, detail = harness.task.due_at, {"subject": "story-1"}
    assert harness.task.wait == Wait(WaitReason.SUBJECT_COOLDOWN, until, detail)
    assert ran.error == describe_wait(harness.task.wait)


@pytest.mark.parametrize(
    ("until", "outcome"),
    [
        (MILLISECOND, RunOutcome.DEFERRED),
        (timedelta(0), RunOutcome.DELIVERED),
        (-MILLISECOND, RunOutcome.DELIVERED),
    ],
)
def test_a_cool_down_ends_at_its_time(until: timedelta, outcome: RunOutcome) -> None:
    assert Bench(a_job(), cooling(until)).run().outcome is outcome


@pytest.mark.parametrize(("until", "sent"), [(MINUTE, 1), (DAY, 0)])
def test_a_job_that_is_parked_for_a_moment_is_sent_at_once(until: timedelta, sent: int) -> None:
    harness = Bench(a_job(), cooling(until))
    harness.run()
    assert harness.queue == [Dispatch(harness.task.due_at, ID)] * sent


def test_a_parked_retry_stays_a_retry() -> None:
    harness = Bench(a_job(next_retry_at=NOW), cooling(HOUR))
    harness.run()
    assert harness.task.next_retry_at == harness.task.due_at > NOW


def test_a_job_that_was_changed_while_we_looked_is_left_alone() -> None:
    harness = Bench(a_job(), cooling(HOUR))
    theirs = claim_task(harness.task, "theirs")
    harness.store.concurrent_writes = [lambda: harness.store.tasks.update({ID: theirs})]
    assert harness.run() == ExecutionResult(RunOutcome.DUPLICATE)
    assert harness.task == theirs


def test_a_parked_job_runs_once_its_subject_has_cooled_down() -> None:
    harness = Bench(a_job(), cooling(HOUR))
    harness.run()
    harness.clock.at = harness.task.due_at
    assert harness.run().outcome is RunOutcome.DELIVERED


# A subject that was given up


def test_a_job_on_a_subject_that_was_given_up_fails_without_a_call() -> None:
    harness = Bench(a_job(), GIVEN_UP)
    assert harness.run().outcome is RunOutcome.FAILED
    assert harness.provider.calls == []


def test_a_job_on_a_subject_that_was_given_up_says_why() -> None:
    harness = Bench(a_job(), replace(GIVEN_UP, last_error_category="json_parse"))
    harness.run()
    [report] = harness.failures
    assert (
        report.failure.message
        == "subject story-1 failed permanently (json_parse): reset the subject first"
    )
    assert report.failure.code == "subject_gave_up"


@pytest.mark.parametrize("policy", ["enrichment", "agent"])
def test_a_job_on_a_subject_that_was_given_up_is_over_at_once(policy: str) -> None:
    harness = Bench(a_job(policy=policy), GIVEN_UP)
    harness.run()
    harness.record()
    assert (harness.task.status, harness.task.retry_count) == (Status.FAILED, 0)
    assert harness.subject == GIVEN_UP


def test_a_subject_that_was_given_up_is_not_waited_for() -> None:
    """The failure that ended it left a cool-down, which nothing will come after."""
    harness = Bench(a_job(), replace(GIVEN_UP, cooldown_until=NOW + HOUR))
    assert harness.run().outcome is RunOutcome.FAILED


def test_the_next_job_after_the_one_that_gave_its_subject_up_fails_at_once() -> None:
    harness = Bench(a_job(), cooling(-HOUR, failure_count=4), error=TimeoutError("no answer"))
    harness.run()
    harness.record()
    harness.failures.clear()
    harness.store.tasks[ID] = a_job()
    assert harness.run().outcome is RunOutcome.FAILED


def test_a_subject_that_was_reset_is_tried_again() -> None:
    harness = Bench(a_job(), GIVEN_UP.reset())
    assert harness.run().outcome is RunOutcome.DELIVERED


# A success


def test_success_resets_the_subject() -> None:
    harness = Bench(a_job(), cooling(-HOUR, failure_count=4))
    harness.run()
    assert harness.subject == a_subject(
        status=SubjectStatus.SUCCESS, last_attempt_at=NOW, version=2
    )


def test_success_is_kept_with_a_subject_that_was_never_seen() -> None:
    harness = Bench(a_job())
    harness.run()
    assert (harness.task.status, harness.subject.status) == (
        Status.COMPLETED,
        SubjectStatus.SUCCESS,
    )


def test_a_success_that_lost_a_race_on_its_subject_is_kept_all_the_same() -> None:
    harness = Bench(a_job(), cooling(-HOUR))

    def another_failure() -> None:
        subject = harness.subject.count_failure(limit=5)
        harness.store.subjects.save(
            subject.record_attempt("unknown", "x", at=NOW, cooldown_until=None)
        )

    harness.store.concurrent_writes = [lambda: None, another_failure]  # the claim, then the commit
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert (harness.task.status, harness.subject.failure_count) == (Status.COMPLETED, 0)
    assert len(harness.provider.calls) == 1


def test_a_success_whose_lease_was_lost_raises() -> None:
    harness = Bench(a_job())

    def swept() -> None:
        harness.store.tasks[ID] = replace(harness.task, version=99)

    harness.store.concurrent_writes = [lambda: None, swept]
    with pytest.raises(StaleTaskError):
        harness.run()


def test_a_task_without_a_subject_writes_none() -> None:
    harness = Bench(a_task())
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert harness.subject == a_subject()


# A failure


def test_a_failure_is_reported_and_the_lease_stands_for_it() -> None:
    harness = Bench(a_job(), error=ValueError("no route"))
    ran = harness.run()
    assert (ran.outcome, ran.run_id, ran.error) == (
        RunOutcome.FAILED,
        "run-1",
        "ValueError: no route",
    )
    assert (harness.task.status, run_of(harness.task).status) == (
        *(Status.IN_PROGRESS, RunStatus.ACTIVE),
    )


def test_a_report_names_its_run_and_its_moment() -> None:
    harness = Bench(a_job(), error=ValueError("no route"))
    harness.run()
    [report] = harness.failures
    assert (report.task_id, report.run_id, report.failed_at, report.is_crash) == (
        *(ID, "run-1", NOW, False),
    )
    assert (report.failure.type, report.failure.phase) == ("ValueError", "mutating")


# A provider that is down


def opened(harness: Bench) -> Bench:
    for _ in range(DEFAULT_RULES.failure_threshold):
        tell_breaker("scripted", is_down=True, started_at=NOW, breakers=harness.breakers, now=NOW)
    return harness


def test_an_action_whose_provider_is_down_is_parked() -> None:
    harness = opened(Bench(an_action()))
    assert harness.run().outcome is RunOutcome.DEFERRED
    assert (harness.provider.calls, harness.task.retry_count) == ([], 0)


def test_an_action_whose_provider_is_down_says_so() -> None:
    harness = opened(Bench(an_action()))
    harness.run()
    until, detail = harness.task.due_at, {"provider": "scripted"}
    assert harness.task.wait == Wait(WaitReason.CIRCUIT_BREAKER, until, detail)


def test_an_action_is_parked_beyond_the_time_the_breaker_is_open() -> None:
    harness = opened(Bench(an_action()))
    harness.run()
    assert (
        DEFAULT_RULES.initial_open_time
        <= harness.task.due_at - NOW
        <= DEFAULT_RULES.initial_open_time + DEFAULT_RULES.window
    )


def test_other_tasks_go_on_while_a_provider_is_down() -> None:
    assert opened(Bench(a_task())).run().outcome is RunOutcome.DELIVERED


def test_a_success_moves_the_breaker_on() -> None:
    harness = opened(Bench(an_action(due_at=NOW + HOUR)))
    harness.clock.at = NOW + HOUR
    harness.run()
    assert harness.breakers.breakers.get("scripted").state is CircuitState.RETURNING


def test_a_cool_down_does_not_use_up_the_providers_probe() -> None:
    harness = opened(Bench(a_job(due_at=NOW + HOUR), cooling(DAY)))
    harness.clock.at = NOW + HOUR
    harness.run()
    assert harness.breakers.breakers.get("scripted").state is CircuitState.OPEN


# A message that is not for now


def test_a_message_for_another_time_does_nothing() -> None:
    harness = Bench(fail_repeatedly(a_task(), 1))
    before = harness.task
    harness.clock.at = NOW + HOUR
    assert harness.run(due_at=NOW) == ExecutionResult(RunOutcome.DUPLICATE)
    assert (harness.task, harness.provider.calls) == (before, [])


def test_a_message_that_comes_early_is_sent_back_to_wait() -> None:
    harness = Bench(a_task(due_at=NOW + HOUR))
    assert harness.run() == ExecutionResult(RunOutcome.REQUEUED_EARLY)
    assert (harness.queue, harness.provider.calls) == ([Dispatch(NOW + HOUR, ID)], [])


# Quiet hours


def a_quiet(text: str, **fields: Any) -> Bench:
    harness = Bench(a_task(**{"created_by": "ci", **fields}))
    harness.quiet_hours.set(harness.task.owner, QuietHours.from_text(text))
    return harness


def test_a_reminder_in_quiet_hours_is_put_off_and_counts_nothing() -> None:
    harness = a_quiet("11:00 13:00 UTC", repeat="daily")
    before = harness.task
    assert harness.run() == ExecutionResult(
        RunOutcome.DEFERRED, error="quiet hours until 13:00 (UTC)"
    )
    assert harness.provider.calls == []
    task = harness.task
    assert (task.due_at, task.nominal_at, task.anchor) == (NOW + HOUR, NOW, before.anchor)
    assert (task.status, task.retry_count, task.run) == (Status.PENDING, 0, None)
    harness.clock.at = NOW + HOUR
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert harness.task.nominal_at == NOW + DAY


def test_a_retry_that_is_put_off_is_still_one() -> None:
    harness = a_quiet("11:00 13:00 UTC", next_retry_at=NOW, retry_count=1)
    harness.run()
    assert (harness.task.next_retry_at, harness.task.retry_count) == (NOW + HOUR, 1)


def test_work_goes_on_in_quiet_hours() -> None:
    harness = Bench(an_action(created_by="ci"))
    harness.quiet_hours.set(harness.task.owner, QuietHours.from_text("11:00 13:00 UTC"))
    assert harness.run().outcome is RunOutcome.DELIVERED


@pytest.mark.parametrize(
    ("fields", "comes"),
    [
        ({"created_by": None, "created_at": NOW - HOUR}, True),
        ({"created_by": None, "created_at": NOW - HOUR - MILLISECOND}, False),
        ({"created_by": None, "created_at": NOW - HOUR, "repeat": "daily"}, False),
        ({"owner_rescheduled_at": NOW - MINUTE, "repeat": "daily"}, True),
        ({"rescheduled_at": NOW - MINUTE, "repeat": "daily"}, False),
        ({"created_by": None, "created_at": NOW - HOUR, "rescheduled_at": NOW - MINUTE}, False),
        ({"rescheduled_at": NOW - MINUTE, "owner_rescheduled_at": NOW - MINUTE}, True),
        ({"rescheduled_at": NOW - MINUTE, "owner_rescheduled_at": NOW - HOUR}, False),
        ({"owner_rescheduled_at": NOW - 2 * HOUR}, False),
    ],
)
def test_what_a_person_asked_for_in_these_quiet_hours_comes(
    fields: dict[str, Any], comes: bool
) -> None:
    harness = a_quiet("11:00 13:00 UTC", **fields)
    assert (harness.run().outcome is RunOutcome.DELIVERED) is comes


@pytest.mark.parametrize("latest", [None, "18:00 19:00 UTC", "11:00 12:00 UTC"])
def test_what_is_quiet_no_more_holds_nothing_where_that_is_not_known_yet(
    latest: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody would let it through again."""
    harness = a_quiet("11:00 13:00 UTC")
    now = QuietHours.from_text(latest) if latest else None
    monkeypatch.setattr(harness.quiet_hours, "get", lambda _: now)
    assert harness.run().outcome is RunOutcome.DELIVERED


def test_it_waits_no_longer_than_the_latest_quiet_hours_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = a_quiet("11:00 18:00 UTC")
    latest = QuietHours.from_text("11:00 13:00 UTC")
    monkeypatch.setattr(harness.quiet_hours, "get", lambda _: latest)
    assert harness.run() == ExecutionResult(
        RunOutcome.DEFERRED, error="quiet hours until 13:00 (UTC)"
    )
    assert harness.task.due_at == NOW + HOUR


def test_only_what_would_wait_costs_a_read(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = a_quiet("18:00 19:00 UTC")
    asked: list[Owner] = []
    monkeypatch.setattr(harness.quiet_hours, "get", asked.append)
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert asked == []


def test_an_occurrence_that_was_asked_for_says_nothing_of_the_next() -> None:
    repeat = "FREQ=MINUTELY;INTERVAL=30"
    harness = a_quiet("11:00 13:00 UTC", owner_rescheduled_at=NOW - MINUTE, repeat=repeat)
    assert harness.run().outcome is RunOutcome.DELIVERED
    harness.clock.at = harness.task.due_at
    assert harness.run().outcome is RunOutcome.DEFERRED


@pytest.mark.parametrize(
    ("late", "outcome"),
    [(MINUTE - MILLISECOND, RunOutcome.DELIVERED), (MINUTE, RunOutcome.DEFERRED)],
)
def test_a_moment_late_is_not_in_the_quiet_hours(late: timedelta, outcome: RunOutcome) -> None:
    """What fell due just before them would else come in the morning."""
    harness = a_quiet("12:00 13:00 UTC", due_at=NOW - MILLISECOND)
    harness.clock.at = NOW - MILLISECOND + late
    assert harness.run().outcome is outcome


def test_what_is_late_until_after_the_quiet_hours_comes() -> None:
    harness = a_quiet("10:00 12:00 UTC", due_at=NOW - MILLISECOND)
    assert harness.run().outcome is RunOutcome.DELIVERED
