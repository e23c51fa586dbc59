"""Keep what one committed change of a task brought."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.audit import audited, executed
from duecourse.domain.chat.news import notice_of
from duecourse.domain.error_log import is_failure, logged_error
from duecourse.domain.history import ended_run, events_between
from duecourse.domain.tally import Increment, of_success, recovery_of
from duecourse.domain.task import Task
from duecourse.ports import ErrorLog, Journal, Notices


def record_history(
    old: Task | None,
    new: Task | None,
    *,
    at: datetime,
    journal: Journal,
    errors: ErrorLog,
    notices: Notices,
) -> list[Increment]:
    """A task that aged out (`new` is None) leaves its history as it is.

    Failures and recoveries are counted here, exactly. What is returned is to be counted for all
    changes that came together: it is cheap that way, and need not be exact. People are told last,
    at least once: what is kept need not wait for that.
    """
    if new is None:
        return []
    events = events_between(old, new, at=at)
    run = ended_run(old, new)
    execution = audited(new, done) if (done := executed(old, new)) else None
    if events or run or execution:
        journal.write(new, events, run, execution)
    if run is not None and is_failure(run):
        errors.keep(logged_error(new, run), run)
    if run is not None and (recovery := recovery_of(old, new, run)):
        errors.recovered(recovery)
    if (notice := notice_of(old, new)) is not None:
        notices.send(notice)
    return of_success(old, new, run)
