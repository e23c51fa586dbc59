"""Budgets: parsing of amounts, daily resets, and reserving and settling costs."""

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


# Amounts


@pytest.mark.parametrize(
    ("amount", "micros"),
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
def test_an_amount_is_parsed_to_the_micro_dollar(amount: Any, micros: int) -> None:
    assert parse_micros(amount) == micros


@pytest.mark.parametrize(
    "amount",
    [
        *(True, False, None, [], {}, -1, -0.01, "-1", float("nan"), float("inf"), -float("inf")),
        *("NaN", "Infinity", "", " ", "five", "5,25", "1_000", "0x10", " 5", "5\n", "+5", "1e3"),
        *("٣", "5.", ".5", 0.0000001, "0.0000001", 1.2345678, "5.2500000", 10**5_000),
        *(1_000_000_001, 1e300, "1000000000.000001", "99999999999", "1" * 10_000),
    ],
    ids=lambda amount: f"{amount!r:.20}" if not isinstance(amount, int) else f"{amount % 10**9}",
)
def test_an_invalid_amount_is_rejected(amount: Any) -> None:
    with pytest.raises(ValueError, match=r"^must be .*dollars"):
        parse_micros(amount)


def test_micro_dollars_are_converted_to_dollars() -> None:
    assert [to_dollars(micros) for micros in (0, 1, 3_500, 5_250_000)] == [0, 1e-06, 0.0035, 5.25]


@pytest.mark.parametrize("name", ["a", "LLM-calls_v1.2", "x" * 100, "-", "2026-02-17"])
def test_a_valid_name_is_accepted(name: str) -> None:
    assert parse_budget_name(name) == name


@pytest.mark.parametrize("name", ["", "x" * 101, "a b", "a#2026-02-17", "a/b", "ü", "a\n"])
def test_an_invalid_name_is_rejected(name: str) -> None:
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


def test_a_naive_time_is_rejected() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        utc_date(datetime(2026, 2, 17))  # noqa: DTZ001 - naive on purpose


def test_a_budget_resets_at_the_end_of_its_day() -> None:
    assert a_budget().resets_at == from_text("2026-02-18T00:00:00Z")


# Reserving and settling


def test_a_reservation_reduces_the_remaining_amount() -> None:
    budget = a_budget().reserve("a", 30).reserve("b", 20)
    assert (budget.reserved, budget.spent, budget.remaining, budget.calls) == (50, 0, 50, 2)


def test_the_last_micro_dollar_can_be_reserved_and_not_one_more() -> None:
    budget = a_budget().reserve("a", 100)
    with pytest.raises(BudgetExceededError):
        budget.reserve("b", 1)


def test_settling_releases_the_unspent_amount() -> None:
    budget = a_budget().reserve("a", 30).settle("a", 10)
    assert (budget.reserved, budget.spent, budget.remaining, budget.calls) == (0, 10, 90, 1)


def test_a_cost_above_the_reservation_is_recorded_and_blocks_further_calls() -> None:
    budget = a_budget().reserve("a", 90).settle("a", 120)
    assert (budget.spent, budget.remaining) == (120, -20)
    with pytest.raises(BudgetExceededError):
        budget.reserve("b", 0)


def test_reserving_or_settling_twice_has_no_further_effect() -> None:
    reserved = a_budget().reserve("a", 30)
    settled = reserved.settle("a", 10)
    assert (reserved.reserve("a", 30), settled.settle("a", 10)) == (reserved, settled)


def test_a_repeated_reservation_succeeds_even_if_nothing_remains() -> None:
    budget = a_budget().reserve("a", 100)
    assert budget.reserve("a", 100) == budget


def test_a_new_limit_changes_only_the_remaining_amount() -> None:
    budget = a_budget().reserve("a", 30).with_limit(20)
    assert (budget.reserved, budget.remaining) == (30, -10)


def test_the_error_states_the_remaining_amount_and_the_reset_time() -> None:
    with pytest.raises(BudgetExceededError) as error:
        a_budget(limit=5_250_000, spent=5_200_000).reserve("a", 60_000)
    assert str(error.value) == (
        "budget llm has 0.05 of 5.25 dollars left for 2026-02-17 and the call may cost 0.06: "
        "it resets at 2026-02-18T00:00:00.000Z"
    )
    assert (error.value.cost, error.value.resets_at) == (
        60_000,
        from_text("2026-02-18T00:00:00Z"),
    )


def test_the_error_has_a_type_and_a_code() -> None:
    failure = Failure.from_exception(BudgetExceededError(a_budget(), 1))
    assert (failure.type, failure.code) == ("BudgetExceeded", "budget_exceeded")
