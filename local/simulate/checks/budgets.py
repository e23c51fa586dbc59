"""Invariants of budgets after settling: nothing is held for ever, and the spend is what was used.

What must hold at each write is in `budget_ledger`.
"""

from __future__ import annotations

from collections.abc import Iterator

from duecourse.domain.limits.budget import to_dollars

from local.simulate.budget_ledger import Reservation
from local.simulate.observed import Observed


def reservations_settled(observed: Observed) -> Iterator[str | None]:
    """A reservation is settled, unless a fault hit the worker that made it.

    Then the money may have been spent, and the reservation stays until the day is over.
    """
    for one in observed.ledger.reservations:
        is_explained = one.settled is not None or one.invocation in observed.failed_invocations
        yield None if is_explained else f"{one.key}: {one.max_cost} stay reserved for {one.id[:8]}"


def settled_at_cost(observed: Observed) -> Iterator[str | None]:
    """A reservation is settled at the cost of its call.

    If a fault hit the worker, it may not know the cost: then at the cost at least, and at most at
    what was reserved.
    """
    for one in observed.ledger.reservations:
        if one.settled is not None:
            is_known = one.invocation not in observed.failed_invocations
            text = f"{one.key}: {one.id[:8]} was settled at {one.settled}, calls: {one.calls}"
            yield None if is_right_cost(one, is_known=is_known) else text


def is_right_cost(reservation: Reservation, *, is_known: bool) -> bool:
    settled, most = reservation.settled or 0, reservation.max_cost
    if is_known:
        return settled == sum(call.expected_cost(most) for call in reservation.calls)
    return reservation.real_cost <= settled <= most


def budgets_recounted(observed: Observed) -> Iterator[str | None]:
    """`/budgets` shows the spend, the reservations and the calls that were recorded."""
    for name, budget in observed.derived.budgets.items():
        key = f"budget#{name}#{budget['day']}"
        made = [one for one in observed.ledger.reservations if one.key == key]
        spent = sum(one.settled for one in made if one.settled is not None)
        held = sum(one.max_cost for one in made if one.settled is None)
        recount = (to_dollars(spent), to_dollars(held), len(made))
        counted = (budget["spend"], budget["reserved"], budget["calls"])
        yield None if counted == recount else f"{key} shows {counted}, the recount {recount}"


def limits_in_force(observed: Observed) -> Iterator[str | None]:
    """A limit is in force for the day when the API acknowledges it."""
    for one in observed.limits_set:
        setting = f"budget#{one.budget}"
        until = [(at, write) for at, write in observed.ledger.writes if at <= one.at]
        versions = [
            write.version
            for at, write in until
            if write.key == setting and write.limit == one.limit and at >= one.asked_at
        ]
        days = [write.version for _, write in until if write.key == f"{setting}#{one.at:%Y-%m-%d}"]
        is_right = bool(versions and days) and max(days) >= min(versions)
        text = f"{setting}: the limit {one.limit} was acknowledged at {one.at} and not in force"
        yield None if is_right else text
