"""Budgets: money per UTC day. A call's cost is reserved before the call and settled after it.

Internally, money is whole micro-dollars; in requests and JSON it is dollars with at most six
decimals.
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

MICROS_PER_DOLLAR = 1_000_000
MAX_DOLLARS = 1_000_000_000
NAME_PATTERN = re.compile(r"[A-Za-z0-9._-]{1,100}")
_AMOUNT_PATTERN = re.compile(r"[0-9]{1,10}(\.[0-9]{1,6})?")
_INVALID_AMOUNT = "must be dollars with at most 6 decimals, such as 5.25"


def parse_micros(value: Any) -> int:
    """Return an amount in dollars (a JSON number or text) as micro-dollars. Raises ValueError."""
    is_text = isinstance(value, str) and _AMOUNT_PATTERN.fullmatch(value)
    if isinstance(value, bool) or not (is_text or isinstance(value, int | float)):
        raise ValueError(_INVALID_AMOUNT)
    # str(float) gives the shortest text that parses to it: the digits that were sent.
    amount = Decimal(value if isinstance(value, int) else str(value))
    if not amount.is_finite() or not 0 <= amount <= MAX_DOLLARS:
        raise ValueError(f"must be from 0 to {MAX_DOLLARS:,} dollars")
    micros = amount * MICROS_PER_DOLLAR
    if micros % 1:
        raise ValueError(_INVALID_AMOUNT)
    return int(micros)


def to_dollars(micros: int) -> float:
    """Return dollars for JSON. Up to MAX_DOLLARS the float keeps all six decimals exactly."""
    return micros / MICROS_PER_DOLLAR


def format_dollars(micros: int) -> str:
    """Return the exact amount in dollars, without trailing zeros."""
    return f"{(Decimal(micros) / MICROS_PER_DOLLAR).normalize():f}"


def parse_budget_name(value: str) -> str:
    """Return `value` if it is a valid budget name. Raises ValueError."""
    if not NAME_PATTERN.fullmatch(value):
        raise ValueError("must be 1 to 100 of the characters A-Z, a-z, 0-9, '.', '_' and '-'")
    return value


def utc_date(now: datetime) -> date:
    if now.tzinfo is None:
        raise ValueError(f"{now} has no time zone")
    return now.astimezone(UTC).date()


def next_reset(now: datetime) -> datetime:
    """Return the next midnight in UTC, when every budget is reset."""
    return _end_of_day(utc_date(now))


@dataclass(frozen=True, kw_only=True)
class Budget:
    """One budget on one day.

    A store must apply each of its changes (`reserve`, `settle`, `with_limit`) atomically.
    """

    name: str
    day: date
    limit: int
    spent: int = 0
    reservations: Mapping[str, int] = field(default_factory=dict)
    calls: int = 0

    @property
    def reserved(self) -> int:
        return sum(self.reservations.values())

    @property
    def remaining(self) -> int:
        """What is neither spent nor reserved.

        Negative if calls cost more than was reserved, or if the limit was lowered.
        """
        return self.limit - self.spent - self.reserved

    @property
    def used_percent(self) -> float:
        """The share of the limit that is spent or reserved.

        With a limit of 0 it is 0 until something is spent, then 100.
        """
        used = self.limit - self.remaining
        if self.limit > 0:
            return 100 * used / self.limit
        return 100.0 if used > 0 else 0.0

    @property
    def resets_at(self) -> datetime:
        return _end_of_day(self.day)

    def reserve(self, reservation_id: str, cost: int) -> Budget:
        """Reserve `cost` for a call. Raises BudgetExceededError if too little remains.

        Idempotent: a reservation that exists already is left as it is.
        """
        if reservation_id in self.reservations:
            return self
        if cost > self.remaining:
            raise BudgetExceededError(self, cost)
        return replace(
            self, reservations={**self.reservations, reservation_id: cost}, calls=self.calls + 1
        )

    def settle(self, reservation_id: str, actual_cost: int) -> Budget:
        """Replace the reservation by the actual cost. An unknown reservation was settled before."""
        if reservation_id not in self.reservations:
            return self
        held = {name: cost for name, cost in self.reservations.items() if name != reservation_id}
        return replace(self, reservations=held, spent=self.spent + actual_cost)

    def with_limit(self, limit: int) -> Budget:
        return replace(self, limit=limit)


class BudgetExceededError(DuecourseError):
    """The call was not made because its cost exceeds the budget. Retry it after the reset."""

    type = "BudgetExceeded"
    code = BUDGET_EXCEEDED_CODE
    is_over_budget = True

    def __init__(self, budget: Budget, cost: int) -> None:
        left, limit = format_dollars(budget.remaining), format_dollars(budget.limit)
        super().__init__(
            f"budget {budget.name} has {left} of {limit} dollars left for {budget.day} "
            f"and the call may cost {format_dollars(cost)}: "
            f"it resets at {to_text(budget.resets_at)}"
        )
        self.budget = budget
        self.cost = cost
        self.resets_at = budget.resets_at


def _end_of_day(day: date) -> datetime:
    return datetime.combine(day + timedelta(days=1), time(), UTC)
