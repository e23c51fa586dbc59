"""A call that costs money: its budget pays before it, and gets its change after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from duecourse.domain.action import most_a_call_costs
from duecourse.domain.attempt import running
from duecourse.domain.task import Task
from duecourse.ports import Budgets, Clock


@dataclass
class Bill:
    """What the call cost, in micro-dollars; None: nobody said, so all that was reserved."""

    cost: int | None = None


@contextmanager
def paid_from_budget(task: Task, *, budgets: Budgets, clock: Clock) -> Iterator[Bill]:
    """Raises BudgetExceededError before the call. A task that names no budget has none to keep.

    A worker that dies inside leaves the reservation held: the money may have been spent.
    """
    name = task.payload.get("budget")
    bill = Bill()
    if name is None:
        yield bill
        return
    reserved_at, reservation = clock.now(), running(task).id
    most = most_a_call_costs(task.payload)
    budgets.reserve(name, reservation, most, now=reserved_at)
    try:
        yield bill
    except Exception as error:
        budgets.settle(name, reservation, getattr(error, "cost", None) or 0, now=reserved_at)
        raise
    actual = most if bill.cost is None else bill.cost
    budgets.settle(name, reservation, actual, now=reserved_at)
