"""Planted bugs of budgets."""

from __future__ import annotations

from collections.abc import Mapping

from local.simulate.mutant import Mutant
from local.simulate.source_edit import SourceEdit

_DYNAMODB = "duecourse.adapters.aws.dynamodb"

BUDGET_MUTANTS: Mapping[str, Mutant] = {
    "reservation-ignores-limit": Mutant(
        "a reservation is made although too little remains",
        SourceEdit(f"{_DYNAMODB}.budgets", "condition=has_room & is_new", "condition=is_new"),
    ),
    "call-not-reserved": Mutant(
        "a call is made without a reservation if its provider states no maximum cost",
        SourceEdit(
            "duecourse.handlers.budget_reservation",
            "    if budget is None:\n",
            "    if budget is None or max_cost is None:\n",
        ),
    ),
    "settlement-not-written": Mutant(
        "the reservation of a call that succeeded is not settled",
        SourceEdit(
            "duecourse.handlers.budget_reservation",
            "    _settle(stored, stored.max_cost if call_cost.cost is None else call_cost.cost, ",
            "    id(",
        ),
    ),
    "settled-at-maximum": Mutant(
        "a call is settled at its maximum although its cost is known",
        SourceEdit(
            "duecourse.handlers.budget_reservation",
            "stored.max_cost if call_cost.cost is None else call_cost.cost, budgets",
            "stored.max_cost, budgets",
        ),
    ),
    "call-counted-twice": Mutant(
        "a reservation counts two calls",
        SourceEdit(f"{_DYNAMODB}.budgets", "(BudgetItem.calls + 1)", "(BudgetItem.calls + 2)"),
    ),
    "limit-not-applied": Mutant(
        "a new limit is acknowledged, and applied only on the next day",
        SourceEdit(
            f"{_DYNAMODB}.budgets",
            "return self._open_day(name, utc_date(now))\n",
            "return self.get_today(name, now=now)\n",
        ),
    ),
}
