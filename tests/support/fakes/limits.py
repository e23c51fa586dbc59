"""Budgets and circuit breakers in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from duecourse.domain.limits.budget import MICROS_PER_DOLLAR, Budget, utc_date
from duecourse.domain.limits.circuit_breakers import CircuitBreakers, StaleCircuitBreakersError
from duecourse.domain.tasks.event import Event


class MemoryBudgets:
    """A dollar a day each."""

    def __init__(self) -> None:
        self.days: dict[tuple[str, date], Budget] = {}

    def get_today(self, name: str, *, now: datetime) -> Budget:
        day = utc_date(now)
        return self.days.get((name, day), Budget(name=name, day=day, limit=MICROS_PER_DOLLAR))

    def reserve(self, name: str, reservation_id: str, cost: int, *, now: datetime) -> None:
        self.days[name, utc_date(now)] = self.get_today(name, now=now).reserve(reservation_id, cost)

    def settle(self, name: str, reservation_id: str, actual_cost: int, *, now: datetime) -> None:
        self.days[name, utc_date(now)] = self.get_today(name, now=now).settle(
            reservation_id, actual_cost
        )

    def list_used_on(self, now: datetime) -> Sequence[Budget]:
        return [budget for (_, day), budget in self.days.items() if day == utc_date(now)]

    def set_limit(self, name: str, limit: int, *, now: datetime) -> Budget:
        self.days[name, utc_date(now)] = self.get_today(name, now=now).with_limit(limit)
        return self.get_today(name, now=now)


class MemoryBreakers:
    def __init__(self) -> None:
        self.panel = CircuitBreakers()

    def load(self) -> CircuitBreakers:
        return self.panel

    def save(self, before: CircuitBreakers, after: CircuitBreakers, event: Event | None) -> None:  # noqa: ARG002
        if self.panel.version != before.version:
            raise StaleCircuitBreakersError
        self.panel = after
