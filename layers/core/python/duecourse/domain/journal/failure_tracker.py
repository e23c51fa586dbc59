"""How often a subject failed of late, or a task that has none: kept with each failure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta

from duecourse.domain.journal.error_log import LoggedError
from duecourse.domain.time.instant import to_text

DAYS_KEPT = 30
REPEATED = 4  # errors from which on failing counts as repeated
BUDGET_EXCEEDED = "budget_exceeded"


def day_of(instant: datetime) -> str:
    """Days are UTC's, written so that text order is time order."""
    return to_text(instant)[:10]


def days_until(day: str, count: int) -> list[str]:
    """The last so many days, this one first."""
    last = date.fromisoformat(day)
    return [(last - timedelta(days=n)).isoformat() for n in range(count)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tracker:
    """Either of a subject or of a task. `recent` holds its last four errors, oldest first."""

    subject: str | None = None
    task_id: str | None = None
    errors: Mapping[str, int] = field(default_factory=dict)
    blocked: frozenset[str] = frozenset()
    recent: tuple[datetime, ...] = ()
    last_error_category: str | None = None
    version: int = 0

    @classmethod
    def of(cls, error: LoggedError) -> Tracker:
        """One that has seen nothing yet."""
        return cls(subject=error.subject, task_id=None if error.subject else error.task_id)

    @property
    def last_error_at(self) -> datetime:
        return self.recent[-1]

    @property
    def repeated_since(self) -> datetime | None:
        """The error that many back from the last: all windows that hold it hold a repetition."""
        return self.recent[0] if len(self.recent) == REPEATED else None

    def total(self, *, since: str) -> int:
        return sum(count for day, count in self.errors.items() if day >= since)

    def is_newly_blocked(self, error: LoggedError) -> bool:
        """No budget, for the first time on this day."""
        return error.category == BUDGET_EXCEEDED and day_of(error.at) not in self.blocked

    def after(self, error: LoggedError) -> Tracker:
        day = day_of(error.at)
        recent = tuple(sorted([*self.recent, error.at]))[-REPEATED:]
        oldest = days_until(day_of(recent[-1]), DAYS_KEPT)[-1]
        errors = {**self.errors, day: self.errors.get(day, 0) + 1}
        blocked = self.blocked | {day} if error.category == BUDGET_EXCEEDED else self.blocked
        is_latest = error.at == recent[-1]
        return Tracker(
            subject=self.subject,
            task_id=self.task_id,
            errors={day: count for day, count in errors.items() if day >= oldest},
            blocked=frozenset(day for day in blocked if day >= oldest),
            recent=recent,
            last_error_category=error.category if is_latest else self.last_error_category,
            version=self.version + 1,
        )
