"""A call that costs money: its budget pays before it, and gets its change after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.action import most_a_call_costs
from duecourse.domain.attempt import running
from duecourse.domain.budget import BudgetExceededError
from duecourse.domain.errors import NotAttemptedError
from duecourse.domain.task import Task
from duecourse.ports import Budgets, Clock


@dataclass
class Bill:
    """What the call cost, in micro-dollars; None: nobody said, so all that was reserved."""

    cost: int | None = None


@contextmanager
def paid_from_budget(task: Task, *, budgets: Budgets, clock: Clock) -> Iterator[Bill]:
    """Raises BudgetExceededError, or NotAttemptedError, before the call. A task that names no
    budget has none to keep.

    A worker that dies inside leaves the reservation held: the money may have been spent.
    """
    bill = Bill()
    if task.payload.get("budget") is None:
        yield bill
        return
    reservation = _reserved(task, budgets, now=clock.now())
    try:
        yield bill
    except Exception as error:
        _settle(reservation, _cost_of(error, reservation), budgets)
        raise
    _settle(reservation, reservation.most if bill.cost is None else bill.cost, budgets)


@dataclass(frozen=True)
class _Reservation:
    budget: str
    id: str
    most: int
    at: datetime


def _reserved(task: Task, budgets: Budgets, *, now: datetime) -> _Reservation:
    most = most_a_call_costs(task.payload)
    reservation = _Reservation(task.payload["budget"], running(task).id, most, now)
    try:
        budgets.reserve(reservation.budget, reservation.id, most, now=now)
    except BudgetExceededError:
        raise
    except Exception as error:
        raise NotAttemptedError(error) from error
    return reservation


def _cost_of(error: Exception, reservation: _Reservation) -> int:
    """A provider that refused with a status charges nothing; one that fell silent may have."""
    cost = getattr(error, "cost", None)
    if isinstance(cost, int):
        return cost
    return 0 if getattr(error, "status", None) is not None else reservation.most


def _settle(reservation: _Reservation, actual: int, budgets: Budgets) -> None:
    """What the call did stands, whether or not it can be booked: unbooked, it stays held."""
    with suppress(Exception):
        budgets.settle(reservation.budget, reservation.id, actual, now=reservation.at)
