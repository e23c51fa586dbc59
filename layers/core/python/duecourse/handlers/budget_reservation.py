"""Reserve the maximum cost of a provider call in its budget, and settle it afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duecourse.domain.errors import NotAttemptedError
from duecourse.domain.limits.budget import BudgetExceededError
from duecourse.domain.requests.action_payload import max_call_cost
from duecourse.domain.tasks.handler import RunContext
from duecourse.domain.time.instant import from_text, to_text
from duecourse.ports.limits import Budgets
from duecourse.ports.runtime import Clock


@dataclass
class CallCost:
    """The cost of the call in micro-dollars. None means unknown: all of the reservation."""

    cost: int | None = None


@dataclass(frozen=True)
class _Reservation:
    budget: str
    id: str
    max_cost: int
    reserved_at: datetime

    def to_json(self) -> dict[str, Any]:
        at = to_text(self.reserved_at)
        return {"budget": self.budget, "id": self.id, "most": self.max_cost, "at": at}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> _Reservation:
        at = from_text(stored["at"])
        return cls(stored["budget"], stored["id"], stored["most"], at)


def reserve_budget(
    context: RunContext, budgets: Budgets, clock: Clock, *, max_cost: int | None = None
) -> dict[str, Any] | None:
    """Reserve the maximum cost of this attempt's call; return None if the task has no budget.

    The maximum is the task's own, else `max_cost`, else that of a small call. Raises
    BudgetExceededError or NotAttemptedError: the call must not be made.
    """
    budget, now = context.task.payload.get("budget"), clock.now()
    if budget is None:
        return None
    max_cost = max_call_cost(context.task.payload, default=max_cost)
    try:
        budgets.reserve(budget, context.run_id, max_cost, now=now)
    except BudgetExceededError:
        raise
    except Exception as error:
        raise NotAttemptedError(error) from error
    return _Reservation(budget, context.run_id, max_cost, now).to_json()


def release_reservation(reservation: dict[str, Any] | None, budgets: Budgets) -> None:
    """Settle the reservation at no cost, because the call was not made."""
    if reservation is not None:
        _settle(_Reservation.from_json(reservation), 0, budgets)


@contextmanager
def settle_reservation(reservation: dict[str, Any] | None, budgets: Budgets) -> Iterator[CallCost]:
    """Make the call inside this context; on exit the reservation is settled.

    If the worker dies inside, the reservation stays held: the money may have been spent.
    """
    call_cost = CallCost()
    if reservation is None:
        yield call_cost
        return
    stored = _Reservation.from_json(reservation)
    try:
        yield call_cost
    except Exception as error:
        _settle(stored, _cost_of_error(error, stored), budgets)
        raise
    _settle(stored, stored.max_cost if call_cost.cost is None else call_cost.cost, budgets)


def _cost_of_error(error: Exception, reservation: _Reservation) -> int:
    """Return the error's own cost, else 0 if the provider answered, else the maximum."""
    cost = getattr(error, "cost", None)
    if isinstance(cost, int):
        return cost
    return 0 if getattr(error, "status", None) is not None else reservation.max_cost


def _settle(reservation: _Reservation, actual: int, budgets: Budgets) -> None:
    """Settle and ignore errors: the call has been made, and an unsettled reservation stays held."""
    with suppress(Exception):
        budgets.settle(reservation.budget, reservation.id, actual, now=reservation.reserved_at)
