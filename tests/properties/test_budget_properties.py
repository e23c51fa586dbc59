"""Whatever is reserved, settled and limited in whatever order, no day costs more than its cap."""

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

Move = Callable[[Budget], Budget]
MOST = 10**15
calm = settings(deadline=None)
amounts = st.integers(0, 1_000) | st.integers(0, MOST)
ids = st.sampled_from("abcdefgh")
budgets = amounts.map(lambda limit: Budget(name="llm", day=date(2026, 2, 17), limit=limit))
shares = st.fractions(0, 1)

reserves = st.builds(lambda id, cost: lambda budget: budget.reserve(id, cost), ids, amounts)
# What a call cost is a part of what was held for it.
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
walks = st.lists(reserves | settles | raises | lowers, max_size=40)


def made(budget: Budget, move: Move) -> Budget:
    with suppress(BudgetExceededError):
        return move(budget)
    return budget


@calm
@given(budget=budgets, walk=walks)
def test_what_is_spent_and_held_never_exceeds_the_limit(budget: Budget, walk: list[Move]) -> None:
    for move in walk:
        budget = made(budget, move)
        assert 0 <= budget.spent + budget.reserved <= budget.limit
        assert budget.remaining >= 0


@calm
@given(budget=budgets, walk=walks)
def test_every_move_made_again_changes_nothing(budget: Budget, walk: list[Move]) -> None:
    """A reservation that is still held, and one that is settled already."""
    for move in walk:
        budget = made(budget, move)
    for id, cost in budget.reservations.items():
        assert budget.reserve(id, cost) == budget
        settled = budget.settle(id, cost)
        assert settled.settle(id, cost) == settled


@calm
@given(limit=amounts, costs=st.lists(st.tuples(amounts, amounts), max_size=30))
def test_the_day_ends_with_exactly_what_was_paid(limit: int, costs: list[tuple[int, int]]) -> None:
    budget = Budget(name="llm", day=date(2026, 2, 17), limit=limit)
    paid = 0
    for n, (cost, actual) in enumerate(costs):
        with suppress(BudgetExceededError):
            budget = budget.reserve(str(n), cost).settle(str(n), actual)
            paid += actual
    assert (budget.spent, budget.reserved, budget.remaining) == (paid, 0, limit - paid)


@calm
@given(limit=amounts, cost=st.integers(1, MOST), spent=amounts)
def test_a_call_is_refused_only_if_it_does_not_fit(limit: int, cost: int, spent: int) -> None:
    budget = Budget(name="llm", day=date(2026, 2, 17), limit=limit, spent=spent)
    if spent + cost > limit:
        with pytest.raises(BudgetExceededError):
            budget.reserve("a", cost)
    else:
        assert budget.reserve("a", cost).remaining == limit - spent - cost


@calm
@given(micros=st.integers(0, MOST))
def test_an_amount_comes_back_from_json_as_it_was(micros: int) -> None:
    assert parse_micros(json.loads(json.dumps(to_dollars(micros)))) == micros


@calm
@given(micros=st.integers(0, MOST))
def test_an_amount_is_the_same_as_a_number_and_as_text(micros: int) -> None:
    text = f"{Decimal(micros) / 10**6:f}"
    assert parse_micros(text) == parse_micros(json.loads(text)) == micros


@calm
@given(value=st.floats() | st.text(max_size=12) | st.integers() | st.decimals().map(str))
def test_whatever_is_given_is_an_exact_amount_or_refused(value: float | str | int) -> None:
    try:
        micros = parse_micros(value)
    except ValueError:
        return
    assert 0 <= micros <= MOST
    assert Decimal(str(value)) * 10**6 == micros
