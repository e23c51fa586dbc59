"""The errors of a task or subject in the last 30 days, kept with it.

A task or subject is written with every failure anyway, so counting its errors there is exact and
costs no further write.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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

    def correct(self, category: str, *, at: datetime) -> RecentErrors:
        """Return the errors with another category for the error at `at`."""
        is_latest = bool(self.latest) and at >= self.latest[-1]
        is_newly_blocked = self.is_newly_blocked(category, at=at)
        return replace(
            self,
            last_category=category if is_latest else self.last_category,
            budget_blocked_on=utc_day(at) if is_newly_blocked else self.budget_blocked_on,
        )

    def forget(self, *, at: datetime) -> RecentErrors:
        """Return the errors without the one at `at`, which was none.

        Of the error that takes its place among the last four only the day is known.
        """
        day, latest = utc_day(at), list(self.latest)
        by_day = {**self.by_day, day: self.by_day.get(day, 0) - 1}
        by_day = {one: count for one, count in by_day.items() if count > 0}
        if at in latest:
            latest.remove(at)
            latest[:0] = _find_earlier(by_day, len(latest))
        return replace(self, by_day=by_day, latest=tuple(latest))

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


def _find_earlier(by_day: Mapping[str, int], known_count: int) -> list[datetime]:
    """Return the beginning of the day of the error before the last `known_count`, if any."""
    seen = 0
    for day in sorted(by_day, reverse=True):
        seen += by_day[day]
        if seen > known_count:
            return [datetime.fromisoformat(day).replace(tzinfo=UTC)]
    return []


NO_ERRORS = RecentErrors()
