"""A message nobody could process becomes a failure of its task, is sent again, or is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.chat.message import Message
from duecourse.domain.dispatch.dead_letter import Cause, DeadLetter, Queue
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.lifecycle.user_actions import cancel, pause
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.dead_letters.handle import (
    DeadLetterContent,
    DeadLetterDeps,
    DeadLetterOutcome,
    handle_dead_letter,
)
from duecourse.usecases.dead_letters.redrive import RedriveResult, redrive

from tests.support.builders.chat import a_message
from tests.support.builders.failures import a_failure_report, diagnosis_of, fail_repeatedly
from tests.support.builders.moments import HOUR, MILLISECOND, NOW
from tests.support.builders.runs import LEASE, run_of
from tests.support.builders.tasks import ID, a_task, an_action, claim_task
from tests.support.failure_deps import failure_deps
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.queues import ListNotifications, ListQueue
from tests.support.fakes.tasks import MemoryStore

LATER = NOW + HOUR  # long after the message was due and died


class ListLetters(list[DeadLetter]):
    def save(self, letter: DeadLetter) -> None:
        self.append(letter)

    def list_letters(self, after: str = "") -> Iterator[DeadLetter]:
        return iter([letter for letter in self if letter.sort_key > after])

    def drop(self, letter: DeadLetter) -> None:
        self.remove(letter)


class Office:
    def __init__(self, *tasks: Task) -> None:
        self.store = MemoryStore(*tasks)
        self.queue = ListQueue()
        self.letters = ListLetters()
        self.notices = ListNotifications()
        self.clock = ManualClock(LATER)

    def take(self, content: DeadLetterContent | None, **fields: Any) -> DeadLetterOutcome:
        recorder = failure_deps(self.store, queue=self.queue, clock=self.clock)
        letter = a_letter(**fields)
        return handle_dead_letter(
            letter, content, DeadLetterDeps(recorder, self.letters, self.notices)
        )

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
    assert office.take(None) is DeadLetterOutcome.STORED
    assert office.letters == [a_letter(reason="the message cannot be parsed")]


def test_whoever_said_what_nobody_could_answer_is_told_so() -> None:
    office = Office()
    said = a_message(
        "/remind in 10 minutes tea", reply_context={"interaction_token": "opens doors"}
    )

    assert office.take(said, queue=Queue.CHAT) is DeadLetterOutcome.STORED
    [notice] = office.notices
    assert (notice.channel, notice.target) == ("console", "ada")
    assert "/remind in 10 minutes tea" in notice.message.text


def test_what_nobody_could_answer_is_quoted_on_one_line_and_no_longer_than_need_be() -> None:
    office = Office()
    office.take(a_message(f"/remind \u202e in\n5m {'x' * 200}"), queue=Queue.CHAT)
    [notice] = office.notices
    quoted, _ = notice.message.text.splitlines()
    assert quoted == f"I could not answer this message: /remind  in 5m {'x' * 85} …"


def test_what_opens_doors_is_not_kept_with_a_message() -> None:
    office = Office()
    said = a_message("/tasks", reply_context={"interaction_token": "opens doors"})
    office.take(said, queue=Queue.CHAT, body=json.dumps(said.to_json()))

    [letter] = office.letters
    assert Message.from_json(json.loads(letter.body)) == said.without_reply_context()
    assert "opens doors" not in letter.body


@pytest.mark.parametrize(
    "content", [DUE_NOW, a_failure_report(claim_task(a_task()))], ids=["a dispatch", "a report"]
)
def test_a_letter_about_a_task_nobody_knows_is_kept(content: Dispatch | FailureReport) -> None:
    office = Office()
    assert office.take(content) is DeadLetterOutcome.STORED
    assert office.letters == [a_letter(reason=f"there is no task {ID}", task_id=ID)]


def test_a_letter_that_is_too_long_is_kept_in_part() -> None:
    office = Office()
    office.take(None, body="😀" * 60_000)
    [letter] = office.letters
    assert (letter.is_truncated, letter.can_redrive, letter.body[:2]) == (True, False, "😀😀")


# Reports


def test_a_report_that_died_is_recorded_all_the_same() -> None:
    office = Office(claim_task(a_task()))
    assert (
        office.take(a_failure_report(office.task), queue=Queue.FAILURES)
        is DeadLetterOutcome.RECORDED
    )
    assert (office.task.retry_count, office.task.last_error) == (1, "boom")


def test_a_report_that_was_recorded_before_it_died_changes_nothing() -> None:
    report = a_failure_report(claim_task(a_task()))
    office = Office(fail_repeatedly(a_task(), 1))
    before = office.task
    assert office.take(report, queue=Queue.FAILURES) is DeadLetterOutcome.STALE
    assert (office.task, office.letters) == (before, [])


# Dispatches that nobody took


def test_a_task_nobody_took_is_sent_again() -> None:
    office = Office(a_task())
    assert office.take(DUE_NOW) is DeadLetterOutcome.REQUEUED
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
    assert office.task.last_error == "no worker received the message"


@pytest.mark.parametrize(
    ("ahead", "sent"), [(MILLISECOND, 1), (HOUR, 0)], ids=["soon", "left to the scanner"]
)
def test_a_task_whose_time_has_not_come_does_not_run_early(ahead: timedelta, sent: int) -> None:
    office = Office(a_task(due_at=LATER + ahead))
    dispatch = Dispatch(LATER + ahead, ID)
    assert office.take(dispatch) is DeadLetterOutcome.REQUEUED
    assert (office.task.due_at, office.queue) == (dispatch.due_at, [dispatch] * sent)


def test_the_same_letter_again_is_stale() -> None:
    office = Office(a_task())
    office.take(DUE_NOW)
    assert office.take(DUE_NOW) is DeadLetterOutcome.STALE


def test_a_task_that_somebody_took_after_all_is_left_to_them() -> None:
    office = Office(a_task())
    mine = claim_task(a_task(), at=LATER)
    office.store.concurrent_writes = [lambda: office.store.tasks.update({ID: mine})]
    assert office.take(DUE_NOW) is DeadLetterOutcome.STALE
    assert (office.task, office.queue) == (mine, [])


@pytest.mark.parametrize(
    "task",
    [
        a_task(due_at=NOW + MILLISECOND),
        pause(a_task()),
        cancel(a_task(), at=NOW),
        fail_repeatedly(a_task(), 1),
        fail_repeatedly(a_task(), 3),
        a_task(status=Status.DELIVERED),
        a_task(status=Status.BLOCKED),
    ],
    ids=["moved", "paused", "cancelled", "to be retried", "failed", "delivered", "blocked"],
)
def test_a_letter_that_time_has_passed_by_changes_nothing(task: Task) -> None:
    office = Office(task)
    assert office.take(DUE_NOW) is DeadLetterOutcome.STALE
    assert (office.task, office.queue, office.letters) == (task, [], [])


# Dispatches whose worker vanished


@pytest.mark.parametrize(
    ("after", "taken"),
    [(LEASE - MILLISECOND, DeadLetterOutcome.STALE), (LEASE, DeadLetterOutcome.RECORDED)],
)
def test_a_worker_has_the_length_of_its_lease(after: timedelta, taken: DeadLetterOutcome) -> None:
    office = Office(claim_task(a_task()))
    office.clock.at = NOW + after
    assert office.take(DUE_NOW) is taken


def test_a_worker_that_vanished_leaves_a_crashed_run_that_counts() -> None:
    office = Office(claim_task(a_task()))
    office.take(DUE_NOW, cause=Cause.CRASH)
    assert (run_of(office.task).status, office.task.retry_count) == (RunStatus.CRASHED, 1)


@pytest.mark.parametrize(
    ("cause", "error", "category"),
    [
        (Cause.CRASH, "the worker crashed on every delivery", "transient"),
        (Cause.TIMEOUT, "the worker timed out on every delivery", "timeout"),
        (Cause.THROTTLE, "the worker was throttled on every delivery", "transient"),
        (
            Cause.UNKNOWN,
            "the worker stopped before it could finish, and its lease expired",
            "transient",
        ),
    ],
)
def test_why_the_message_died_is_why_the_run_failed(
    cause: Cause, error: str, category: str
) -> None:
    office = Office(claim_task(an_action()))
    office.take(DUE_NOW, cause=cause)
    assert (office.task.last_error, office.task.last_error_category) == (error, category)


def test_a_worker_that_vanished_for_no_reason_known_is_told_of_like_by_the_sweeper() -> None:
    office = Office(claim_task(an_action()))
    office.take(DUE_NOW)
    noted = diagnosis_of(office.task)
    assert (noted.type, noted.code) == ("WorkerVanished", "worker_vanished")


def test_a_third_crash_in_a_row_is_final() -> None:
    office = Office(claim_task(fail_repeatedly(a_task(), 2), "run-3"))
    office.take(Dispatch(office.task.due_at, ID), cause=Cause.CRASH)
    assert office.task.status is Status.FAILED


# Sent back


class ListMail(list[DeadLetter]):
    def redrive(self, letter: DeadLetter) -> None:
        self.append(letter)


def sent_back(office: Office, ids: list[str] | None = None) -> RedriveResult:
    mail = ListMail()
    done = redrive(ids, dead_letters=office.letters, source_queues=mail, store=office.store)
    assert [letter.id for letter in mail] == done.sent
    return done


def test_all_letters_are_sent_back_and_dropped_or_those_named() -> None:
    office = Office()
    office.letters += [a_letter(id=f"letter-{n}") for n in range(4)]
    assert sent_back(office, ["letter-2"]) == RedriveResult(["letter-2"], {})
    assert sent_back(office) == RedriveResult(["letter-0", "letter-1", "letter-3"], {})
    assert office.letters == []


def test_a_letter_that_cannot_be_read_is_sent_back_named_or_not() -> None:
    for ids in (None, ["letter-1"]):
        office = Office()
        office.take(None)
        assert sent_back(office, ids).sent == ["letter-1"]


@pytest.mark.parametrize("ids", [None, ["letter-1"]])
def test_a_letter_about_a_task_nobody_knows_waits_until_somebody_does(
    ids: list[str] | None,
) -> None:
    office = Office()
    office.take(DUE_NOW)
    assert sent_back(office, ids) == RedriveResult([], {"letter-1": f"there is no task {ID}"})
    assert [letter.id for letter in office.letters] == ["letter-1"]
    office.store.create(a_task())
    assert sent_back(office, ids) == RedriveResult(["letter-1"], {})


@pytest.mark.parametrize("ids", [None, ["stream", "long", "good"]])
def test_what_cannot_go_back_stays_says_why_and_stops_no_other(ids: list[str] | None) -> None:
    office = Office()
    office.letters += [
        a_letter(id="stream", queue=Queue.JOURNAL),
        a_letter(id="long", is_truncated=True),
    ]
    office.letters += [a_letter(id="good")]
    done = sent_back(office, ids)
    assert done.sent == ["good"]
    assert list(done.skipped) == ["stream", "long"]
    assert "comes from a stream" in done.skipped["stream"]
    assert "truncated" in done.skipped["long"]
    assert [letter.id for letter in office.letters] == ["stream", "long"]


def test_a_letter_that_was_named_and_is_not_there_is_told_of() -> None:
    assert sent_back(Office(), ["x"]) == RedriveResult([], {"x": "no dead letter has this id"})


def test_a_hundred_letters_are_sent_back_at_once_past_all_that_stay() -> None:
    office = Office()
    office.letters += [a_letter(id=f"j{n}", queue=Queue.JOURNAL) for n in range(150)]
    office.letters += [a_letter(id=f"w{n}") for n in range(101)]
    assert [len(sent_back(office).sent) for _ in range(3)] == [100, 1, 0]


def test_a_letter_that_was_not_taken_back_is_not_dropped() -> None:
    class FullMail(ListMail):
        def redrive(self, letter: DeadLetter) -> None:
            raise OSError(f"no room for {letter.id}")

    office = Office()
    office.letters += [a_letter()]
    with pytest.raises(OSError, match="no room for letter-1"):
        redrive(None, dead_letters=office.letters, source_queues=FullMail(), store=office.store)
    assert office.letters == [a_letter()]
