"""Process a batch of changes from a stream: journal, publish, count and notify, in order.

Each step handles the changes from the first one on and stops at the first that has to be tried
again. The next step handles only what the step before has done. So nobody is notified of a change
that is not in the history, and a change that is tried again was not yet notified. Every step but
the last one may be repeated without harm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from duecourse.domain.errors import NotificationsNotSentError, UnreadableItemError
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.events.stream_change import StreamChange
from duecourse.domain.journal.counter_page import CountedChange
from duecourse.ports.journal import Counters, Journal, Patterns, Stats
from duecourse.ports.queues import NotificationQueue
from duecourse.ports.tasks import Subjects
from duecourse.usecases.failures.reset_subject import erase_subject_message
from duecourse.usecases.journal.project_change import (
    ProjectedChange,
    ProjectionSettings,
    project_change,
)
from duecourse.usecases.tasks.sync_waiting_task import WaitSyncDeps, sync_waiting_task

STORED_TOGETHER = 25


@dataclass(frozen=True, kw_only=True)
class JournalDeps:
    """`publish` returns the first event that was not published, or None.

    `is_retryable` tells the errors of a service, which pass, from those that a change causes each
    time. A change of the second kind goes to `set_aside`, so that it does not hold up the others.
    """

    settings: ProjectionSettings
    journal: Journal
    stats: Stats
    subjects: Subjects
    patterns: Patterns
    counters: Counters
    wait_sync: WaitSyncDeps
    notification_queue: NotificationQueue
    publish: Callable[[Sequence[LiveEvent]], LiveEvent | None]
    is_retryable: Callable[[Exception], bool]
    set_aside: Callable[[StreamChange, Exception], None]
    on_retry: Callable[[StreamChange, Exception], None]


@dataclass
class _Batch:
    """The changes that are still to be processed, each with what it brings."""

    changes: Sequence[StreamChange]
    shard_id: str
    deps: JournalDeps
    projected: list[ProjectedChange] = field(default_factory=list)

    def keep(self, count: int) -> None:
        self.changes, self.projected = self.changes[:count], self.projected[:count]


def process_changes(changes: Sequence[StreamChange], shard_id: str, deps: JournalDeps) -> int:
    """Process the changes and return how many are done. The others have to be tried again."""
    batch = _Batch(_until_recreated(changes), shard_id, deps)
    for step in (_project, _store, _erase, _sync, _publish, _count, _notify):
        batch.keep(step(batch))
    return len(batch.changes)


def _until_recreated(changes: Sequence[StreamChange]) -> Sequence[StreamChange]:
    """Return the changes before a deleted task is created again, with the same idempotency key.

    Erasing the first task must not erase what this batch would store of the second.
    """
    deleted: set[str | None] = set()
    for n, change in enumerate(changes):
        if change.task_id in deleted:
            return changes[:n]
        if change.is_deleted:
            deleted.add(change.task_id)
    return changes


def _project(batch: _Batch) -> int:
    def project(n: int) -> None:
        change = batch.changes[n]
        batch.projected.append(ProjectedChange(events=change.breaker_events))
        if change.is_known and change.task_id is not None:
            batch.projected[n] = project_change(
                change.old,
                change.new,
                batch.deps.settings,
                at=change.written_at,
                counted_at=change.counted_at,
            )

    return _for_each(batch, project)


def _store(batch: _Batch) -> int:
    """Store the entries of several changes at once; one by one if that fails."""
    for start in range(0, len(batch.changes), STORED_TOGETHER):
        end = min(start + STORED_TOGETHER, len(batch.changes))
        try:
            _store_projected(batch.projected[start:end], batch.deps)
        except Exception as error:  # noqa: BLE001 - whatever it is, one change may be the cause
            if batch.deps.is_retryable(error):
                batch.deps.on_retry(batch.changes[start], error)
                return start
            done = _for_each(batch, lambda n: _store_one(batch, n), range(start, end))
            if done < end:
                return done
    return len(batch.changes)


def _store_one(batch: _Batch, n: int) -> None:
    _store_projected(batch.projected[n : n + 1], batch.deps)


def _store_projected(projected: Sequence[ProjectedChange], deps: JournalDeps) -> None:
    deps.journal.write([one.entries for one in projected if one.entries is not None])
    for one in projected:
        if one.tracker is not None:
            deps.stats.save_tracker(one.tracker)
        if one.correction is not None:
            deps.patterns.record_correction(one.correction.observed, one.correction.correction)


def _erase(batch: _Batch) -> int:
    """Erase what is known of tasks that a person deleted, all at once: the audit log is long."""
    deleted = [n for n, change in enumerate(batch.changes) if change.is_deleted]
    if not deleted:
        return len(batch.changes)
    try:
        _erase_deleted([batch.changes[n] for n in deleted], batch.deps)
    except Exception as error:  # noqa: BLE001 - of whatever kind, the data must not stay
        if not all(_is_set_aside(batch, n, error) for n in deleted):
            return deleted[0]
    return len(batch.changes)


def _erase_deleted(changes: Sequence[StreamChange], deps: JournalDeps) -> None:
    ids = {change.task_id for change in changes if change.task_id}
    deps.journal.erase(ids, at=changes[-1].written_at)
    for task_id in ids:
        deps.stats.delete_tracker(task_id)
    for subject in {change.old.subject for change in changes if change.old is not None}:
        if subject is not None:
            erase_subject_message(subject, deps.subjects)


def _sync(batch: _Batch) -> int:
    """Sync tasks that wait for each other. This needs only their current state, not the change."""

    def sync(n: int) -> None:
        change = batch.changes[n]
        old = change.old if change.is_known else None
        # What cannot be read is another task; this change is processed all the same.
        with suppress(UnreadableItemError):
            sync_waiting_task(old, change.new, batch.deps.wait_sync)

    return _for_each(batch, sync)


def _publish(batch: _Batch) -> int:
    events = [event for one in batch.projected for event in one.events]
    unpublished = batch.deps.publish(events) if events else None
    if unpublished is None:
        return len(batch.changes)
    return next(n for n, one in enumerate(batch.projected) if unpublished in one.events)


def _count(batch: _Batch) -> int:
    """Count all changes with one write. Nothing is notified until they are counted."""
    if not batch.changes:
        return 0
    try:
        counted = [
            CountedChange(
                int(change.sequence_number), change.counted_at or change.written_at, one.increments
            )
            for change, one in zip(batch.changes, batch.projected, strict=True)
            if one.increments and not change.is_counted
        ]
        batch.deps.counters.add(batch.shard_id, counted)
    except Exception as error:  # noqa: BLE001 - whatever it is, people are notified
        batch.deps.on_retry(batch.changes[0], error)
        return 0 if batch.deps.is_retryable(error) else len(batch.changes)
    return len(batch.changes)


def _notify(batch: _Batch) -> int:
    notifications = [
        (n, notification)
        for n, one in enumerate(batch.projected)
        for notification in one.notifications
    ]
    queue = batch.deps.notification_queue
    sent_count = queue.send_all([notification for _, notification in notifications])
    if sent_count == len(notifications):
        return len(batch.changes)
    first_unsent, _ = notifications[sent_count]
    batch.deps.on_retry(batch.changes[first_unsent], NotificationsNotSentError(sent_count))
    return first_unsent


def _for_each(
    batch: _Batch, process: Callable[[int], None], positions: Sequence[int] | None = None
) -> int:
    """Process the changes at these positions, in order; return the first that is not done.

    A change that fails each time is set aside and brings nothing.
    """
    for n in range(len(batch.changes)) if positions is None else positions:
        try:
            process(n)
        except UnreadableItemError:
            batch.projected[n] = ProjectedChange()  # it is reported; a retry could not read it
        except Exception as error:  # noqa: BLE001 - one bad change never stops the others
            if not _is_set_aside(batch, n, error):
                return n
            batch.projected[n] = ProjectedChange()
    return len(batch.changes) if positions is None else positions[-1] + 1


def _is_set_aside(batch: _Batch, n: int, error: Exception) -> bool:
    change, deps = batch.changes[n], batch.deps
    try:
        if not deps.is_retryable(error):
            deps.set_aside(change, error)
            return True
    except Exception as second:  # noqa: BLE001 - without a place to put it, it is tried again
        error = second
    deps.on_retry(change, error)
    return False
