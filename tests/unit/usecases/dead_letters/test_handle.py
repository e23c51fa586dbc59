"""A dead letter becomes a failure of its task, is requeued, or is stored."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification import Notification
from duecourse.domain.dispatch.dead_letter import Cause, DeadLetter, Queue
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.dispatch.unjournaled import (
    StreamPosition,
    UnjournaledRecords,
    parse_unjournaled,
)
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
from tests.support.fakes.queues import ListLetters, ListNotifications, ListQueue
from tests.support.fakes.tasks import MemoryStore

LATER = NOW + HOUR  # long after the message was due and became a dead letter


class ListStream(list[dict[str, Any]]):
    def read(self, position: StreamPosition) -> Sequence[dict[str, Any]]:
        return self[: position.count]


class DeadLetterHarness:
    def __init__(self, *tasks: Task) -> None:
        self.store = MemoryStore(*tasks)
        self.queue = ListQueue()
        self.letters = ListLetters()
        self.notifications = ListNotifications()
        self.stream = ListStream()
        self.clock = ManualClock(LATER)

    def handle(self, content: DeadLetterContent | None, **fields: Any) -> DeadLetterOutcome:
        recorder = failure_deps(self.store, queue=self.queue, clock=self.clock)
        letter = a_letter(**fields)
        return handle_dead_letter(
            letter,
            content,
            DeadLetterDeps(recorder, self.letters, self.notifications, self.stream),
        )

    @property
    def task(self) -> Task:
        return self.store.get(ID)


def a_letter(**fields: Any) -> DeadLetter:
    defaults = {"id": "letter-1", "queue": Queue.WORK, "body": "{}", "sent_at": LATER}
    return DeadLetter(**{**defaults, **fields})


DUE_NOW = Dispatch(NOW, ID)


# Stored letters


def test_an_unreadable_letter_is_stored_with_its_reason() -> None:
    harness = DeadLetterHarness()
    assert harness.handle(None) is DeadLetterOutcome.STORED
    assert harness.letters == [a_letter(reason="the message cannot be parsed")]


def test_the_sender_of_an_unanswered_message_is_notified() -> None:
    harness = DeadLetterHarness()
    message = a_message(
        "/remind in 10 minutes tea", reply_context={"interaction_token": "opens doors"}
    )

    assert harness.handle(message, queue=Queue.CHAT) is DeadLetterOutcome.STORED
    [notification] = harness.notifications
    assert (notification.channel, notification.target) == ("console", "ada")
    assert "/remind in 10 minutes tea" in notification.message.text


def test_the_notification_quotes_the_message_truncated_on_one_line() -> None:
    harness = DeadLetterHarness()
    harness.handle(a_message(f"/remind \u202e in\n5m {'x' * 200}"), queue=Queue.CHAT)
    [notification] = harness.notifications
    first_line, _ = notification.message.text.splitlines()
    assert first_line == f"I could not answer this message: /remind  in 5m {'x' * 85} …"


def test_a_stored_message_does_not_include_its_reply_context() -> None:
    harness = DeadLetterHarness()
    message = a_message("/tasks", reply_context={"interaction_token": "opens doors"})
    harness.handle(message, queue=Queue.CHAT, body=json.dumps(message.to_json()))

    [letter] = harness.letters
    assert Message.from_json(json.loads(letter.body)) == message.without_reply_context()
    assert "opens doors" not in letter.body


def test_a_dispatch_of_an_unknown_task_is_stored() -> None:
    harness = DeadLetterHarness()
    assert harness.handle(DUE_NOW) is DeadLetterOutcome.STORED
    assert harness.letters == [a_letter(reason=f"there is no task {ID}", task_id=ID)]


def test_a_report_about_a_deleted_task_is_dropped() -> None:
    harness = DeadLetterHarness()
    report = a_failure_report(claim_task(a_task()))
    assert harness.handle(report) is DeadLetterOutcome.STALE
    assert harness.letters == []


def a_notification(**fields: Any) -> Notification:
    known = {"channel": "console", "target": "ada", "idempotency_key": "key", "task_id": ID}
    return Notification(message=ChatMessage("Done: water plant"), **{**known, **fields})


def test_a_notification_is_stored() -> None:
    harness = DeadLetterHarness(a_task())
    outcome = harness.handle(a_notification(run_id="run-1"), queue=Queue.NOTIFICATIONS)
    assert outcome is DeadLetterOutcome.STORED
    assert len(harness.letters) == 1


def test_a_notification_of_a_deleted_task_is_dropped() -> None:
    harness = DeadLetterHarness()
    outcome = harness.handle(a_notification(run_id="run-1"), queue=Queue.NOTIFICATIONS)
    assert outcome is DeadLetterOutcome.STALE
    assert harness.letters == []


def test_a_notification_of_no_task_is_stored() -> None:
    harness = DeadLetterHarness()
    outcome = harness.handle(a_notification(task_id="alert-1"), queue=Queue.NOTIFICATIONS)
    assert outcome is DeadLetterOutcome.STORED


def test_a_letter_that_is_too_long_is_truncated_and_cannot_be_redriven() -> None:
    harness = DeadLetterHarness()
    harness.handle(None, body="😀" * 60_000)
    [letter] = harness.letters
    assert (letter.is_truncated, letter.can_redrive, letter.body[:2]) == (True, False, "😀😀")


# Failure reports


def test_a_dead_failure_report_is_recorded() -> None:
    harness = DeadLetterHarness(claim_task(a_task()))
    assert (
        harness.handle(a_failure_report(harness.task), queue=Queue.FAILURES)
        is DeadLetterOutcome.RECORDED
    )
    assert (harness.task.retry_count, harness.task.last_error) == (1, "boom")


def test_a_dead_failure_report_that_was_already_recorded_is_stale() -> None:
    report = a_failure_report(claim_task(a_task()))
    harness = DeadLetterHarness(fail_repeatedly(a_task(), 1))
    before = harness.task
    assert harness.handle(report, queue=Queue.FAILURES) is DeadLetterOutcome.STALE
    assert (harness.task, harness.letters) == (before, [])


# Dispatches that no worker received


def test_an_undelivered_task_is_requeued() -> None:
    harness = DeadLetterHarness(a_task())
    assert harness.handle(DUE_NOW) is DeadLetterOutcome.REQUEUED
    assert harness.queue == [Dispatch(LATER, ID)]


def test_an_undelivered_task_is_due_at_once_and_counts_no_retry() -> None:
    harness = DeadLetterHarness(a_task(retry_count=1))
    harness.handle(DUE_NOW)
    task = harness.task
    assert (task.status, task.due_at, task.retry_count) == (Status.PENDING, LATER, 1)
    assert task.nominal_at == NOW


def test_an_undelivered_task_records_the_reason() -> None:
    harness = DeadLetterHarness(a_task())
    harness.handle(DUE_NOW)
    assert harness.task.last_error == "no worker received the message"


@pytest.mark.parametrize(
    ("ahead", "sent"), [(MILLISECOND, 1), (HOUR, 0)], ids=["soon", "left to the scanner"]
)
def test_a_letter_for_a_future_task_does_not_run_it_early(ahead: timedelta, sent: int) -> None:
    harness = DeadLetterHarness(a_task(due_at=LATER + ahead))
    dispatch = Dispatch(LATER + ahead, ID)
    assert harness.handle(dispatch) is DeadLetterOutcome.REQUEUED
    assert (harness.task.due_at, harness.queue) == (dispatch.due_at, [dispatch] * sent)


def test_a_redelivered_letter_is_stale() -> None:
    harness = DeadLetterHarness(a_task())
    harness.handle(DUE_NOW)
    assert harness.handle(DUE_NOW) is DeadLetterOutcome.STALE


def test_a_task_claimed_concurrently_is_not_requeued() -> None:
    harness = DeadLetterHarness(a_task())
    claimed_task = claim_task(a_task(), at=LATER)
    harness.store.concurrent_writes = [lambda: harness.store.tasks.update({ID: claimed_task})]
    assert harness.handle(DUE_NOW) is DeadLetterOutcome.STALE
    assert (harness.task, harness.queue) == (claimed_task, [])


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
def test_a_letter_for_an_outdated_dispatch_changes_nothing(task: Task) -> None:
    harness = DeadLetterHarness(task)
    assert harness.handle(DUE_NOW) is DeadLetterOutcome.STALE
    assert (harness.task, harness.queue, harness.letters) == (task, [], [])


# Dispatches whose worker crashed


@pytest.mark.parametrize(
    ("after", "expected_outcome"),
    [(LEASE - MILLISECOND, DeadLetterOutcome.STALE), (LEASE, DeadLetterOutcome.RECORDED)],
)
def test_a_crash_is_recorded_only_after_the_lease_expired(
    after: timedelta, expected_outcome: DeadLetterOutcome
) -> None:
    harness = DeadLetterHarness(claim_task(a_task()))
    harness.clock.at = NOW + after
    assert harness.handle(DUE_NOW) is expected_outcome


def test_an_expired_lease_leaves_a_crashed_run_that_counts_as_a_retry() -> None:
    harness = DeadLetterHarness(claim_task(a_task()))
    harness.handle(DUE_NOW, cause=Cause.CRASH)
    assert (run_of(harness.task).status, harness.task.retry_count) == (RunStatus.CRASHED, 1)


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
def test_the_cause_of_the_dead_letter_becomes_the_error_of_the_run(
    cause: Cause, error: str, category: str
) -> None:
    harness = DeadLetterHarness(claim_task(an_action()))
    harness.handle(DUE_NOW, cause=cause)
    assert (harness.task.last_error, harness.task.last_error_category) == (error, category)


def test_a_crash_of_unknown_cause_is_reported_like_one_found_by_the_sweeper() -> None:
    harness = DeadLetterHarness(claim_task(an_action()))
    harness.handle(DUE_NOW)
    diagnosis = diagnosis_of(harness.task)
    assert (diagnosis.type, diagnosis.code) == ("WorkerVanished", "worker_vanished")


def test_a_third_crash_in_a_row_is_final() -> None:
    harness = DeadLetterHarness(claim_task(fail_repeatedly(a_task(), 2), "run-3"))
    harness.handle(Dispatch(harness.task.due_at, ID), cause=Cause.CRASH)
    assert harness.task.status is Status.FAILED


# Redrive


class ListRedriver(list[DeadLetter]):
    def redrive(self, letter: DeadLetter) -> None:
        self.append(letter)


def redrive_letters(
    harness: DeadLetterHarness, ids: list[str] | None = None, *, journal_error: str | None = None
) -> RedriveResult:
    redriver, rejournaled = ListRedriver(), list[str]()

    def rejournal(letter: DeadLetter) -> str | None:
        if journal_error is None:
            rejournaled.append(letter.id)
        return journal_error

    result = redrive(
        ids,
        dead_letters=harness.letters,
        source_queues=redriver,
        store=harness.store,
        rejournal=rejournal,
    )
    assert sorted([*(letter.id for letter in redriver), *rejournaled]) == sorted(result.sent)
    return result


def test_redrive_sends_and_drops_all_letters_or_those_named() -> None:
    harness = DeadLetterHarness()
    harness.letters += [a_letter(id=f"letter-{n}") for n in range(4)]
    assert redrive_letters(harness, ["letter-2"]) == RedriveResult(["letter-2"], {})
    assert redrive_letters(harness) == RedriveResult(["letter-0", "letter-1", "letter-3"], {})
    assert harness.letters == []


def test_an_unreadable_letter_is_redriven_whether_named_or_not() -> None:
    for ids in (None, ["letter-1"]):
        harness = DeadLetterHarness()
        harness.handle(None)
        assert redrive_letters(harness, ids).sent == ["letter-1"]


@pytest.mark.parametrize("ids", [None, ["letter-1"]])
def test_a_letter_about_an_unknown_task_is_redriven_once_the_task_exists(
    ids: list[str] | None,
) -> None:
    harness = DeadLetterHarness()
    harness.handle(DUE_NOW)
    assert redrive_letters(harness, ids) == RedriveResult(
        [], {"letter-1": f"there is no task {ID}"}
    )
    assert [letter.id for letter in harness.letters] == ["letter-1"]
    harness.store.create(a_task())
    assert redrive_letters(harness, ids) == RedriveResult(["letter-1"], {})


@pytest.mark.parametrize("ids", [None, ["stream", "long", "good"]])
def test_a_letter_that_cannot_be_redriven_stays_with_its_reason_and_blocks_no_other(
    ids: list[str] | None,
) -> None:
    harness = DeadLetterHarness()
    harness.letters += [
        a_letter(id="stream", queue=Queue.JOURNAL),
        a_letter(id="long", is_truncated=True),
    ]
    harness.letters += [a_letter(id="good")]
    result = redrive_letters(harness, ids, journal_error="it failed again")
    assert result.sent == ["good"]
    assert list(result.skipped) == ["stream", "long"]
    assert result.skipped["stream"] == "it failed again"
    assert "truncated" in result.skipped["long"]
    assert [letter.id for letter in harness.letters] == ["stream", "long"]


def test_redrive_reports_a_named_letter_that_does_not_exist() -> None:
    assert redrive_letters(DeadLetterHarness(), ["x"]) == RedriveResult(
        [], {"x": "no dead letter has this id"}
    )


def test_redrive_sends_a_hundred_letters_past_those_that_stay() -> None:
    harness = DeadLetterHarness()
    harness.letters += [a_letter(id=f"j{n}", queue=Queue.JOURNAL) for n in range(150)]
    harness.letters += [a_letter(id=f"w{n}") for n in range(101)]
    sent = [redrive_letters(harness, journal_error="it failed again").sent for _ in range(3)]
    assert list(map(len, sent)) == [100, 1, 0]


def test_a_letter_of_the_journal_is_processed_again_and_dropped() -> None:
    harness = DeadLetterHarness()
    # Its task may be deleted by now: the letter holds all that is needed.
    harness.letters += [a_letter(id="stream", queue=Queue.JOURNAL, task_id="gone")]
    assert redrive_letters(harness) == RedriveResult(["stream"], {})
    assert harness.letters == []


# Changes that the journal could not process

POSITION = StreamPosition(
    stream_arn="arn:stream",
    shard_id="shard-1",
    first="10",
    last="11",
    started_at=NOW,
    ended_at=LATER,
    count=2,
)


def a_record(task_id: str) -> dict[str, Any]:
    return {"dynamodb": {"Keys": {"id": {"S": task_id}}, "SequenceNumber": "10"}}


def test_records_that_lambda_gave_up_on_are_stored_one_by_one_with_their_task() -> None:
    harness = DeadLetterHarness()
    harness.stream += [a_record("a"), a_record("b")]
    assert harness.handle(POSITION, queue=Queue.JOURNAL) is DeadLetterOutcome.STORED
    assert [letter.task_id for letter in harness.letters] == ["a", "b"]
    [first, _] = (parse_unjournaled(letter.body) for letter in harness.letters)
    assert first == UnjournaledRecords([a_record("a")], "a", "RecordAgeExceeded")


def test_a_position_that_the_stream_no_longer_has_is_stored_itself() -> None:
    harness = DeadLetterHarness()
    harness.handle(POSITION, queue=Queue.JOURNAL, body="its position")
    [letter] = harness.letters
    assert (letter.body, letter.task_id) == ("its position", None)
    assert letter.reason is not None
    assert "no longer has them" in letter.reason


def test_a_change_that_the_journal_set_aside_is_stored_with_its_task_and_error() -> None:
    harness = DeadLetterHarness()
    harness.handle(UnjournaledRecords([a_record(ID)], ID, "KeyError"), queue=Queue.JOURNAL)
    [letter] = harness.letters
    assert letter.task_id == ID
    assert letter.reason == "the journal failed on this change each time, with KeyError"


def test_a_letter_whose_redrive_failed_is_not_dropped() -> None:
    class FullMail(ListRedriver):
        def redrive(self, letter: DeadLetter) -> None:
            raise OSError(f"no room for {letter.id}")

    harness = DeadLetterHarness()
    harness.letters += [a_letter()]
    with pytest.raises(OSError, match="no room for letter-1"):
        redrive(
            None,
            dead_letters=harness.letters,
            source_queues=FullMail(),
            store=harness.store,
            rejournal=lambda _: None,
        )
    assert harness.letters == [a_letter()]
