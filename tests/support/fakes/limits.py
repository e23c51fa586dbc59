"""Budgets and circuit breakers in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from duecourse.domain.limits.budget import MICROS, Budget, day_of
from duecourse.domain.limits.circuit_breakers import Panel, StaleBreakersError
from duecourse.domain.tasks.event import Event


class MemoryBudgets:
    """A dollar a day each."""

    def __init__(self) -> None:
        self.days: dict[tuple[str, date], Budget] = {}

    def today(self, name: str, *, now: datetime) -> Budget:
        day = day_of(now)
        return self.days.get((name, day), Budget(name=name, day=day, limit=MICROS))

    def reserve(self, name: str, reservation_id: str, cost: int, *, now: datetime) -> None:
        self.days[name, day_of(now)] = self.today(name, now=now).reserve(reservation_id, cost)

    def settle(self, name: str, reservation_id: str, actual: int, *, now: datetime) -> None:
        self.days[name, day_of(now)] = self.today(name, now=now).settle(reservation_id, actual)

    def used_on(self, now: datetime) -> Sequence[Budget]:
        return [budget for (_, day), budget in self.days.items() if day == day_of(now)]

    def set_limit(self, name: str, limit: int, *, now: datetime) -> Budget:
        self.days[name, day_of(now)] = self.today(name, now=now).with_limit(limit)
        return self.today(name, now=now)


class MemoryBreakers:
    def __init__(self) -> None:
        self.panel = Panel()

    def load(self) -> Panel:
        return self.panel

    def save(self, before: Panel, after: Panel, event: Event | None) -> None:  # noqa: ARG002
        if self.panel.version != before.version:
            raise StaleBreakersError
        self.panel = after
