"""Budgets: amounts of money, days, and the moves of a day."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest
from duecourse.domain.failures.failure import Failure
from duecourse.domain.limits.budget import (
    Budget,
    BudgetExceededError,
    next_reset,
    parse_budget_name,
    parse_micros,
    to_dollars,
    utc_date,
)
from duecourse.domain.time.instant import from_text

TODAY = date(2026, 2, 17)


def a_budget(**fields: Any) -> Budget:
    return Budget(**{"name": "llm", "day": TODAY, "limit": 100, **fields})


# Money


@pytest.mark.parametrize(
    ("given", "micros"),
    [
        (0, 0),
        (5, 5_000_000),
        (5.25, 5_250_000),
        ("5.25", 5_250_000),
        ("0.0035", 3_500),
        (0.1, 100_000),
        (1e-06, 1),
        ("0.000001", 1),
        (4.35, 4_350_000),  # as a float it is a little less
        (1_000_000_000, 10**15),
        ("1000000000", 10**15),
        (999_999_999.999999, 10**15 - 1),
    ],
)
def test_an_amount_is_read_to_the_micro_dollar(given: Any, micros: int) -> None:
    assert parse_micros(given) == micros


@pytest.mark.parametrize(
    "given",
    [
        *(True, False, None, [], {}, -1, -0.01, "-1", float("nan"), float("inf"), -float("inf")),
        *("NaN", "Infinity", "", " ", "five", "5,25", "1_000", "0x10", " 5", "5\n", "+5", "1e3"),
        *("٣", "5.", ".5", 0.0000001, "0.0000001", 1.2345678, "5.2500000", 10**5_000),
        *(1_000_000_001, 1e300, "1000000000.000001", "99999999999", "1" * 10_000),
    ],
    ids=lambda given: f"{given!r:.20}" if not isinstance(given, int) else f"{given % 10**9}",
)
def test_what_is_no_amount_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match=r"^must be .*dollars"):
        parse_micros(given)


def test_micro_dollars_are_shown_in_dollars() -> None:
    assert [to_dollars(micros) for micros in (0, 1, 3_500, 5_250_000)] == [0, 1e-06, 0.0035, 5.25]


@pytest.mark.parametrize("name", ["a", "LLM-calls_v1.2", "x" * 100, "-", "2026-02-17"])
def test_a_good_name_is_taken(name: str) -> None:
    assert parse_budget_name(name) == name


@pytest.mark.parametrize("name", ["", "x" * 101, "a b", "a#2026-02-17", "a/b", "ü", "a\n"])
def test_a_bad_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="1 to 100"):
        parse_budget_name(name)


# Days


@pytest.mark.parametrize(
    ("now", "reset"),
    [
        ("2026-02-17T00:00:00Z", "2026-02-18T00:00:00Z"),
        ("2026-02-17T23:59:59.999Z", "2026-02-18T00:00:00Z"),
        ("2026-02-28T12:00:00Z", "2026-03-01T00:00:00Z"),
        ("2026-12-31T23:00:00-05:00", "2027-01-02T00:00:00Z"),  # next year already, in UTC
    ],
)
def test_budgets_reset_at_the_next_midnight_in_utc(now: str, reset: str) -> None:
    assert next_reset(datetime.fromisoformat(now)) == from_text(reset)


def test_a_day_of_no_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        utc_date(datetime(2026, 2, 17))  # noqa: DTZ001 - the point


def test_a_budget_resets_at_the_end_of_its_day() -> None:
    assert a_budget().resets_at == from_text("2026-02-18T00:00:00Z")


# Moves


def test_what_is_held_is_no_longer_left() -> None:
    budget = a_budget().reserve("a", 30).reserve("b", 20)
    assert (budget.reserved, budget.spent, budget.remaining, budget.calls) == (50, 0, 50, 2)


def test_the_last_micro_dollar_can_be_held_and_not_one_more() -> None:
    budget = a_budget().reserve("a", 100)
    with pytest.raises(BudgetExceededError):
        budget.reserve("b", 1)


def test_settling_gives_back_what_was_not_spent() -> None:
    budget = a_budget().reserve("a", 30).settle("a", 10)
    assert (budget.reserved, budget.spent, budget.remaining, budget.calls) == (0, 10, 90, 1)


def test_a_cost_above_what_was_held_is_recorded_and_nothing_more_is_let_through() -> None:
    budget = a_budget().reserve("a", 90).settle("a", 120)
    assert (budget.spent, budget.remaining) == (120, -20)
    with pytest.raises(BudgetExceededError):
        budget.reserve("b", 0)


def test_the_same_move_twice_is_one_move() -> None:
    held = a_budget().reserve("a", 30)
    settled = held.settle("a", 10)
    assert (held.reserve("a", 30), settled.settle("a", 10)) == (held, settled)


def test_a_held_reservation_is_answered_even_when_nothing_is_left() -> None:
    budget = a_budget().reserve("a", 100)
    assert budget.reserve("a", 100) == budget


def test_another_limit_moves_only_what_is_left() -> None:
    budget = a_budget().reserve("a", 30).with_limit(20)
    assert (budget.reserved, budget.remaining) == (30, -10)


def test_a_refusal_says_what_is_left_and_until_when() -> None:
    with pytest.raises(BudgetExceededError) as refused:
        a_budget(limit=5_250_000, spent=5_200_000).reserve("a", 60_000)
    assert str(refused.value) == (
        "budget llm has 0.05 of 5.25 dollars left for 2026-02-17 and the call may cost 0.06: "
        "it resets at 2026-02-18T00:00:00.000Z"
    )
    assert (refused.value.cost, refused.value.resets_at) == (
        60_000,
        from_text("2026-02-18T00:00:00Z"),
    )


def test_a_refusal_is_known_by_its_type_and_code() -> None:
    failure = Failure.from_exception(BudgetExceededError(a_budget(), 1))
    assert (failure.type, failure.code) == ("BudgetExceeded", "budget_exceeded")
