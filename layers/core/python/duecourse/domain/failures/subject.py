"""A subject: what tasks work on, with a failure count of its own across all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from duecourse.domain.text.redaction import truncate_middle

MESSAGE_LIMIT = 500


class SubjectStatus(StrEnum):
    """A subject that was never tried, or was reset, has none."""

    PENDING = "pending"
    SUCCESS = "success"
    PERMANENT_FAILURE = "permanent_failure"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """`cooldown_until`: no task may try it again before. Version 0 was never stored."""

    id: str
    failure_count: int = 0
    status: SubjectStatus | None = None
    last_error_category: str | None = None
    last_error_message: str | None = None
    last_attempt_at: datetime | None = None
    cooldown_until: datetime | None = None
    version: int = 0

    @property
    def is_given_up(self) -> bool:
        return self.status is SubjectStatus.PERMANENT_FAILURE

    def is_cooling_down(self, now: datetime) -> bool:
        return self.cooldown_until is not None and self.cooldown_until > now

    def count_failure(self, *, limit: int | None) -> Subject:
        """One failure more; with `limit` of them it is given up, and stays so."""
        count = self.failure_count + 1
        is_over = self.is_given_up or (limit is not None and count >= limit)
        status = SubjectStatus.PERMANENT_FAILURE if is_over else SubjectStatus.PENDING
        return replace(self, failure_count=count, status=status)

    def uncount_failure(self) -> Subject:
        """Without its last failure: that is to be judged anew."""
        count = max(0, self.failure_count - 1)
        return replace(self, failure_count=count, status=SubjectStatus.PENDING, cooldown_until=None)

    def record_attempt(
        self, category: str, message: str, *, at: datetime, cooldown_until: datetime | None
    ) -> Subject:
        """The attempt's error is kept, counted or not."""
        return replace(
            self,
            last_error_category=category,
            last_error_message=truncate_middle(message, MESSAGE_LIMIT),
            last_attempt_at=at,
            cooldown_until=cooldown_until,
            version=self.version + 1,
        )

    def record_success(self, *, at: datetime) -> Subject:
        fresh = Subject(id=self.id, version=self.version + 1)
        return replace(fresh, status=SubjectStatus.SUCCESS, last_attempt_at=at)

    def end_cooldown(self) -> Subject:
        """It may be tried again at once; its failures still count."""
        if self.cooldown_until is None:
            return self
        return replace(self, cooldown_until=None, version=self.version + 1)

    def reset(self) -> Subject:
        """As if it had never been tried, but for when it last was."""
        fresh = Subject(id=self.id, version=self.version + 1)
        return replace(fresh, last_attempt_at=self.last_attempt_at)
