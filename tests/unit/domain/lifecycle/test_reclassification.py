"""A person says what a failure was: the task goes on as if it had been read so at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.errors import InvalidFieldsError, InvalidStateError, StaleTaskError
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.subject import SubjectStatus
from duecourse.domain.journal.history import events_between
from duecourse.domain.lifecycle.lease import lease_expired_report
from duecourse.domain.lifecycle.retry_throttle import RetryLane, retry_lane
from duecourse.domain.lifecycle.user_actions import cancel
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import IndeterminatePolicy, MutationStatus, RunStatus
from duecourse.domain.tasks.run_diagnosis import Location, Reading
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
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


class Desk:
    """Where failures are recorded and judged anew."""

    def __init__(self, task: Task, *, subjects: MemorySubjects | None = None) -> None:
        self.store = MemoryStore(task, subjects=subjects)
        self.queue = ListQueue()
        self.clock = ManualClock(NOW)

    @property
    def recorder(self) -> FailureDeps:
        return failure_deps(self.store, queue=self.queue, clock=self.clock)

    @property
    def task(self) -> Task:
        return self.store.tasks[ID]  # beside it, there may be a review

    def fail(self, failure: Failure, *, times: int = 1, **told: Any) -> Task:
        for _ in range(times):
            if self.task.status is not Status.IN_PROGRESS:
                self.clock.at = max(self.clock.at, self.task.due_at)
                run_id = f"run-{self.task.version}"
                self.store.tasks[self.task.id] = claim_task(self.task, run_id, at=self.clock.at)
            report = replace(a_failure_report(self.task, failure, at=self.clock.at), **told)
            assert record_failure(report, self.recorder) is not None
        return self.task

    def reclassify(self, category: str, *, after: timedelta = SECOND) -> Task:
        self.clock.at += after
        return reclassify_task(self.task, category, self.recorder)


def a_desk(failure: Failure = TYPE_ERROR, *, times: int = 1, **fields: Any) -> Desk:
    desk = Desk(an_action(**fields))
    desk.fail(failure, times=times)
    desk.queue.clear()
    return desk


def a_job(*, subjects: MemorySubjects | None = None, **fields: Any) -> Desk:
    """On a subject, under the policy that counts its failures."""
    defaults = {"policy": "enrichment", "subject": "story-1", "max_retries": 3}
    return Desk(an_action(**{**defaults, **fields}), subjects=subjects)


def wait_of(task: Task, since: datetime = NOW) -> timedelta:
    assert task.next_retry_at is not None
    return task.next_retry_at - since


def is_about(wait: timedelta, wanted: timedelta) -> bool:
    return wanted <= wait <= 1.1 * wanted


def kinds(old: Task, new: Task) -> list[str]:
    return [event.type for event in events_between(old, new, at=LATER)]


# Waiting for a retry


def test_a_code_error_said_to_be_transient_waits_30_seconds_instead_of_2_minutes() -> None:
    desk = a_desk()
    assert is_about(wait_of(desk.task), 2 * MINUTE)
    task = desk.reclassify("transient")
    assert is_about(wait_of(task), 30 * SECOND)
    assert (task.status, task.due_at, task.retry_count) == (Status.PENDING, task.next_retry_at, 1)
    assert (task.last_error_category, run_of(task).category) == ("transient", "transient")
    assert [one.task_id for one in desk.queue] == [task.id]
    assert desk.task == task


def test_one_said_to_be_worse_waits_longer() -> None:
    desk = a_desk()
    assert is_about(wait_of(desk.reclassify("resource_exhaustion")), 15 * MINUTE)
    assert desk.queue == []


def test_it_counts_from_the_failure_and_is_never_due_before_the_present() -> None:
    task = a_desk().reclassify("transient", after=90 * SECOND)
    assert task.due_at == NOW + 90 * SECOND


def test_the_error_itself_stays_as_it_was() -> None:
    desk = a_desk()
    before = desk.task
    task = desk.reclassify("transient")
    assert (task.last_error, run_of(task).error) == (before.last_error, run_of(before).error)
    assert run_of(task).ended_at == run_of(before).ended_at
    assert task.version == before.version + 1


def test_the_run_keeps_that_a_person_said_so_and_how_it_was_read_at_first() -> None:
    desk = a_desk()
    first = diagnosis_of(desk.task)
    desk.reclassify("transient")
    note = diagnosis_of(desk.reclassify("timeout"))
    assert (note.pattern, note.confidence) == ("person", 1.0)
    assert note.location == Location("file.ts", 45)
    assert note.read_as == Reading(
        category="code_error",
        pattern=first.pattern,
        confidence=first.confidence,
        location=first.location,
    )


def test_the_guidance_of_the_wrong_reading_is_replaced() -> None:
    desk = a_desk(times=2)
    before = desk.task.guidance
    guidance = desk.reclassify("transient").guidance
    assert len(guidance) == len(before) == 2
    assert guidance[0] == before[0]
    assert guidance[1] != before[1]


def test_what_the_server_asked_for_still_counts() -> None:
    asked = Failure.create("no", type="Odd", retry_after=600)
    task = a_desk(asked).reclassify("transient")
    assert is_about(wait_of(task), 10 * MINUTE)


def test_over_budget_waits_for_the_budget_and_is_not_counted() -> None:
    task = a_desk().reclassify("budget_exceeded")
    assert (task.retry_count, task.due_at) == (0, NOW.replace(hour=0) + DAY)
    assert run_of(task).status is RunStatus.PAUSED_BUDGET
    assert retry_lane(task) is RetryLane.LONG


def test_what_was_not_counted_is_counted_from_now_on() -> None:
    desk = a_desk(Failure.create("spent", code="budget_exceeded"))
    assert desk.task.retry_count == 0
    assert desk.reclassify("transient").retry_count == 1


def test_a_paused_task_stays_paused() -> None:
    desk = a_desk()
    desk.store.tasks[desk.task.id] = replace(desk.task, paused=True)
    assert desk.reclassify("transient").paused


def test_the_same_category_changes_nothing() -> None:
    desk = a_desk()
    before = desk.task
    assert desk.reclassify("code_error") is before
    assert desk.task is before


def test_a_crash_stays_a_crash() -> None:
    desk = Desk(claim_task(an_action()))
    desk.clock.at = NOW + LEASE
    assert record_failure(lease_expired_report(desk.task), desk.recorder) is not None
    task = desk.reclassify("timeout")
    assert (run_of(task).status, task.last_error_category) == (RunStatus.CRASHED, "timeout")
    assert run_of(task).mutation.status is MutationStatus.INDETERMINATE


# It ends, or goes on


def test_one_said_to_be_permanent_ends() -> None:
    desk = a_job()
    desk.fail(NO_JSON)
    task = desk.reclassify("content_policy")
    assert (task.status, task.next_retry_at) == (Status.FAILED, None)
    assert run_of(task).status is RunStatus.FAILED_PERMANENT
    assert (task.recovery_action, task.failed_occurrences) == ("give_up", 1)


def test_one_that_had_ended_goes_on() -> None:
    desk = a_job()
    ended = desk.fail(REFUSED_BY_POLICY)
    assert ended.status is Status.FAILED
    task = desk.reclassify("json_parse")
    assert (task.status, task.failed_occurrences) == (Status.PENDING, 0)
    assert is_about(wait_of(task), 12 * HOUR)


def test_one_that_had_ended_may_stay_so() -> None:
    desk = a_job(max_retries=1)
    desk.fail(NO_JSON)
    task = desk.reclassify("network_timeout")
    assert (task.status, task.last_error_category) == (Status.FAILED, "network_timeout")


def test_one_blocked_for_its_specification_is_taken_up_again() -> None:
    desk = a_desk(times=3, payload={"provider": "scripted", "spec": "x"})
    assert desk.task.status is Status.BLOCKED
    task = desk.reclassify("transient", after=DAY)
    assert (task.status, task.due_at) == (Status.PENDING, desk.clock.at)
    assert task.recovery_action == "retry_with_guidance"
    assert [one.task_id for one in desk.queue] == [task.id]


def test_one_blocked_for_a_bug_is_taken_up_again() -> None:
    desk = Desk(an_action())
    blocked = desk.fail(TYPE_ERROR, origin=Origin.LOGIC)
    assert (blocked.status, blocked.recovery_action) == (Status.BLOCKED, "await_fix")
    assert desk.reclassify("transient").status is Status.PENDING


def test_one_that_failed_too_often_stays_blocked_whatever_it_was() -> None:
    desk = a_desk(times=4)
    assert desk.task.status is Status.BLOCKED
    task = desk.reclassify("transient")
    assert (task.status, task.last_error_category) == (Status.BLOCKED, "transient")


def test_one_that_waited_may_now_need_a_person() -> None:
    desk = a_desk(TRANSIENT, times=3, payload={"provider": "scripted", "spec": "x"})
    assert desk.task.status is Status.PENDING
    task = desk.reclassify("code_error")
    assert (task.status, task.next_retry_at) == (Status.BLOCKED, None)
    assert task.recovery_action == "retry_with_spec_refresh"


def test_a_series_goes_on_with_its_next_occurrence() -> None:
    desk = a_job(repeat="daily")
    desk.fail(NO_JSON)
    task = desk.reclassify("content_policy")
    assert (task.status, task.due_at) == (Status.PENDING, NOW + DAY)
    assert (task.next_retry_at, task.failed_occurrences) == (None, 1)


def test_what_was_asked_of_an_occurrence_says_nothing_of_the_next() -> None:
    desk = a_job(repeat="daily", rescheduled_at=NOW, owner_rescheduled_at=NOW)
    desk.fail(NO_JSON)
    assert desk.reclassify("network_timeout").owner_rescheduled_at == NOW
    task = desk.reclassify("content_policy")
    assert (task.rescheduled_at, task.owner_rescheduled_at) == (None, None)


def test_a_retry_is_held_when_too_many_wait() -> None:
    desk = a_desk()
    others = {
        str(n): replace(desk.task, id=str(n), due_at=NOW + HOUR, next_retry_at=NOW + HOUR)
        for n in range(50)
    }
    task = desk.task
    desk.store.tasks |= others
    after = reclassify_task(task, "transient", desk.recorder)
    assert after.due_at == NOW + HOUR + MINUTE
    assert after.wait == Wait(WaitReason.RETRY_THROTTLE, after.due_at, {"limit": 50})


# Its subject


def test_the_subject_is_judged_anew_too() -> None:
    desk = a_job()
    desk.fail(REFUSED_BY_POLICY)
    assert desk.store.subjects.get("story-1").is_given_up
    desk.reclassify("json_parse")
    subject = desk.store.subjects.get("story-1")
    assert (subject.failure_count, subject.status) == (1, SubjectStatus.PENDING)
    assert subject.last_error_category == "json_parse"
    assert subject.cooldown_until is not None
    assert is_about(subject.cooldown_until - NOW, 12 * HOUR)


@pytest.mark.parametrize("since", ["tried", "reset"])
def test_a_subject_that_was_tried_or_reset_since_is_left_as_it_is(since: str) -> None:
    desk = a_job()
    desk.fail(REFUSED_BY_POLICY)
    subject = desk.store.subjects.get("story-1")
    changed = (
        subject.reset()
        if since == "reset"
        else subject.record_attempt("content_policy", "x", at=NOW + MINUTE, cooldown_until=None)
    )
    desk.store.subjects.save(changed)
    assert desk.reclassify("json_parse", after=HOUR).status is Status.PENDING
    assert desk.store.subjects.get("story-1") == changed


def test_a_failure_that_blamed_no_subject_takes_nothing_back() -> None:
    known = a_subject(failure_count=2, status=SubjectStatus.PENDING, version=1)
    desk = a_job(subjects=MemorySubjects(known))
    desk.fail(TYPE_ERROR, origin=Origin.LOGIC)
    desk.reclassify("json_parse")
    assert desk.store.subjects.get("story-1").failure_count == 3


def test_a_race_on_the_task_is_judged_on_what_is_there_now() -> None:
    desk = a_desk()

    def cancel_first() -> None:
        desk.store.tasks[desk.task.id] = cancel(desk.task, at=NOW)

    desk.store.concurrent_writes.append(cancel_first)
    with pytest.raises(InvalidStateError, match="is cancelled"):
        desk.reclassify("transient")
    assert desk.task.status is Status.CANCELLED


def test_races_that_never_end_are_given_up() -> None:
    desk = a_desk()

    def touch() -> None:
        desk.store.tasks[desk.task.id] = replace(desk.task, version=desk.task.version + 1)

    desk.store.concurrent_writes += [touch] * 3
    with pytest.raises(StaleTaskError):
        desk.reclassify("transient")


# What is refused


def in_doubt() -> Task:
    run = a_run(
        status=RunStatus.CRASHED,
        ended_at=NOW,
        error="x",
        indeterminate_policy=IndeterminatePolicy.ASK_PERSON,
    )
    run = run.with_mutation_status(MutationStatus.INDETERMINATE)
    return an_action(status=Status.BLOCKED, run=run, recovery_action=Action.ASK_PERSON)


@pytest.mark.parametrize(
    ("task", "said"),
    [
        (lambda: an_action(), "pending: it has no failure"),
        (lambda: claim_task(an_action()), "running right now"),
        (in_doubt, "may have had its effect"),
        (lambda: cancel(a_desk().task, at=NOW), "cancelled: it has no failure"),
        (lambda: replace(a_desk().task, status=Status.COMPLETED), "completed: it has no failure"),
        (lambda: replace(a_desk().task, next_retry_at=None), "pending: it has no failure"),
        (lambda: a_task(status=Status.FAILED), "failed: it has no failure"),
        (lambda: an_action(status=Status.BLOCKED, run=a_run()), "blocked: it has no failure"),
    ],
)
def test_what_has_no_failure_to_judge_is_refused(task: Callable[[], Task], said: str) -> None:
    desk = Desk(task())
    before = desk.task
    with pytest.raises(InvalidStateError, match=said):
        desk.reclassify("transient")
    assert desk.task is before


def test_an_unknown_category_is_told_the_ones_there_are() -> None:
    with pytest.raises(InvalidFieldsError, match=r"category: must be one of: .*timeout.*unknown"):
        a_desk().reclassify("bad_luck")


# What is told of it


def test_the_history_tells_of_it_and_of_what_follows() -> None:
    desk = a_desk()
    before = desk.task
    task = desk.reclassify("transient")
    events = events_between(before, task, at=LATER)
    assert [event.type for event in events] == [
        *("task:reclassified", "task:retry_scheduled", "task:recovery_action")
    ]
    told = {"run_id": run_of(task).id, "from": "code_error", "category": "transient"}
    assert events[0].detail == {**told, "action": "retry_with_guidance"}
    assert events[0].at == LATER


@pytest.mark.parametrize("category", ["transient", "budget_exceeded"])
def test_what_is_not_of_the_code_points_to_no_place_in_it(category: str) -> None:
    desk = a_desk()
    assert "It points to file.ts, line 45." in desk.task.guidance[-1]
    task = desk.reclassify(category)
    assert "file.ts" not in " ".join(task.guidance)
    assert diagnosis_of(task).location is None


def test_whoever_changes_their_mind_finds_the_place_again() -> None:
    desk = a_desk()
    desk.reclassify("transient")
    assert desk.reclassify("code_error").guidance[-1].endswith("It points to file.ts, line 45.")


def test_the_history_tells_that_it_ended() -> None:
    desk = a_job()
    before = desk.fail(NO_JSON)
    assert kinds(before, desk.reclassify("content_policy")) == ["task:reclassified", "task:failed"]


def test_the_history_tells_that_it_was_taken_up_again() -> None:
    desk = a_job()
    before = desk.fail(REFUSED_BY_POLICY)
    assert kinds(before, desk.reclassify("json_parse")) == [
        *("task:reclassified", "task:unblocked", "task:retry_scheduled")
    ]


def test_the_history_tells_no_more_where_it_stays_as_it_was() -> None:
    desk = a_desk(times=4)
    before = desk.task
    assert kinds(before, desk.reclassify("transient")) == ["task:reclassified"]
