"""Recent failures of a subject, or of a task without one. Updated with each failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from duecourse.domain.journal.error_log import LoggedError
from duecourse.domain.time.instant import to_text

RETENTION_DAYS = 30
REPEATED_THRESHOLD = 4  # errors that count as repeated failure
BUDGET_EXCEEDED = "budget_exceeded"


def utc_day(instant: datetime) -> str:
    """Return the UTC day as text that sorts by time."""
    return to_text(instant)[:10]


def last_days(day: str, count: int) -> list[str]:
    """Return `count` days back from `day`, `day` first."""
    last = date.fromisoformat(day)
    return [(last - timedelta(days=n)).isoformat() for n in range(count)]


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureTracker:
    """The failures of one subject or task. `recent_errors_at`: the last four, oldest first."""

    subject: str | None = None
    task_id: str | None = None
    errors_by_day: Mapping[str, int] = field(default_factory=dict)
    budget_blocked_days: frozenset[str] = frozenset()
    recent_errors_at: tuple[datetime, ...] = ()
    last_error_category: str | None = None
    version: int = 0

    @classmethod
    def for_error(cls, error: LoggedError) -> FailureTracker:
        """Return an empty tracker for the error's subject, or for its task if it has none."""
        return cls(subject=error.subject, task_id=None if error.subject else error.task_id)

    @property
    def last_error_at(self) -> datetime:
        return self.recent_errors_at[-1]

    @property
    def repeated_since(self) -> datetime | None:
        """The fourth last error, or None if there were fewer than four.

        Failures count as repeated in every time window that contains it.
        """
        return (
            self.recent_errors_at[0] if len(self.recent_errors_at) == REPEATED_THRESHOLD else None
        )

    def total_errors(self, *, since: str) -> int:
        return sum(count for day, count in self.errors_by_day.items() if day >= since)

    def is_newly_blocked(self, error: LoggedError) -> bool:
        """Return True if this is the day's first error for lack of budget."""
        return (
            error.category == BUDGET_EXCEEDED and utc_day(error.at) not in self.budget_blocked_days
        )

    def record(self, error: LoggedError) -> FailureTracker:
        day = utc_day(error.at)
        recent = tuple(sorted([*self.recent_errors_at, error.at]))[-REPEATED_THRESHOLD:]
        oldest = last_days(utc_day(recent[-1]), RETENTION_DAYS)[-1]
        errors = {**self.errors_by_day, day: self.errors_by_day.get(day, 0) + 1}
        blocked = (
            self.budget_blocked_days | {day}
            if error.category == BUDGET_EXCEEDED
            else self.budget_blocked_days
        )
        is_latest = error.at == recent[-1]
        return FailureTracker(
            subject=self.subject,
            task_id=self.task_id,
            errors_by_day={day: count for day, count in errors.items() if day >= oldest},
            budget_blocked_days=frozenset(day for day in blocked if day >= oldest),
            recent_errors_at=recent,
            last_error_category=error.category if is_latest else self.last_error_category,
            version=self.version + 1,
        )
