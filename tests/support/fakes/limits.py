"""Budgets and circuit breakers in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

from duecourse.domain.limits.budget import MICROS_PER_DOLLAR, Budget, parse_budget_name, utc_date
from duecourse.domain.limits.circuit_breaker import CircuitBreaker
from duecourse.domain.limits.circuit_breakers import (
    StaleCircuitBreakerError,
    StoredBreaker,
    provider_key,
)
from duecourse.domain.tasks.event import Event

MAX_LISTED = 200


class MemoryBudgets:
    """Each budget has a limit of one dollar a day by default."""

    def __init__(self, *, default_limit: int = MICROS_PER_DOLLAR) -> None:
        self.days: dict[tuple[str, date], Budget] = {}
        self._default_limit = default_limit
        self._limits: dict[str, int] = {}

    def get_today(self, name: str, *, now: datetime) -> Budget:
        day, limit = utc_date(now), self._limits.get(parse_budget_name(name), self._default_limit)
        return self.days.get((name, day), Budget(name=name, day=day, limit=limit))

    def reserve(self, name: str, reservation_id: str, cost: int, *, now: datetime) -> None:
        """Reserve the cost. A refused call also creates the budget of the day."""
        before = self.get_today(name, now=now)
        _check(cost)
        self.days[name, before.day] = before
        self.days[name, before.day] = before.reserve(reservation_id, cost)

    def settle(self, name: str, reservation_id: str, actual_cost: int, *, now: datetime) -> None:
        before = self.get_today(name, now=now)
        _check(actual_cost)
        if reservation_id in before.reservations:
            self.days[name, before.day] = before.settle(reservation_id, actual_cost)

    def list_used_on(self, now: datetime) -> Sequence[Budget]:
        budgets = [budget for (_, day), budget in self.days.items() if day == utc_date(now)]
        return sorted(budgets[:MAX_LISTED], key=lambda budget: budget.name)

    def set_limit(self, name: str, limit: int, *, now: datetime) -> Budget:
        today = self.get_today(name, now=now)
        _check(limit)
        self._limits[name] = limit
        self.days.setdefault((name, today.day), today)
        for (other, day), budget in list(self.days.items()):
            if other == name and day >= today.day:
                self.days[name, day] = budget.with_limit(limit)
        return self.days[name, today.day]


class MemoryBreakers:
    """The breakers by provider. Every read is consistent."""

    def __init__(self) -> None:
        self.stored: dict[str, StoredBreaker] = {}
        self.events: list[Event] = []

    def get(self, provider: str) -> StoredBreaker:
        return self.stored.get(provider_key(provider), StoredBreaker())

    get_cached = get_last_read = get

    def list_all(self) -> Mapping[str, CircuitBreaker]:
        return {name: stored.breaker for name, stored in self.stored.items()}

    def make_room(self) -> None:
        """There is always room."""

    def save(
        self, provider: str, before: StoredBreaker, after: CircuitBreaker, event: Event | None
    ) -> None:
        if self.get(provider).version != before.version:
            raise StaleCircuitBreakerError
        self.stored[provider_key(provider)] = StoredBreaker(after, before.version + 1)
        self.events += [event] if event else []


def _check(micros: int) -> None:
    if micros < 0:
        raise ValueError(f"{micros} micro-dollars: money must not be negative")
