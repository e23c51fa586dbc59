"""Keep what one committed change of a task brought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from duecourse.domain.chat.chat_address import Place
from duecourse.domain.chat.notification import Notice
from duecourse.domain.chat.notifications_for import notices_of
from duecourse.domain.events.event import LiveEvent, live_events
from duecourse.domain.journal.audit import audited, executed
from duecourse.domain.journal.counters import Increment, of_success, recovery_of
from duecourse.domain.journal.error_log import logged_error
from duecourse.domain.journal.history import ended_run, events_between
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.task import Task
from duecourse.ports.journal import ErrorLog, Journal, Patterns
from duecourse.usecases.failures.learn import count, learn


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """What is left to be told and counted of a change, now that it is kept.

    The increments are counted for all changes that came together: it is cheap that way, and need
    not be exact. `uncounted` is why a failure or retry is missing from what is learnt.
    """

    events: Sequence[LiveEvent] = ()
    notices: Sequence[Notice] = ()
    increments: Sequence[Increment] = ()
    uncounted: Exception | None = None


@dataclass(frozen=True)
class Clerk:
    """All that keeping history needs besides the change."""

    journal: Journal
    errors: ErrorLog
    patterns: Patterns
    operators: Sequence[Place]
    late_after: timedelta


def record_history(old: Task | None, new: Task | None, clerk: Clerk, *, at: datetime) -> Kept:
    """A task that aged out (`new` is None) leaves its history as it is.

    Failures and recoveries are counted here, exactly. What they teach is not: a crash may
    leave out one.
    """
    if new is None:
        return Kept()
    events = events_between(old, new, at=at)
    run = ended_run(old, new)
    execution = audited(new, done) if (done := executed(old, new)) else None
    if events or run or execution:
        clerk.journal.write(new, events, run, execution)
    uncounted = None
    if run is not None:
        if _log(old, new, run, clerk.errors):
            uncounted = count(new, run, clerk.patterns)
        learn(old, new, run, clerk.patterns, at=at)
    return Kept(
        events=live_events(old, new, at=at),
        notices=notices_of(old, new, clerk.operators),
        increments=of_success(old, new, run, late_after=clerk.late_after),
        uncounted=uncounted,
    )


def _log(old: Task | None, new: Task, run: Run, errors: ErrorLog) -> bool:
    """Count the failure, or the recovery from one. False where it is neither, or was counted."""
    if run.is_failure:
        return errors.keep(logged_error(new, run), run)
    recovery = recovery_of(old, new, run)
    return recovery is not None and errors.recovered(recovery)
