"""Admission of a due task (cool-downs, breakers, quiet hours), and subject updates by runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.failures.subject import Subject, SubjectStatus
from duecourse.domain.lifecycle.quiet_hours import QuietHours
from duecourse.domain.limits.circuit_breaker import DEFAULT_RULES, CircuitState
from duecourse.domain.origin import Effect
from duecourse.domain.tasks.handler import Handler, RunContext
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.recent_errors import NO_ERRORS
from duecourse.domain.tasks.run import ProviderCall, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.tasks.wait_text import describe_wait
from duecourse.usecases.runs.check_admission import check_admission
from duecourse.usecases.runs.execute_task import (
    ExecutionResult,
    RunOutcome,
)

from tests.support.breakers import fail
from tests.support.builders.failures import a_subject, fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import ID, a_task, an_action, claim_task
from tests.support.fakes.chat import MemoryQuietHours
from tests.support.fakes.tasks import MemoryStore, MemorySubjects
from tests.support.worker_harness import WorkerHarness

FAILED_SUBJECT = a_subject(failure_count=5, status=SubjectStatus.PERMANENT_FAILURE, version=5)


class RecordingProvider(Handler):
    """Succeeds or raises `error`, and records the idempotency keys of its calls."""

    def __init__(self, error: Exception | None = None) -> None:
        self.calls: list[str] = []
        self.error = error

    def mutate(self, work: RunContext) -> str:
        self.calls.append(work.idempotency_key)
        work.call = ProviderCall(provider="scripted")
        if self.error:
            raise self.error
        return "done"


class AdmissionHarness(WorkerHarness):
    """A worker with one provider for all tasks."""

    def __init__(self, task: Task, *subjects: Subject, error: Exception | None = None) -> None:
        self.provider = RecordingProvider(error)
        handlers = {"action": self.provider, "reminder": self.provider}
        super().__init__(MemoryStore(task, subjects=MemorySubjects(*subjects)), handlers)

    def record(self, report: FailureReport | None = None) -> None:
        [report_to_record] = self.failures
        super().record(report or report_to_record)


def a_job(**fields: Any) -> Task:
    defaults = {"policy": "enrichment", "subject": "story-1", "max_retries": 3}
    return an_action(**{**defaults, **fields})


def a_cooling_subject(until: timedelta, **fields: Any) -> Subject:
    return a_subject(**{"failure_count": 1, "cooldown_until": NOW + until, "version": 1, **fields})


# A subject that cools down


def test_a_job_on_a_cooling_subject_is_deferred() -> None:
    harness = AdmissionHarness(a_job(), a_cooling_subject(HOUR))
    assert harness.run().outcome is RunOutcome.DEFERRED
    assert harness.task.status is Status.PENDING
    assert NOW + HOUR <= harness.task.due_at <= NOW + 1.1 * HOUR


def test_jobs_deferred_together_have_different_due_times() -> None:
    """Otherwise all of them would retry at once, although one failure would defer the rest."""
    ids = [f"{n:08d}-0000-4000-8000-000000000000" for n in range(5)]
    breakers = AdmissionHarness(a_job()).breakers
    quiet: dict[str, Any] = {"quiet_hours": MemoryQuietHours()}
    obstacles = [
        check_admission(
            a_job(id=task_id), a_cooling_subject(HOUR), breakers=breakers, **quiet, now=NOW
        )
        for task_id in ids
    ]
    assert len({obstacle.until for obstacle in obstacles if obstacle}) == 5


def test_a_deferred_job_calls_no_provider_and_counts_no_retry() -> None:
    harness = AdmissionHarness(a_job(retry_count=1), a_cooling_subject(HOUR))
    harness.run()
    assert (harness.provider.calls, harness.failures, harness.task.retry_count) == ([], [], 1)
    assert (harness.task.run, harness.subject) == (None, a_cooling_subject(HOUR))


def test_a_deferred_job_records_its_wait_reason() -> None:
    harness = AdmissionHarness(a_job(), a_cooling_subject(HOUR))
    result = harness.run()
    until, detail = harness.task.due_at, {"subject": "story-1"}
    assert harness.task.wait == Wait(WaitReason.SUBJECT_COOLDOWN, until, detail)
    assert result.error == describe_wait(harness.task.wait)


@pytest.mark.parametrize(
    ("until", "outcome"),
    [
        (MILLISECOND, RunOutcome.DEFERRED),
        (timedelta(0), RunOutcome.DELIVERED),
        (-MILLISECOND, RunOutcome.DELIVERED),
    ],
)
def test_a_job_runs_when_the_cool_down_ends(until: timedelta, outcome: RunOutcome) -> None:
    assert AdmissionHarness(a_job(), a_cooling_subject(until)).run().outcome is outcome


@pytest.mark.parametrize(("until", "sent"), [(MINUTE, 1), (DAY, 0)])
def test_a_job_deferred_briefly_is_enqueued_at_once(until: timedelta, sent: int) -> None:
    harness = AdmissionHarness(a_job(), a_cooling_subject(until))
    harness.run()
    assert harness.queue == [Dispatch(harness.task.due_at, ID)] * sent


def test_a_deferred_retry_stays_a_retry() -> None:
    harness = AdmissionHarness(a_job(next_retry_at=NOW), a_cooling_subject(HOUR))
    harness.run()
    assert harness.task.next_retry_at == harness.task.due_at > NOW


def test_a_job_changed_concurrently_is_not_deferred() -> None:
    harness = AdmissionHarness(a_job(), a_cooling_subject(HOUR))
    changed_task = claim_task(harness.task, "theirs")
    harness.store.concurrent_writes = [lambda: harness.store.tasks.update({ID: changed_task})]
    assert harness.run() == ExecutionResult(RunOutcome.DUPLICATE)
    assert harness.task == changed_task


def test_a_deferred_job_runs_after_the_cool_down() -> None:
    harness = AdmissionHarness(a_job(), a_cooling_subject(HOUR))
    harness.run()
    harness.clock.at = harness.task.due_at
    assert harness.run().outcome is RunOutcome.DELIVERED


# A subject that was given up


def test_a_job_on_a_failed_subject_fails_without_a_call() -> None:
    harness = AdmissionHarness(a_job(), FAILED_SUBJECT)
    assert harness.run().outcome is RunOutcome.FAILED
    assert harness.provider.calls == []


def test_a_job_on_a_failed_subject_reports_the_reason() -> None:
    harness = AdmissionHarness(a_job(), replace(FAILED_SUBJECT, last_error_category="json_parse"))
    harness.run()
    [report] = harness.failures
    assert (
        report.failure.message
        == "subject story-1 failed permanently (json_parse): reset the subject first"
    )
    assert report.failure.code == "subject_gave_up"


@pytest.mark.parametrize("policy", ["enrichment", "agent"])
def test_a_job_on_a_failed_subject_is_not_retried(policy: str) -> None:
    harness = AdmissionHarness(a_job(policy=policy), FAILED_SUBJECT)
    harness.run()
    harness.record()
    assert (harness.task.status, harness.task.retry_count) == (Status.FAILED, 0)
    tracked = harness.subject
    assert tracked.recent_errors.count_since("2026-02-17") == 1
    known: dict[str, Any] = {"recent_errors": NO_ERRORS, "version": FAILED_SUBJECT.version}
    assert replace(tracked, **known) == FAILED_SUBJECT


def test_a_failed_subject_does_not_defer_its_jobs() -> None:
    """The final failure left a cool-down, but no attempt will follow it."""
    harness = AdmissionHarness(a_job(), replace(FAILED_SUBJECT, cooldown_until=NOW + HOUR))
    assert harness.run().outcome is RunOutcome.FAILED


def test_the_next_job_fails_at_once_after_its_subject_failed_for_good() -> None:
    harness = AdmissionHarness(
        a_job(), a_cooling_subject(-HOUR, failure_count=4), error=TimeoutError("no answer")
    )
    harness.run()
    harness.record()
    harness.failures.clear()
    harness.store.tasks[ID] = a_job()
    assert harness.run().outcome is RunOutcome.FAILED


def test_a_job_runs_again_after_its_subject_was_reset() -> None:
    harness = AdmissionHarness(a_job(), FAILED_SUBJECT.reset())
    assert harness.run().outcome is RunOutcome.DELIVERED


# A success


def test_success_resets_the_subject() -> None:
    harness = AdmissionHarness(a_job(), a_cooling_subject(-HOUR, failure_count=4))
    harness.run()
    assert harness.subject == a_subject(
        status=SubjectStatus.SUCCESS, last_attempt_at=NOW, version=2
    )


def test_success_is_stored_for_an_unknown_subject() -> None:
    harness = AdmissionHarness(a_job())
    harness.run()
    assert (harness.task.status, harness.subject.status) == (
        Status.COMPLETED,
        SubjectStatus.SUCCESS,
    )


def test_success_is_stored_despite_a_write_conflict_on_the_subject() -> None:
    harness = AdmissionHarness(a_job(), a_cooling_subject(-HOUR))

    def another_failure() -> None:
        subject = harness.subject.count_failure(limit=5)
        harness.store.subjects.save(
            subject.record_attempt("unknown", "x", at=NOW, cooldown_until=None)
        )

    harness.store.concurrent_writes = [lambda: None, another_failure]  # the claim, then the commit
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert (harness.task.status, harness.subject.failure_count) == (Status.COMPLETED, 0)
    assert len(harness.provider.calls) == 1


def test_a_success_whose_lease_was_lost_is_reported() -> None:
    harness = AdmissionHarness(a_job())

    def swept() -> None:
        harness.store.tasks[ID] = replace(harness.task, version=99)

    harness.store.concurrent_writes = [lambda: None, swept]
    assert harness.run().outcome is RunOutcome.REPORTED_LATE
    assert (harness.report.effect, harness.report.is_finished) == (Effect.APPLIED, True)
    assert harness.task.version == 99


def test_a_task_without_a_subject_writes_no_subject() -> None:
    harness = AdmissionHarness(a_task())
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert harness.subject == a_subject()


# A failure


def test_a_failed_run_is_reported_and_keeps_its_lease() -> None:
    harness = AdmissionHarness(a_job(), error=ValueError("no route"))
    result = harness.run()
    assert (result.outcome, result.run_id, result.error) == (
        RunOutcome.FAILED,
        "run-1",
        "ValueError: no route",
    )
    assert (harness.task.status, run_of(harness.task).status) == (
        *(Status.IN_PROGRESS, RunStatus.ACTIVE),
    )


def test_a_report_has_its_run_id_and_time() -> None:
    harness = AdmissionHarness(a_job(), error=ValueError("no route"))
    harness.run()
    [report] = harness.failures
    assert (report.task_id, report.run_id, report.failed_at, report.is_crash) == (
        *(ID, "run-1", NOW, False),
    )
    assert (report.failure.type, report.failure.phase) == ("ValueError", "mutating")


# A provider that is down


def open_breaker(harness: AdmissionHarness) -> AdmissionHarness:
    fail(harness.breakers, DEFAULT_RULES.failure_threshold, provider="scripted")
    return harness


def test_an_action_is_deferred_while_the_circuit_breaker_is_open() -> None:
    harness = open_breaker(AdmissionHarness(an_action()))
    assert harness.run().outcome is RunOutcome.DEFERRED
    assert (harness.provider.calls, harness.task.retry_count) == ([], 0)


def test_an_action_deferred_by_the_circuit_breaker_records_its_wait_reason() -> None:
    harness = open_breaker(AdmissionHarness(an_action()))
    harness.run()
    until, detail = harness.task.due_at, {"provider": "scripted"}
    assert harness.task.wait == Wait(WaitReason.CIRCUIT_BREAKER, until, detail)


def test_an_action_is_deferred_beyond_the_end_of_the_open_state() -> None:
    harness = open_breaker(AdmissionHarness(an_action()))
    harness.run()
    assert (
        DEFAULT_RULES.initial_open_time
        <= harness.task.due_at - NOW
        <= DEFAULT_RULES.initial_open_time + DEFAULT_RULES.window
    )


def test_other_tasks_run_while_a_circuit_breaker_is_open() -> None:
    assert open_breaker(AdmissionHarness(a_task())).run().outcome is RunOutcome.DELIVERED


def test_a_success_advances_the_circuit_breaker() -> None:
    harness = open_breaker(AdmissionHarness(an_action(due_at=NOW + HOUR)))
    harness.clock.at = NOW + HOUR
    harness.run()
    assert harness.breakers.store.get("scripted").breaker.state is CircuitState.RETURNING


def test_a_job_in_cool_down_does_not_use_the_probe_of_the_circuit_breaker() -> None:
    harness = open_breaker(AdmissionHarness(a_job(due_at=NOW + HOUR), a_cooling_subject(DAY)))
    harness.clock.at = NOW + HOUR
    harness.run()
    assert harness.breakers.store.get("scripted").breaker.state is CircuitState.OPEN


# A message that is not for now


def test_a_message_with_another_due_time_does_nothing() -> None:
    harness = AdmissionHarness(fail_repeatedly(a_task(), 1))
    before = harness.task
    harness.clock.at = NOW + HOUR
    assert harness.run(due_at=NOW) == ExecutionResult(RunOutcome.DUPLICATE)
    assert (harness.task, harness.provider.calls) == (before, [])


def test_a_message_that_arrives_early_is_requeued() -> None:
    harness = AdmissionHarness(a_task(due_at=NOW + HOUR))
    assert harness.run() == ExecutionResult(RunOutcome.REQUEUED_EARLY)
    assert (harness.queue, harness.provider.calls) == ([Dispatch(NOW + HOUR, ID)], [])


# Quiet hours


def quiet_harness(text: str, **fields: Any) -> AdmissionHarness:
    harness = AdmissionHarness(a_task(**{"created_by": "ci", **fields}))
    harness.quiet_hours.set(harness.task.owner, QuietHours.from_text(text))
    return harness


def test_a_reminder_in_quiet_hours_is_deferred_and_counts_no_retry() -> None:
    harness = quiet_harness("11:00 13:00 UTC", repeat="daily")
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


def test_a_retry_deferred_by_quiet_hours_stays_a_retry() -> None:
    harness = quiet_harness("11:00 13:00 UTC", next_retry_at=NOW, retry_count=1)
    harness.run()
    assert (harness.task.next_retry_at, harness.task.retry_count) == (NOW + HOUR, 1)


def test_actions_run_in_quiet_hours() -> None:
    harness = AdmissionHarness(an_action(created_by="ci"))
    harness.quiet_hours.set(harness.task.owner, QuietHours.from_text("11:00 13:00 UTC"))
    assert harness.run().outcome is RunOutcome.DELIVERED


@pytest.mark.parametrize(
    ("fields", "is_delivered"),
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
def test_a_reminder_requested_in_these_quiet_hours_is_delivered(
    fields: dict[str, Any], is_delivered: bool
) -> None:
    harness = quiet_harness("11:00 13:00 UTC", **fields)
    assert (harness.run().outcome is RunOutcome.DELIVERED) is is_delivered


@pytest.mark.parametrize("latest", [None, "18:00 19:00 UTC", "11:00 12:00 UTC"])
def test_outdated_cached_quiet_hours_do_not_defer_a_reminder(
    latest: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing would release the task again."""
    harness = quiet_harness("11:00 13:00 UTC")
    now = QuietHours.from_text(latest) if latest else None
    monkeypatch.setattr(harness.quiet_hours, "get", lambda _: now)
    assert harness.run().outcome is RunOutcome.DELIVERED


def test_a_reminder_is_deferred_by_the_current_quiet_hours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = quiet_harness("11:00 18:00 UTC")
    latest = QuietHours.from_text("11:00 13:00 UTC")
    monkeypatch.setattr(harness.quiet_hours, "get", lambda _: latest)
    assert harness.run() == ExecutionResult(
        RunOutcome.DEFERRED, error="quiet hours until 13:00 (UTC)"
    )
    assert harness.task.due_at == NOW + HOUR


def test_quiet_hours_are_read_again_only_before_a_deferral(monkeypatch: pytest.MonkeyPatch) -> None:
    harness = quiet_harness("18:00 19:00 UTC")
    reads: list[Owner] = []
    monkeypatch.setattr(harness.quiet_hours, "get", reads.append)
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert reads == []


def test_a_requested_occurrence_does_not_exempt_the_next_one() -> None:
    repeat = "FREQ=MINUTELY;INTERVAL=30"
    harness = quiet_harness("11:00 13:00 UTC", owner_rescheduled_at=NOW - MINUTE, repeat=repeat)
    assert harness.run().outcome is RunOutcome.DELIVERED
    harness.clock.at = harness.task.due_at
    assert harness.run().outcome is RunOutcome.DEFERRED


@pytest.mark.parametrize(
    ("delay", "outcome"),
    [(MINUTE - MILLISECOND, RunOutcome.DELIVERED), (MINUTE, RunOutcome.DEFERRED)],
)
def test_a_reminder_slightly_late_is_not_deferred_by_quiet_hours(
    delay: timedelta, outcome: RunOutcome
) -> None:
    """Otherwise a reminder due just before quiet hours would be deferred until morning."""
    harness = quiet_harness("12:00 13:00 UTC", due_at=NOW - MILLISECOND)
    harness.clock.at = NOW - MILLISECOND + delay
    assert harness.run().outcome is outcome


def test_a_reminder_late_until_after_quiet_hours_is_delivered() -> None:
    harness = quiet_harness("10:00 12:00 UTC", due_at=NOW - MILLISECOND)
    assert harness.run().outcome is RunOutcome.DELIVERED
