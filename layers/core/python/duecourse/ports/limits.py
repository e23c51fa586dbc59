"""Storage for what limits work: circuit breakers and budgets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duecourse.domain.limits.budget import Budget
    from duecourse.domain.limits.circuit_breaker import CircuitBreaker
    from duecourse.domain.limits.circuit_breakers import StoredBreaker
    from duecourse.domain.tasks.event import Event


class CircuitBreakerStore(Protocol):
    """One breaker per provider. A provider without a stored one has a closed breaker."""

    def get(self, provider: str) -> StoredBreaker:
        """Return the provider's breaker (strongly consistent)."""

    def get_cached(self, provider: str) -> StoredBreaker:
        """Return the provider's breaker as it was a few seconds ago at most."""

    def get_last_read(self, provider: str) -> StoredBreaker:
        """Return what this container read or wrote last, however long ago. Reads nothing."""

    def list_all(self) -> Mapping[str, CircuitBreaker]:
        """Return the breakers that were written, by provider, MAX_BREAKERS at most."""

    def make_room(self) -> None:
        """Drop the least needed breakers from a full list. They still work."""

    def save(
        self, provider: str, before: StoredBreaker, after: CircuitBreaker, event: Event | None
    ) -> None:
        """Replace exactly `before` by `after` and journal `event`, atomically.

        Of concurrent callers one wins; the others get StaleCircuitBreakerError. A caller that
        repeats its own write after a lost response wins.
        """


class Budgets(Protocol):
    """Spending per UTC day, in micro-dollars. Concurrent reservations never exceed the limit
    together."""

    def reserve(self, name: str, reservation_id: str, cost: int, *, now: datetime) -> None:
        """Reserve the maximum cost of one call. Raises BudgetExceededError: do not make the call.

        `reservation_id` identifies one call. Reserving it again while it is held reserves nothing
        more and has the first result; after settlement it counts as a new call. A reservation that
        is never settled, because the worker died, stays held for its day: the money may have been
        spent.
        """

    def settle(self, name: str, reservation_id: str, actual_cost: int, *, now: datetime) -> None:
        """Replace the reservation by the actual cost, once. `now` is the time of the reservation.

        A cost above the reservation is recorded in full and may exceed the limit; later calls are
        refused.
        """

    def get_today(self, name: str, *, now: datetime) -> Budget:
        """Return the budget (strongly consistent). An unused one has nothing spent."""

    def list_used_on(self, now: datetime) -> Sequence[Budget]:
        """Return at most 200 budgets used or set on that day, by name (strongly consistent)."""

    def set_limit(self, name: str, limit: int, *, now: datetime) -> Budget:
        """Set the limit for today and all later days. It is in force on return; the last write
        wins."""
