"""The errors of a task or subject in the last 30 days, kept with it.

A task or subject is written with every failure anyway, so counting its errors there is exact and
costs no further write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from duecourse.domain.time.utc_days import last_days, utc_day

RETENTION_DAYS = 30
REPEATED_THRESHOLD = 4  # errors that count as repeated failure
BUDGET_EXCEEDED = "budget_exceeded"
_MILLISECOND = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class RecentErrors:
    """Errors by UTC day, the times of the last four (oldest first), and the last category.

    `budget_blocked_on`: the latest day with an error for lack of budget.
    """

    by_day: Mapping[str, int] = field(default_factory=dict)
    latest: tuple[datetime, ...] = ()
    last_category: str | None = None
    budget_blocked_on: str | None = None

    @property
    def repeated_since(self) -> datetime | None:
        """The fourth last error, or None if there were fewer than four.

        Failures count as repeated in every time window that contains it.
        """
        return self.latest[0] if len(self.latest) == REPEATED_THRESHOLD else None

    def count_since(self, day: str) -> int:
        return sum(count for one, count in self.by_day.items() if one >= day)

    def is_newly_blocked(self, category: str, *, at: datetime) -> bool:
        """Return True if an error of `category` is the day's first one for lack of budget."""
        return category == BUDGET_EXCEEDED and (self.budget_blocked_on or "") < utc_day(at)

    def record(self, category: str, *, at: datetime) -> RecentErrors:
        day = utc_day(at)
        latest = tuple(sorted([*self.latest, at]))[-REPEATED_THRESHOLD:]
        oldest = last_days(utc_day(latest[-1]), RETENTION_DAYS)[-1]
        by_day = {**self.by_day, day: self.by_day.get(day, 0) + 1}
        is_latest = at == latest[-1]
        is_newly_blocked = self.is_newly_blocked(category, at=at)
        return RecentErrors(
            by_day={day: count for day, count in by_day.items() if day >= oldest},
            latest=latest,
            last_category=category if is_latest else self.last_category,
            budget_blocked_on=day if is_newly_blocked else self.budget_blocked_on,
        )

    def to_stored(self) -> list[Any]:
        """Return a short list, because it is stored with every failed task. Empty if no error."""
        if not self.latest:
            return []
        latest = [(at - _EPOCH) // _MILLISECOND for at in self.latest]
        return [dict(self.by_day), latest, self.last_category, self.budget_blocked_on]

    @classmethod
    def from_stored(cls, stored: list[Any]) -> RecentErrors:
        by_day, latest, category, blocked_on = stored
        return cls(
            by_day={str(day): int(count) for day, count in by_day.items()},
            latest=tuple(_EPOCH + int(ms) * _MILLISECOND for ms in latest),
            last_category=category,
            budget_blocked_on=blocked_on,
        )


NO_ERRORS = RecentErrors()
