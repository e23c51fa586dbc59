"""Storage for the past: events, runs, errors, audit entries, counters and learned patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from duecourse.domain.chat.audit_operator import OperatorChange
    from duecourse.domain.failures.adaptive_backoff import RetryOutcomesByDelay
    from duecourse.domain.failures.subject import Subject
    from duecourse.domain.journal.audit_api import ApiChange
    from duecourse.domain.journal.counter_page import CountedChange
    from duecourse.domain.journal.error_log import LoggedError
    from duecourse.domain.journal.failed_runs import FailedRun
    from duecourse.domain.journal.failure_tracker import FailureTracker
    from duecourse.domain.journal.increment import Increment
    from duecourse.domain.journal.journal_entries import JournalEntries, StoredEvent
    from duecourse.domain.journal.learned_patterns import (
        Correction,
        LearnedPattern,
        ObservedFailure,
    )
    from duecourse.domain.journal.learning_counters import RunRef
    from duecourse.domain.journal.run_record import RunRecord


@dataclass(frozen=True)
class AuditItem:
    """An entry as JSON. `position` sorts by time and is a cursor after this entry."""

    position: str
    entry: Mapping[str, Any]


@dataclass(frozen=True)
class AuditPage:
    """`next_cursor` starts the next page; None on the last one."""

    items: Sequence[AuditItem]
    next_cursor: str | None


class AuditLog(Protocol):
    def record_change(self, change: ApiChange | OperatorChange) -> None:
        """Store who changed what, over HTTP or in the operators' chat. Idempotent."""


class Journal(AuditLog, Protocol):
    def write(self, batch: Sequence[JournalEntries]) -> None:
        """Store the entries of a batch of changes, in order. Idempotent.

        Raises if some could not be stored, with an unknown part of them stored.
        """

    def erase(self, task_ids: Set[str], *, at: datetime) -> None:
        """Delete all entries of the tasks, and their texts in the audit log. Idempotent.

        The audit log keeps that something was done, when and by which token, and not for whom.
        """

    def list_events(self, task_id: str) -> Sequence[StoredEvent]:
        """Return the latest few hundred events that were stored by themselves, oldest first."""

    def list_runs(self, task_id: str) -> Sequence[RunRecord]:
        """Return the records of the latest few hundred ended runs, oldest first."""

    def list_audit(self, day: date, *, limit: int, after: str | None) -> AuditPage:
        """Return the stored audit entries of a UTC day, oldest first, starting after `after`.

        An entry belongs to the day on which its execution or change began. Raises ValueError if
        `after` is not a cursor of such a page.
        """


@dataclass(frozen=True)
class ErrorPage:
    items: Sequence[LoggedError]
    next_cursor: str | None


class ErrorLog(Protocol):
    def list_by_task(self, task_id: str) -> Sequence[LoggedError]:
        """Return the latest few hundred errors, oldest first."""

    def list_by_subject(
        self, subject: str, *, limit: int, cursor: str | None, now: datetime
    ) -> ErrorPage:
        """Return one page, newest first. Following the cursors skips and repeats nothing.

        Raises ValueError for an invalid cursor.
        """

    def list_by_category(
        self, category: str, *, limit: int, cursor: str | None, now: datetime
    ) -> ErrorPage:
        """Return one page of today and the 30 UTC days before, as `list_by_subject` does."""

    def find_records(self, refs: Iterable[RunRef]) -> Mapping[str, RunRecord]:
        """Return the records by run id. Those that are missing or unreadable are left out."""


class Patterns(Protocol):
    """What was learned from failures, by policy and failure fingerprint.

    A pattern without a correction by a person expires.
    """

    def find_correction(self, policy: str, fingerprint: str, *, now: datetime) -> Correction | None:
        """Return the correction of the pattern, or None. One cheap, eventually consistent read."""

    def list_newest(self, policy: str, *, limit: int, now: datetime) -> Sequence[LearnedPattern]:
        """Return patterns, most recently seen first. The number of reads does not depend on how
        many exist."""

    def record_correction(self, observed: ObservedFailure, correction: Correction) -> None:
        """Store a person's correction for this failure. Idempotent."""

    def remove_correction(self, policy: str, fingerprint: str, *, now: datetime) -> bool:
        """Remove the correction. Return False if there was none."""

    def get_retry_outcomes(
        self, policy: str, category: str, *, now: datetime
    ) -> RetryOutcomesByDelay:
        """Return the outcomes of this month and the last by delay in seconds. They may be some
        minutes old."""

    def get_all_retry_outcomes(
        self, policy: str, *, now: datetime
    ) -> Mapping[str, RetryOutcomesByDelay]:
        """Return the outcomes of `get_retry_outcomes` for every category."""


class Counters(Protocol):
    def add(self, shard_id: str, changes: Iterable[CountedChange]) -> None:
        """Count each change once, however often it comes and in whichever batches.

        `shard_id` is the shard of the stream, which delivers its changes in order the first time.
        Raises StalePageError if others keep writing the same counters; then `changes` are counted
        in part, and may be added again.
        """

    def read_since(self, day: str, *, now: datetime) -> Sequence[Increment]:
        """Return the sums from the UTC day `day` on, and perhaps some of the day before.
        Eventually consistent."""

    def list_failed_runs(self, day: str) -> Sequence[FailedRun]:
        """Return the runs that failed on the UTC day and were counted by their names, by their
        end. Eventually consistent."""

    def list_counted_runs(self, day: str) -> Set[str] | None:
        """Return the names of the runs that were counted on the UTC day by name: those that closed
        their tasks with success, and redriven ones. None if older code counted some of that day
        without names. Strongly consistent."""

    def compact(self, *, now: datetime) -> int:
        """Sum up the days that are over for good, so that reading them is cheap. Idempotent.
        Return how many."""


class Stats(Protocol):
    def save_tracker(self, tracker: FailureTracker) -> None:
        """Store the recent errors of a task, unless later ones are stored. Idempotent."""

    def delete_tracker(self, task_id: str) -> None:
        """Delete the recent errors of a task, if there are any."""

    def list_given_up(self, limit: int) -> Sequence[Subject]:
        """Return subjects in permanent failure, most failures first, with one read."""

    def list_repeated(self, *, since: datetime) -> Sequence[FailureTracker]:
        """Return failures repeated (four times or more) since `since`, latest first and capped."""
