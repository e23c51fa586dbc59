"""Journal one committed change of a task, and derive events, notifications and counters from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.notifications_for import notifications_for
from duecourse.domain.errors import UnreadableItemError
from duecourse.domain.events.event import LiveEvent, build_live_events
from duecourse.domain.journal.audit import find_executed_run, to_audit_entry
from duecourse.domain.journal.counters import Increment, find_recovery, success_increments
from duecourse.domain.journal.error_log import to_logged_error
from duecourse.domain.journal.history import ended_run, events_between
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.task import Task
from duecourse.ports.journal import ErrorLog, Journal, Patterns
from duecourse.usecases.failures.learn import count_run, learn_correction


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectedChange:
    """What remains to be published, sent and counted after the change is journaled.

    The caller adds up `increments` over a batch, which is cheap and need not be exact.
    `count_error` says why a failure or retry is missing from the learned patterns.
    """

    events: Sequence[LiveEvent] = ()
    notifications: Sequence[Notification] = ()
    increments: Sequence[Increment] = ()
    count_error: Exception | None = None


@dataclass(frozen=True)
class JournalDeps:
    journal: Journal
    error_log: ErrorLog
    patterns: Patterns
    operator_chats: Sequence[ChatAddress]
    late_after: timedelta


def project_change(
    old: Task | None, new: Task | None, deps: JournalDeps, *, at: datetime
) -> ProjectedChange:
    """Journal the change from `old` to `new`. An expired task (`new` is None) changes nothing.

    Failures and recoveries are counted here, exactly once. Learned patterns are not exact: a crash
    may leave one out.
    """
    if new is None:
        return ProjectedChange()
    events = events_between(old, new, at=at)
    run = ended_run(old, new)
    execution = to_audit_entry(new, done) if (done := find_executed_run(old, new)) else None
    if events or run or execution:
        deps.journal.write(new, events, run, execution)
    count_error = _count_and_learn(old, new, run, deps, at=at) if run else None
    return ProjectedChange(
        events=build_live_events(old, new, at=at),
        notifications=notifications_for(old, new, deps.operator_chats),
        increments=success_increments(old, new, run, late_after=deps.late_after),
        count_error=count_error,
    )


def _count_and_learn(
    old: Task | None, new: Task, run: Run, deps: JournalDeps, *, at: datetime
) -> Exception | None:
    """Count the ended run and learn from it; return why the learned patterns miss it, if they do.

    An unreadable item is at fault for good, so it does not hold up the events of the change. Other
    errors are raised: the change is then projected again.
    """
    try:
        is_counted = _log_outcome(old, new, run, deps.error_log)
        count_error = count_run(new, run, deps.patterns) if is_counted else None
        learn_correction(old, new, run, deps.patterns, at=at)
    except UnreadableItemError as error:
        return error
    return count_error


def _log_outcome(old: Task | None, new: Task, run: Run, error_log: ErrorLog) -> bool:
    """Count the failure, or the recovery from one. Return False if it is neither or was counted."""
    if run.is_failure:
        return error_log.record_error(to_logged_error(new, run), run)
    recovery = find_recovery(old, new, run)
    return recovery is not None and error_log.record_recovery(recovery)
