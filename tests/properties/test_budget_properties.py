"""A budget never exceeds its limit, for any sequence of operations."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from decimal import Decimal

import pytest
from duecourse.domain.limits.budget import Budget, BudgetExceededError, parse_micros, to_dollars
from hypothesis import given, settings
from hypothesis import strategies as st

Operation = Callable[[Budget], Budget]
MAX_MICROS = 10**15
property_settings = settings(deadline=None)
amounts = st.integers(0, 1_000) | st.integers(0, MAX_MICROS)
ids = st.sampled_from("abcdefgh")
budgets = amounts.map(lambda limit: Budget(name="llm", day=date(2026, 2, 17), limit=limit))
shares = st.fractions(0, 1)

reserves = st.builds(lambda id, cost: lambda budget: budget.reserve(id, cost), ids, amounts)
# A call costs at most its reservation.
settles = st.builds(
    lambda id, share: lambda budget: budget.settle(id, int(budget.reservations.get(id, 0) * share)),
    *(ids, shares),
)
raises = st.builds(lambda by: lambda budget: budget.with_limit(budget.limit + by), amounts)
lowers = st.builds(
    lambda share: (
        lambda budget: budget.with_limit(budget.limit - int(max(0, budget.remaining) * share))
    ),
    shares,
)
operation_lists = st.lists(reserves | settles | raises | lowers, max_size=40)


def apply_operation(budget: Budget, operation: Operation) -> Budget:
    with suppress(BudgetExceededError):
        return operation(budget)
    return budget


@property_settings
@given(budget=budgets, operations=operation_lists)
def test_spent_plus_reserved_never_exceeds_the_limit(
    budget: Budget, operations: list[Operation]
) -> None:
    for operation in operations:
        budget = apply_operation(budget, operation)
        assert 0 <= budget.spent + budget.reserved <= budget.limit
        assert budget.remaining >= 0


@property_settings
@given(budget=budgets, operations=operation_lists)
def test_repeating_an_operation_changes_nothing(
    budget: Budget, operations: list[Operation]
) -> None:
    """Repeat each open reservation, and each settlement."""
    for operation in operations:
        budget = apply_operation(budget, operation)
    for id, cost in budget.reservations.items():
        assert budget.reserve(id, cost) == budget
        settled = budget.settle(id, cost)
        assert settled.settle(id, cost) == settled


@property_settings
@given(limit=amounts, costs=st.lists(st.tuples(amounts, amounts), max_size=30))
def test_the_amount_spent_is_the_sum_of_the_costs(limit: int, costs: list[tuple[int, int]]) -> None:
    budget = Budget(name="llm", day=date(2026, 2, 17), limit=limit)
    total_cost = 0
    for n, (cost, actual) in enumerate(costs):
        with suppress(BudgetExceededError):
            budget = budget.reserve(str(n), cost).settle(str(n), actual)
            total_cost += actual
    assert (budget.spent, budget.reserved, budget.remaining) == (total_cost, 0, limit - total_cost)


@property_settings
@given(limit=amounts, cost=st.integers(1, MAX_MICROS), spent=amounts)
def test_a_call_is_refused_only_above_the_limit(limit: int, cost: int, spent: int) -> None:
    budget = Budget(name="llm", day=date(2026, 2, 17), limit=limit, spent=spent)
    if spent + cost > limit:
        with pytest.raises(BudgetExceededError):
            budget.reserve("a", cost)
    else:
        assert budget.reserve("a", cost).remaining == limit - spent - cost


@property_settings
@given(micros=st.integers(0, MAX_MICROS))
def test_an_amount_survives_json(micros: int) -> None:
    assert parse_micros(json.loads(json.dumps(to_dollars(micros)))) == micros


@property_settings
@given(micros=st.integers(0, MAX_MICROS))
def test_a_number_and_its_text_give_the_same_amount(micros: int) -> None:
    text = f"{Decimal(micros) / 10**6:f}"
    assert parse_micros(text) == parse_micros(json.loads(text)) == micros


@property_settings
@given(value=st.floats() | st.text(max_size=12) | st.integers() | st.decimals().map(str))
def test_any_value_is_parsed_exactly_or_refused(value: float | str | int) -> None:
    try:
        micros = parse_micros(value)
    except ValueError:
        return
    assert 0 <= micros <= MAX_MICROS
    assert Decimal(str(value)) * 10**6 == micros
