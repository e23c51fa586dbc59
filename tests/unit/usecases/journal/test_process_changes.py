"""Processing a batch of changes: what is done, in which order, and what is tried again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from duecourse.domain.chat.notification import Notification
from duecourse.domain.errors import StaleTaskError, UnreadableItemError
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.events.stream_change import StreamChange
from duecourse.domain.failures.subject import Subject
from duecourse.domain.journal.increment import Increment
from duecourse.domain.tasks.event import EventType
from duecourse.domain.tasks.recent_errors import NO_ERRORS
from duecourse.domain.tasks.run_diagnosis import Reading
from duecourse.domain.tasks.task import Task
from duecourse.usecases.journal import process_changes as module
from duecourse.usecases.journal.process_changes import (
    STORED_TOGETHER,
    JournalDeps,
    process_changes,
)
from duecourse.usecases.journal.project_change import ProjectionSettings, project_change
from duecourse.usecases.tasks.sync_waiting_task import WaitSyncDeps

from tests.support.builders.failures import fail_task
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.reviews import a_task_awaiting_review
from tests.support.builders.runs import DIAGNOSIS, a_failed_run, run_of
from tests.support.builders.tasks import a_task, claim_task
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.journal import MemoryCounters, MemoryJournal, MemoryStats
from tests.support.fakes.patterns import MemoryPatterns
from tests.support.fakes.queues import ListNotifications, ListQueue
from tests.support.fakes.tasks import MemoryStore, MemorySubjects

SHARD = "shardId-1"
BUSY = OSError("busy")  # passes
POISON = ValueError("poison")  # fails each time
BREAKER_EVENT = LiveEvent(id="b:1:0", type=EventType.BREAKER_OPENED, task_id="breaker#x", at=NOW)


def name_of(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


def a_failure(number: int, **task: Any) -> StreamChange:
    """Return the change of a task that failed for good: it is journaled, counted and notified."""
    running = claim_task(a_task(id=name_of(number), max_retries=1, **task))
    return a_change(number, running, fail_task(running))


def a_change(number: int, old: Task | None, new: Task | None, **fields: Any) -> StreamChange:
    return StreamChange(
        sequence_number=str(1000 + number),
        written_at=NOW,
        task_id=name_of(number),
        old=old,
        new=new,
        **fields,
    )


def failures(count: int) -> list[StreamChange]:
    return [a_failure(n) for n in range(count)]


def names(*numbers: int) -> list[str]:
    return [name_of(n) for n in numbers]


class LimitedNotifications(ListNotifications):
    """Takes only the first `limit` notifications of each call."""

    limit: int | None = None

    def send_all(self, notifications: Sequence[Notification]) -> int:
        return super().send_all(notifications[: self.limit])


class FailingStore(MemoryStore):
    """Raises the error that `errors` has for a task when it is read."""

    errors: dict[str, Exception]

    def get(self, task_id: str) -> Task:
        if (error := self.errors.get(task_id)) is not None:
            raise error
        return super().get(task_id)


@dataclass
class Harness:
    """Processes batches with fakes. `unpublished` is a task whose events the bus refuses."""

    journal: MemoryJournal = field(default_factory=MemoryJournal)
    stats: MemoryStats = field(default_factory=MemoryStats)
    subjects: MemorySubjects = field(default_factory=MemorySubjects)
    patterns: MemoryPatterns = field(default_factory=MemoryPatterns)
    counters: MemoryCounters = field(default_factory=MemoryCounters)
    notifications: LimitedNotifications = field(default_factory=LimitedNotifications)
    store: FailingStore = field(default_factory=FailingStore)
    published: list[LiveEvent] = field(default_factory=list)
    set_aside: list[tuple[str | None, Exception]] = field(default_factory=list)
    retried: list[tuple[str | None, Exception]] = field(default_factory=list)
    unpublished: str | None = None
    set_aside_error: Exception | None = None

    def __post_init__(self) -> None:
        self.store.errors = {}

    def process(self, changes: Sequence[StreamChange]) -> int:
        deps = JournalDeps(
            settings=ProjectionSettings((), MINUTE),
            journal=self.journal,
            stats=self.stats,
            subjects=self.subjects,
            patterns=self.patterns,
            counters=self.counters,
            wait_sync=WaitSyncDeps(self.store, ListQueue(), ManualClock(NOW)),
            notification_queue=self.notifications,
            publish=self._publish,
            is_retryable=lambda error: isinstance(error, OSError | StaleTaskError),
            set_aside=self._set_aside,
            on_retry=lambda change, error: self.retried.append((change.task_id, error)),
        )
        return process_changes(changes, SHARD, deps)

    def _publish(self, events: Sequence[LiveEvent]) -> LiveEvent | None:
        for event in events:
            if event.task_id == self.unpublished:
                return event
            self.published.append(event)
        return None

    def _set_aside(self, change: StreamChange, error: Exception) -> None:
        if self.set_aside_error is not None:
            raise self.set_aside_error
        self.set_aside.append((change.task_id, error))

    @property
    def published_ids(self) -> list[str]:
        return [event.task_id for event in self.published]

    @property
    def counted_numbers(self) -> list[int]:
        counted = [change for _, changes in self.counters.calls for change in changes]
        return [change.sequence_number - 1000 for change in counted]

    @property
    def notified_ids(self) -> list[str]:
        return [notification.task_id for notification in self.notifications]

    def results(self) -> tuple[list[str], list[str], list[int], list[str]]:
        """Return what was journaled, published, counted and notified."""
        return self.journal.task_ids, self.published_ids, self.counted_numbers, self.notified_ids


@pytest.fixture
def harness() -> Harness:
    return Harness()


# Without failures


def test_each_change_is_journaled_published_counted_and_notified(harness: Harness) -> None:
    assert harness.process(failures(3)) == 3
    assert harness.results() == (names(0, 1, 2), names(0, 1, 2), [0, 1, 2], names(0, 1, 2))
    assert (harness.set_aside, harness.retried) == ([], [])


def test_a_batch_is_stored_and_counted_with_few_calls(harness: Harness) -> None:
    assert harness.process(failures(STORED_TOGETHER + 3)) == STORED_TOGETHER + 3
    assert harness.journal.writes == [STORED_TOGETHER, 3]
    [(shard_id, counted)] = harness.counters.calls
    assert (shard_id, len(counted)) == (SHARD, STORED_TOGETHER + 3)
    assert counted[0].written_at == NOW


def test_an_empty_batch_is_done(harness: Harness) -> None:
    """Lambda sends one at the end of each window."""
    assert harness.process([]) == 0
    assert harness.results() == ([], [], [], [])


def test_a_change_without_entries_counts_or_notifications_is_done(harness: Harness) -> None:
    created = a_change(0, None, a_task(id=name_of(0)))
    expired = a_change(1, a_task(id=name_of(1)), None)
    assert harness.process([created, expired]) == 2
    assert harness.results() == ([], names(0), [], [])


def test_a_breaker_event_is_only_published(harness: Harness) -> None:
    change = StreamChange(sequence_number="1", written_at=NOW, breaker_events=[BREAKER_EVENT])
    assert harness.process([change, a_failure(1)]) == 2
    assert harness.published[0] == BREAKER_EVENT
    assert harness.journal.task_ids == names(1)


def test_a_repeated_failure_is_projected_to_the_statistics(harness: Harness) -> None:
    errors = NO_ERRORS
    for n in range(4):
        errors = errors.record("timeout", at=NOW + n * MINUTE)
    change = a_failure(0)
    assert change.new is not None
    harness.process([replace(change, new=replace(change.new, recent_errors=errors))])
    assert [tracker.errors for tracker in harness.stats.trackers] == [errors]


def test_a_correction_is_learned(harness: Harness) -> None:
    note = replace(DIAGNOSIS, fingerprint="0a")
    old = a_task(id=name_of(0), policy="agent", run=a_failed_run(diagnosis=note))
    corrected = replace(note, pattern="person", read_as=Reading(category="timeout"), by="ada")
    run = replace(run_of(old), category="transient", diagnosis=corrected)
    harness.process([a_change(0, old, replace(old, run=run))])
    assert harness.patterns.corrections["agent", "0a"].category == "transient"


# A change that cannot be read


def test_an_unreadable_change_brings_nothing_and_its_task_is_synced(harness: Harness) -> None:
    waiting = replace(a_task_awaiting_review(), id=name_of(0))
    harness.store.errors = {waiting.id: BUSY}  # shows that it was read
    change = a_change(0, None, waiting, is_known=False)
    assert harness.process([change]) == 0
    harness.store.errors = {}
    assert harness.process([change, a_change(1, None, None, is_known=False)]) == 2
    assert harness.results() == ([], [], [], [])


# Changes that fail each time


def test_a_change_that_cannot_be_stored_is_set_aside_and_the_others_go_on(
    harness: Harness,
) -> None:
    harness.journal.errors = {name_of(1): POISON}
    assert harness.process(failures(3)) == 3
    assert harness.set_aside == [(name_of(1), POISON)]
    assert harness.results() == (names(0, 2), names(0, 2), [0, 2], names(0, 2))
    assert harness.journal.writes == [3, 1, 1, 1]


def test_only_the_changes_around_a_bad_one_are_stored_one_by_one(harness: Harness) -> None:
    harness.journal.errors = {name_of(STORED_TOGETHER): POISON}
    assert harness.process(failures(STORED_TOGETHER + 2)) == STORED_TOGETHER + 2
    assert harness.journal.writes == [STORED_TOGETHER, 2, 1, 1]


def test_a_change_that_cannot_be_projected_is_set_aside(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = project_change

    def project(old: Task | None, new: Task | None, *args: Any, **options: Any) -> Any:
        if new is not None and new.id == name_of(0):
            raise POISON
        return real(old, new, *args, **options)

    monkeypatch.setattr(module, "project_change", project)
    assert harness.process(failures(2)) == 2
    assert harness.set_aside == [(name_of(0), POISON)]
    assert harness.results() == (names(1), names(1), [1], names(1))


def test_a_change_whose_task_cannot_be_synced_is_set_aside(harness: Harness) -> None:
    waiting = a_change(0, None, replace(a_task_awaiting_review(), id=name_of(0)))
    harness.store.errors = {name_of(0): POISON}
    assert harness.process([waiting, a_failure(1)]) == 2
    assert harness.set_aside == [(name_of(0), POISON)]
    assert harness.published_ids == names(1)


def test_a_change_that_meets_an_unreadable_item_is_not_set_aside(harness: Harness) -> None:
    """The item itself is reported; the change has nothing that a person could repair."""
    harness.journal.errors = {name_of(0): UnreadableItemError("task", "newer")}
    assert harness.process(failures(2)) == 2
    assert (harness.set_aside, harness.retried) == ([], [])
    assert harness.results() == (names(1), names(1), [1], names(1))


def test_a_change_that_cannot_be_set_aside_is_tried_again(harness: Harness) -> None:
    harness.journal.errors = {name_of(1): POISON}
    harness.set_aside_error = BUSY
    assert harness.process(failures(3)) == 1
    assert harness.retried == [(name_of(1), BUSY)]
    assert harness.results() == (names(0), names(0), [0], names(0))


# Errors that pass


def test_an_error_of_a_service_while_storing_stops_before_the_changes_stored_together(
    harness: Harness,
) -> None:
    harness.journal.errors = {name_of(STORED_TOGETHER + 1): BUSY}
    assert harness.process(failures(STORED_TOGETHER + 3)) == STORED_TOGETHER
    assert harness.retried == [(name_of(STORED_TOGETHER), BUSY)]
    assert harness.notified_ids == names(*range(STORED_TOGETHER))
    assert harness.counted_numbers == list(range(STORED_TOGETHER))


def test_an_error_of_a_service_stops_at_its_change_if_they_are_stored_one_by_one(
    harness: Harness,
) -> None:
    harness.journal.errors = {name_of(0): POISON, name_of(2): BUSY}
    assert harness.process(failures(4)) == 2
    assert harness.set_aside == [(name_of(0), POISON)]
    assert harness.retried == [(name_of(2), BUSY)]
    assert harness.results() == (names(1), names(1), [1], names(1))


def test_a_lost_race_while_syncing_stops_at_its_change(harness: Harness) -> None:
    waiting = a_change(1, None, replace(a_task_awaiting_review(), id=name_of(1)))
    stale = StaleTaskError(name_of(1))
    harness.store.errors = {name_of(1): stale}
    assert harness.process([a_failure(0), waiting, a_failure(2)]) == 1
    assert harness.retried == [(name_of(1), stale)]
    assert harness.published_ids == harness.notified_ids == names(0)
    assert harness.counted_numbers == [0]


def test_a_change_that_is_not_published_is_neither_counted_nor_notified(harness: Harness) -> None:
    harness.unpublished = name_of(1)
    assert harness.process(failures(3)) == 1
    assert harness.results() == (names(0, 1, 2), names(0), [0], names(0))


def test_nobody_is_notified_of_changes_that_are_not_counted_yet(harness: Harness) -> None:
    harness.counters.error = BUSY
    assert harness.process(failures(2)) == 0
    assert harness.retried == [(name_of(0), BUSY)]
    assert harness.notified_ids == []


def test_counters_that_fail_each_time_do_not_keep_people_from_being_notified(
    harness: Harness,
) -> None:
    harness.counters.error = POISON
    assert harness.process(failures(2)) == 2
    assert harness.retried == [(name_of(0), POISON)]  # it is logged
    assert harness.notified_ids == names(0, 1)


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_a_change_whose_notification_is_not_sent_is_tried_again(
    harness: Harness, limit: int
) -> None:
    harness.notifications.limit = limit
    quiet = a_change(0, None, a_task(id=name_of(0)))  # has no notification
    assert harness.process([quiet, *(a_failure(n) for n in (1, 2, 3))]) == limit + 1
    assert harness.notified_ids == names(*range(1, limit + 1))


# Every step, at every position


@pytest.mark.parametrize("step", ["store", "sync", "publish", "count", "notify", "set aside"])
@pytest.mark.parametrize("position", range(4))
def test_after_any_failure_the_rest_is_done_once_by_the_next_delivery(
    harness: Harness, step: str, position: int
) -> None:
    """Nothing is notified before it is journaled and counted, and nothing is lost or doubled."""
    changes = failures(4)
    bad = changes[position]
    assert bad.task_id is not None
    match step:
        case "store":
            harness.journal.errors = {bad.task_id: BUSY}
        case "sync":
            waiting = replace(a_task_awaiting_review(), id=bad.task_id)
            changes[position] = replace(bad, new=waiting)
            harness.store.errors = {bad.task_id: BUSY}
        case "publish":
            harness.unpublished = bad.task_id
        case "count":
            harness.counters.error = BUSY
        case "notify":
            harness.notifications.limit = position
        case "set aside":
            harness.journal.errors = {bad.task_id: POISON}
            harness.set_aside_error = BUSY
    done = harness.process(changes)
    assert done <= position
    assert set(harness.notified_ids) <= set(harness.journal.task_ids)
    assert harness.notified_ids == names(*range(done))

    harness.journal.errors, harness.store.errors, harness.unpublished = {}, {}, None
    harness.counters.error = harness.set_aside_error = harness.notifications.limit = None
    assert harness.process(changes[done:]) == len(changes) - done
    assert set(harness.journal.task_ids) == set(names(*range(4)))
    assert harness.notified_ids == names(*range(4))
    counted = harness.counters.pages[SHARD].increments
    assert sum(one.sums["errors"] for one in counted if _is_category(one)) == 4


def _is_category(increment: Increment) -> bool:
    return increment.counter.startswith("category#")


# Deleted tasks


def a_deletion(number: int, **task: Any) -> StreamChange:
    return a_change(number, a_task(id=name_of(number), **task), None, is_deleted=True)


def test_deleted_tasks_are_erased_together_after_what_came_before() -> None:
    harness = Harness()

    assert harness.process([a_failure(0), a_deletion(0), a_deletion(1), a_failure(2)]) == 4

    assert harness.journal.erased == [set(names(0, 1))]
    assert harness.journal.task_ids == names(0, 2)


def test_a_task_that_is_created_again_is_left_to_the_next_batch() -> None:
    harness = Harness()
    created = a_change(0, None, a_task(id=name_of(0)))

    assert harness.process([a_deletion(0), a_failure(1), created, a_failure(2)]) == 2
    assert harness.process([created, a_failure(2)]) == 2

    assert harness.journal.erased == [set(names(0))]


def test_the_last_error_of_a_deleted_tasks_subject_is_erased() -> None:
    subject = Subject(id="story-1").record_attempt("x", "of Zoe", at=NOW, cooldown_until=None)
    harness = Harness(subjects=MemorySubjects(subject))

    harness.process([a_deletion(0, subject="story-1"), a_deletion(1, subject="unknown")])

    assert harness.subjects.get("story-1").last_error_message is None
    assert harness.subjects.get("story-1").last_error_category == "x"


@pytest.mark.parametrize(("error", "count"), [(BUSY, 1), (POISON, 3)])
def test_a_deletion_that_cannot_be_erased_is_tried_again_or_set_aside(
    error: Exception, count: int
) -> None:
    harness = Harness(journal=MemoryJournal(erase_error=error))

    assert harness.process([a_failure(0), a_deletion(1), a_failure(2)]) == count
    assert len(harness.set_aside) == (1 if error is POISON else 0)
