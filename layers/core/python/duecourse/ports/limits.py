"""What holds work back: open breakers and spent budgets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duecourse.domain.limits.budget import Budget
    from duecourse.domain.limits.circuit_breakers import CircuitBreakers
    from duecourse.domain.tasks.event import Event


class CircuitBreakerStore(Protocol):
    def load(self) -> CircuitBreakers:
        """All breakers as last written, never an older state."""

    def save(self, before: CircuitBreakers, after: CircuitBreakers, event: Event | None) -> None:
        """Replace exactly `before` and journal the event, or neither.

        Raises StaleBreakersError for all callers but one. A write whose answer was lost is
        recognised as one's own and does not raise.
        """


class Budgets(Protocol):
    """Money per UTC day, in micro-dollars. However many reserve at once, the cap holds."""

    def reserve(self, name: str, reservation_id: str, cost: int, *, now: datetime) -> None:
        """Hold the most that one call may cost. Raises BudgetExceededError: do not make the call.

        An id stands for one call. Reserved again while it is held, nothing more is held and the
        answer is the first one; once settled, it is a new call. What is never settled, because
        the worker died, stays held for its day: it may have been spent.
        """

    def settle(self, name: str, reservation_id: str, actual_cost: int, *, now: datetime) -> None:
        """Replace what is held by what it cost, once. `now` is that of the reservation.

        A cost above what was held is recorded as it is: nothing more is let through then.
        """

    def get_today(self, name: str, *, now: datetime) -> Budget:
        """As last written; a budget that was never used has its limit and nothing spent."""

    def list_used_on(self, now: datetime) -> Sequence[Budget]:
        """Those used on that day or set for it, by name, as last written: at most 200 of them."""

    def set_limit(self, name: str, limit: int, *, now: datetime) -> Budget:
        """Once it returns, the limit holds for today and all days after. Of two, the last wins."""
