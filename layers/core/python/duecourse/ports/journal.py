"""Storage for the past: events, runs, errors, audit entries, counters and learned patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from duecourse.domain.chat.audit_operator import OperatorChange
    from duecourse.domain.failures.adaptive_backoff import RetryOutcomesByDelay
    from duecourse.domain.failures.subject import Subject
    from duecourse.domain.journal.audit import AuditEntry
    from duecourse.domain.journal.audit_api import ApiChange
    from duecourse.domain.journal.counters import Increment, Recovery
    from duecourse.domain.journal.error_log import LoggedError
    from duecourse.domain.journal.failure_tracker import FailureTracker
    from duecourse.domain.journal.learned_patterns import (
        Correction,
        LearnedPattern,
        ObservedFailure,
    )
    from duecourse.domain.journal.stats import DailyCounter
    from duecourse.domain.tasks.event import Event
    from duecourse.domain.tasks.run import PreviousFailure, Run
    from duecourse.domain.tasks.task import Task


@dataclass(frozen=True)
class AuditPage:
    """Entries as JSON. `next_cursor` starts the next page; None on the last one."""

    items: Sequence[Mapping[str, Any]]
    next_cursor: str | None


class AuditLog(Protocol):
    def record_change(self, change: ApiChange | OperatorChange) -> None:
        """Store who changed what, over HTTP or in the operators' chat. Idempotent."""


class Journal(AuditLog, Protocol):
    def write(
        self,
        task: Task,
        events: Sequence[Event],
        run: Run | None,
        execution: AuditEntry | None = None,
    ) -> None:
        """Store what one version of a task brought: its events, ended run and audit entry.
        Idempotent."""

    def list_events(self, task_id: str) -> Sequence[Event]:
        """Return the latest few hundred events, oldest first."""

    def list_runs(self, task_id: str) -> Sequence[Run]:
        """Return the latest few hundred ended runs, oldest first."""

    def list_audit(self, day: date, *, limit: int, after: str | None) -> AuditPage:
        """Return the audit entries of a UTC day, oldest first, starting after the entry `after`.

        An entry belongs to the day on which its execution or change began. Raises ValueError if
        `after` is not a cursor of such a page.
        """


@dataclass(frozen=True)
class ErrorPage:
    items: Sequence[LoggedError]
    next_cursor: str | None


class ErrorLog(Protocol):
    def record_error(self, error: LoggedError, run: Run) -> bool:
        """Log the failure and count it, atomically and once. Return False if it was recorded
        before.

        Raises, with nothing written, if concurrent writes to the same counters win every retry.
        """

    def record_recovery(self, recovery: Recovery) -> bool:
        """Count a retry that succeeded, with the guarantees of `record_error`.

        The first failure of the occurrence must have been recorded before.
        """

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


class Patterns(Protocol):
    """What was learned from failures, by policy and failure fingerprint.

    A pattern without a correction by a person expires.
    """

    def find(self, policy: str, fingerprint: str, *, now: datetime) -> LearnedPattern | None:
        """Return the pattern, or None. One cheap, eventually consistent read."""

    def list_newest(self, policy: str, *, limit: int, now: datetime) -> Sequence[LearnedPattern]:
        """Return patterns, most recently seen first. One eventually consistent read, however many
        exist."""

    def record_observation(self, observed: ObservedFailure) -> None:
        """Count one failure. Not idempotent."""

    def record_correction(self, observed: ObservedFailure, correction: Correction) -> None:
        """Store a person's correction for this failure. Idempotent."""

    def remove_correction(self, policy: str, fingerprint: str, *, now: datetime) -> bool:
        """Remove the correction. Return False if there was none."""

    def record_retry(
        self, policy: str, previous_failure: PreviousFailure, *, has_succeeded: bool, at: datetime
    ) -> None:
        """Count a retry under the failure it followed and the delay before it."""

    def get_retry_outcomes(
        self, policy: str, category: str, *, now: datetime
    ) -> RetryOutcomesByDelay:
        """Return the outcomes of this month and the last by delay in seconds. Eventually
        consistent."""

    def get_all_retry_outcomes(
        self, policy: str, *, now: datetime
    ) -> Mapping[str, RetryOutcomesByDelay]:
        """Return the outcomes of `get_retry_outcomes` for every category, with one read."""


class Stats(Protocol):
    def add(self, increments: Iterable[Increment]) -> None:
        """Add the increments, with one write per counter. Not idempotent."""

    def read_counters(self, days: Sequence[str]) -> Sequence[DailyCounter]:
        """Return the counters of these days, with one eventually consistent read per day."""

    def list_given_up(self, limit: int) -> Sequence[Subject]:
        """Return subjects in permanent failure, most failures first, with one read."""

    def list_repeated(self, *, since: datetime) -> Sequence[FailureTracker]:
        """Return failures repeated (four times or more) since `since`, latest first and capped."""
