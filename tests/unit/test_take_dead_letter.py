"""A message nobody could process becomes a failure of its task, is sent again, or is kept."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.change import cancelled, paused
from duecourse.domain.dead_letter import Cause, DeadLetter, Queue
from duecourse.domain.dispatch import Dispatch
from duecourse.domain.report import FailureReport
from duecourse.domain.run import RunStatus
from duecourse.domain.status import Status
from duecourse.domain.task import Task
from duecourse.usecases.record_failure import Recorder
from duecourse.usecases.take_dead_letter import Taken, Undertaker, take_dead_letter

from tests.unit.builders import (
    HOUR,
    ID,
    LEASE,
    MILLISECOND,
    NOW,
    a_task,
    an_action,
    claimed,
    failed_times,
    reported,
    run_of,
    shipped_policies,
)
from tests.unit.fakes import ListQueue, ManualClock, MemoryBreakers, MemoryStore

LATER = NOW + HOUR  # long after the message was due and died


class ListLetters(list[DeadLetter]):
    def keep(self, letter: DeadLetter) -> None:
        self.append(letter)

    def kept(self) -> Iterator[DeadLetter]:
        return iter(self)

    def drop(self, letter: DeadLetter) -> None:
        self.remove(letter)


class Office:
    def __init__(self, *tasks: Task) -> None:
        self.store = MemoryStore(*tasks)
        self.queue = ListQueue()
        self.letters = ListLetters()
        self.clock = ManualClock(LATER)

    def take(self, content: Dispatch | FailureReport | None, **fields: Any) -> Taken:
        recorder = Recorder(
            store=self.store,
            subjects=self.store.subjects,
            queue=self.queue,
            breakers=MemoryBreakers(),
            policies=shipped_policies(),
            clock=self.clock,
            pending_retries_limit=50,
        )
        letter = a_letter(**fields)
        return take_dead_letter(letter, content, Undertaker(recorder, self.letters))

    @property
    def task(self) -> Task:
        return self.store.get(ID)


def a_letter(**fields: Any) -> DeadLetter:
    defaults = {"id": "letter-1", "queue": Queue.WORK, "body": "{}", "sent_at": LATER}
    return DeadLetter(**{**defaults, **fields})


DUE_NOW = Dispatch(NOW, ID)


# Kept


def test_a_letter_that_cannot_be_read_is_kept_and_says_so() -> None:
    office = Office()
    assert office.take(None) is Taken.KEPT
    assert office.letters == [a_letter(reason="it cannot be read")]


@pytest.mark.parametrize(
    "content", [DUE_NOW, reported(claimed(a_task()))], ids=["a dispatch", "a report"]
)
def test_a_letter_about_a_task_nobody_knows_is_kept(content: Dispatch | FailureReport) -> None:
    office = Office()
    assert office.take(content) is Taken.KEPT
    assert office.letters == [a_letter(reason=f"there is no task {ID}")]


# Reports


def test_a_report_that_died_is_recorded_all_the_same() -> None:
    office = Office(claimed(a_task()))
    assert office.take(reported(office.task), queue=Queue.FAILURES) is Taken.RECORDED
    assert (office.task.retry_count, office.task.last_error) == (1, "boom")


def test_a_report_that_was_recorded_before_it_died_changes_nothing() -> None:
    report = reported(claimed(a_task()))
    office = Office(failed_times(a_task(), 1))
    before = office.task
    assert office.take(report, queue=Queue.FAILURES) is Taken.STALE
    assert (office.task, office.letters) == (before, [])


# Dispatches that nobody took


def test_a_task_nobody_took_is_sent_again() -> None:
    office = Office(a_task())
    assert office.take(DUE_NOW) is Taken.SENT_AGAIN
    assert office.queue == [Dispatch(LATER, ID)]


def test_a_task_nobody_took_is_due_at_once_and_nothing_is_counted() -> None:
    office = Office(a_task(retry_count=1))
    office.take(DUE_NOW)
    task = office.task
    assert (task.status, task.due_at, task.retry_count) == (Status.PENDING, LATER, 1)
    assert task.nominal_at == NOW


def test_a_task_nobody_took_says_why() -> None:
    office = Office(a_task())
    office.take(DUE_NOW)
    assert office.task.last_error == "no worker took it until the message died"


def test_the_same_letter_again_is_stale() -> None:
    office = Office(a_task())
    office.take(DUE_NOW)
    assert office.take(DUE_NOW) is Taken.STALE


def test_a_task_that_somebody_took_after_all_is_left_to_them() -> None:
    office = Office(a_task())
    mine = claimed(a_task(), at=LATER)
    office.store.rivals = [lambda: office.store.tasks.update({ID: mine})]
    assert office.take(DUE_NOW) is Taken.STALE
    assert (office.task, office.queue) == (mine, [])


@pytest.mark.parametrize(
    "task",
    [
        a_task(due_at=NOW + MILLISECOND),
        paused(a_task()),
        cancelled(a_task(), at=NOW),
        failed_times(a_task(), 1),
        failed_times(a_task(), 3),
        a_task(status=Status.DELIVERED),
        a_task(status=Status.BLOCKED),
    ],
    ids=["moved", "paused", "cancelled", "to be retried", "failed", "delivered", "blocked"],
)
def test_a_letter_that_time_has_passed_by_changes_nothing(task: Task) -> None:
    office = Office(task)
    assert office.take(DUE_NOW) is Taken.STALE
    assert (office.task, office.queue, office.letters) == (task, [], [])


# Dispatches whose worker vanished


@pytest.mark.parametrize(
    ("after", "taken"), [(LEASE - MILLISECOND, Taken.STALE), (LEASE, Taken.RECORDED)]
)
def test_a_worker_has_the_length_of_its_lease(after: timedelta, taken: Taken) -> None:
    office = Office(claimed(a_task()))
    office.clock.at = NOW + after
    assert office.take(DUE_NOW) is taken


def test_a_worker_that_vanished_leaves_a_crashed_run_that_counts() -> None:
    office = Office(claimed(a_task()))
    office.take(DUE_NOW, cause=Cause.CRASH)
    assert (run_of(office.task).status, office.task.retry_count) == (RunStatus.CRASHED, 1)


@pytest.mark.parametrize(
    ("cause", "error", "category"),
    [
        (Cause.CRASH, "the worker crashed until the message died", "transient"),
        (Cause.TIMEOUT, "the worker ran out of time until the message died", "timeout"),
        (Cause.THROTTLE, "the worker was throttled until the message died", "transient"),
        (Cause.UNKNOWN, "no worker took it until the message died", "transient"),
    ],
)
def test_why_the_message_died_is_why_the_run_failed(
    cause: Cause, error: str, category: str
) -> None:
    office = Office(claimed(an_action()))
    office.take(DUE_NOW, cause=cause)
    assert (office.task.last_error, office.task.last_error_category) == (error, category)


def test_a_third_crash_in_a_row_is_final() -> None:
    office = Office(claimed(failed_times(a_task(), 2), "run-3"))
    office.take(Dispatch(office.task.due_at, ID), cause=Cause.CRASH)
    assert office.task.status is Status.FAILED
