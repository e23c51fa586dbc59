"""What is kept of the past: events, runs, errors, figures, and what they taught."""

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
    """The entries as JSON; `next_cursor` is where the next page begins, None after the last."""

    items: Sequence[Mapping[str, Any]]
    next_cursor: str | None


class AuditLog(Protocol):
    def record_change(self, change: ApiChange | OperatorChange) -> None:
        """Keep who changed what over HTTP, or in the operators' chat; again changes nothing."""


class Journal(AuditLog, Protocol):
    def write(
        self,
        task: Task,
        events: Sequence[Event],
        run: Run | None,
        execution: AuditEntry | None = None,
    ) -> None:
        """Keep what one version of a task brought; writing it again changes nothing."""

    def list_events(self, task_id: str) -> Sequence[Event]:
        """The latest few hundred, oldest first."""

    def list_runs(self, task_id: str) -> Sequence[Run]:
        """Ended runs, the latest few hundred, oldest first."""

    def list_audit(self, day: date, *, limit: int, after: str | None) -> AuditPage:
        """What was done for people and changed over HTTP, by the UTC day that it began on, oldest
        first, from just after that entry on.

        Raises ValueError for an `after` that no page named.
        """


@dataclass(frozen=True)
class ErrorPage:
    items: Sequence[LoggedError]
    next_cursor: str | None


class ErrorLog(Protocol):
    def record_error(self, error: LoggedError, run: Run) -> bool:
        """Log the failure and count it: all of it or nothing, and once. False: it was before.

        Raises where others write to the same counters all the time; then nothing was written.
        """

    def record_recovery(self, recovery: Recovery) -> bool:
        """Count that a retry succeeded, with the guarantees of `keep`. What an occurrence failed
        of first must have been kept before."""

    def list_by_task(self, task_id: str) -> Sequence[LoggedError]:
        """The latest few hundred, oldest first."""

    def list_by_subject(
        self, subject: str, *, limit: int, cursor: str | None, now: datetime
    ) -> ErrorPage:
        """Newest first; a walk skips and repeats nothing. Raises ValueError for a bad cursor."""

    def list_by_category(
        self, category: str, *, limit: int, cursor: str | None, now: datetime
    ) -> ErrorPage:
        """Likewise, of the last 30 days."""


class Patterns(Protocol):
    """What failures have taught, by the policy and the fingerprint of a failure. What nobody said
    is forgotten after a while."""

    def find(self, policy: str, fingerprint: str, *, now: datetime) -> LearnedPattern | None:
        """One cheap read. May lag behind the writes."""

    def list_newest(self, policy: str, *, limit: int, now: datetime) -> Sequence[LearnedPattern]:
        """Most recently seen first: one read, however many there are. May lag."""

    def record_observation(self, observed: ObservedFailure) -> None:
        """Count it. What is seen again counts again."""

    def record_correction(self, observed: ObservedFailure, correction: Correction) -> None:
        """Keep what a person said of it; to keep it again changes nothing."""

    def remove_correction(self, policy: str, fingerprint: str, *, now: datetime) -> bool:
        """From now on, nobody said anything of it. False: nobody had."""

    def record_retry(
        self, policy: str, previous_failure: PreviousFailure, *, has_succeeded: bool, at: datetime
    ) -> None:
        """Count a retry for what it followed: the failure, and the delay after it."""

    def get_retry_outcomes(
        self, policy: str, category: str, *, now: datetime
    ) -> RetryOutcomesByDelay:
        """Of this month and the one before, by the seconds waited. May lag."""

    def get_all_retry_outcomes(
        self, policy: str, *, now: datetime
    ) -> Mapping[str, RetryOutcomesByDelay]:
        """Likewise, by category: one read."""


class Stats(Protocol):
    def add(self, increments: Iterable[Increment]) -> None:
        """One write for each counter. What is added again counts again."""

    def read_counters(self, days: Sequence[str]) -> Sequence[DailyCounter]:
        """One read a day. May lag behind the writes."""

    def list_given_up(self, limit: int) -> Sequence[Subject]:
        """Subjects in permanent failure, most failures first: one read."""

    def list_repeated(self, *, since: datetime) -> Sequence[FailureTracker]:
        """What failed at least four times since, of late first and not endlessly: one read."""
