"""A subject: the thing that tasks work on. It counts failures across all of its tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recent_errors import NO_ERRORS, RecentErrors
from duecourse.domain.text.redaction import truncate_middle

MESSAGE_LIMIT = 500


class SubjectStatus(StrEnum):
    """The status of a subject. One that was never tried or was reset has no status."""

    PENDING = "pending"
    SUCCESS = "success"
    PERMANENT_FAILURE = "permanent_failure"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What is known about a subject. No task may try it before `cooldown_until`.

    `recent_errors`: of all its tasks, whoever is to blame; a success or a reset does not clear it.
    Version 0 means that it was never stored.
    """

    id: str
    failure_count: int = 0
    status: SubjectStatus | None = None
    last_error_category: str | None = None
    last_error_kind: Kind | None = None
    last_error_message: str | None = None
    last_attempt_at: datetime | None = None
    cooldown_until: datetime | None = None
    recent_errors: RecentErrors = NO_ERRORS
    version: int = 0

    @property
    def is_given_up(self) -> bool:
        return self.status is SubjectStatus.PERMANENT_FAILURE

    def is_cooling_down(self, now: datetime) -> bool:
        return self.cooldown_until is not None and self.cooldown_until > now

    def count_failure(self, *, limit: int | None) -> Subject:
        """Count one failure. At `limit` failures the subject fails permanently.

        A later failure with a higher limit, or none, does not undo that.
        """
        count = self.failure_count + 1
        is_over = self.is_given_up or (limit is not None and count >= limit)
        status = SubjectStatus.PERMANENT_FAILURE if is_over else SubjectStatus.PENDING
        return replace(self, failure_count=count, status=status)

    def uncount_failure(self) -> Subject:
        """Take back the last failure, because a person reclassified it."""
        count = max(0, self.failure_count - 1)
        return replace(self, failure_count=count, status=SubjectStatus.PENDING, cooldown_until=None)

    def record_attempt(
        self,
        category: str,
        message: str,
        *,
        kind: Kind = Kind.UNKNOWN,
        at: datetime,
        cooldown_until: datetime | None,
    ) -> Subject:
        """Store the error of the last attempt, whether or not it counted as a failure."""
        return replace(
            self,
            last_error_category=category,
            last_error_kind=kind,
            last_error_message=truncate_middle(message, MESSAGE_LIMIT),
            last_attempt_at=at,
            cooldown_until=cooldown_until,
            version=self.version + 1,
        )

    def erase_message(self) -> Subject:
        """Remove the text of the last error, because a task of this subject was deleted."""
        if self.last_error_message is None:
            return self
        return replace(self, last_error_message=None, version=self.version + 1)

    def record_success(self, *, at: datetime) -> Subject:
        return replace(self._cleared(), status=SubjectStatus.SUCCESS, last_attempt_at=at)

    def end_cooldown(self) -> Subject:
        """Allow the next attempt at once. The failure count stays."""
        if self.cooldown_until is None:
            return self
        return replace(self, cooldown_until=None, version=self.version + 1)

    def reset(self) -> Subject:
        """Clear everything except `last_attempt_at` and `recent_errors`."""
        return replace(self._cleared(), last_attempt_at=self.last_attempt_at)

    def _cleared(self) -> Subject:
        return Subject(id=self.id, version=self.version + 1, recent_errors=self.recent_errors)
