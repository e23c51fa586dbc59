"""Budgets: money per UTC day. A call's cost is held before it and settled after it.

Inside, money is whole micro-dollars; outside it is dollars with at most six decimals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from duecourse.domain.errors import BUDGET_EXCEEDED_CODE, DuecourseError
from duecourse.domain.time.instant import to_text

MICROS = 1_000_000
MOST_DOLLARS = 1_000_000_000
NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
_PLAIN = re.compile(r"[0-9]{1,10}(\.[0-9]{1,6})?")
_NO_AMOUNT = "must be dollars with at most 6 decimals, such as 5.25"


def micros_from(value: Any) -> int:
    """An amount in dollars, as a JSON number or as text. Raises ValueError."""
    is_text = isinstance(value, str) and _PLAIN.fullmatch(value)
    if isinstance(value, bool) or not (is_text or isinstance(value, int | float)):
        raise ValueError(_NO_AMOUNT)
    # A float is written as the shortest text that means it: the very digits that were sent.
    amount = Decimal(value if isinstance(value, int) else str(value))
    if not amount.is_finite() or not 0 <= amount <= MOST_DOLLARS:
        raise ValueError(f"must be from 0 to {MOST_DOLLARS:,} dollars")
    micros = amount * MICROS
    if micros % 1:
        raise ValueError(_NO_AMOUNT)
    return int(micros)


def dollars(micros: int) -> float:
    """For JSON only: up to the most there can be, it is written with exactly these digits."""
    return micros / MICROS


def spoken_dollars(micros: int) -> str:
    """Exact to the last decimal that counts, and without those that do not."""
    return f"{(Decimal(micros) / MICROS).normalize():f}"


def budget_name(value: str) -> str:
    """Raises ValueError."""
    if not NAME.fullmatch(value):
        raise ValueError("must be 1 to 100 of the characters A-Z, a-z, 0-9, '.', '_' and '-'")
    return value


def day_of(now: datetime) -> date:
    if now.tzinfo is None:
        raise ValueError(f"{now} has no time zone")
    return now.astimezone(UTC).date()


def next_reset(now: datetime) -> datetime:
    """The midnight, in UTC, at which every budget is whole again."""
    return _end_of(day_of(now))


@dataclass(frozen=True, kw_only=True)
class Budget:
    """One budget on one day. Its moves are those that a store must make in one step each."""

    name: str
    day: date
    limit: int
    spent: int = 0
    held: Mapping[str, int] = field(default_factory=dict)
    calls: int = 0

    @property
    def reserved(self) -> int:
        return sum(self.held.values())

    @property
    def remaining(self) -> int:
        """Below zero where calls cost more than was held, or the limit was lowered."""
        return self.limit - self.spent - self.reserved

    @property
    def used_percent(self) -> float:
        """Spent or held. Of a limit of nothing, nothing is used until something was spent."""
        used = self.limit - self.remaining
        if self.limit > 0:
            return 100 * used / self.limit
        return 100.0 if used > 0 else 0.0

    @property
    def resets_at(self) -> datetime:
        return _end_of(self.day)

    def reserve(self, reservation_id: str, cost: int) -> Budget:
        """Raises BudgetExceededError. What is held already is not held twice."""
        if reservation_id in self.held:
            return self
        if cost > self.remaining:
            raise BudgetExceededError(self, cost)
        return replace(self, held={**self.held, reservation_id: cost}, calls=self.calls + 1)

    def settle(self, reservation_id: str, actual: int) -> Budget:
        """What is not held any more was settled before."""
        if reservation_id not in self.held:
            return self
        held = {name: cost for name, cost in self.held.items() if name != reservation_id}
        return replace(self, held=held, spent=self.spent + actual)

    def with_limit(self, limit: int) -> Budget:
        return replace(self, limit=limit)


class BudgetExceededError(DuecourseError):
    """Not a failure of the call, which was not made: it may be made once the budget clears."""

    type = "BudgetExceeded"
    code = BUDGET_EXCEEDED_CODE

    def __init__(self, budget: Budget, cost: int) -> None:
        left, limit = spoken_dollars(budget.remaining), spoken_dollars(budget.limit)
        super().__init__(
            f"budget {budget.name} has {left} of {limit} dollars left for {budget.day} "
            f"and the call may cost {spoken_dollars(cost)}: "
            f"it is whole again at {to_text(budget.resets_at)}"
        )
        self.budget = budget
        self.cost = cost
        self.resets_at = budget.resets_at


def _end_of(day: date) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(), UTC)
