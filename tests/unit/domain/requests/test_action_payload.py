"""What an action's payload must say: who carries it out, and who pays for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from duecourse.domain.requests.action_payload import (
    DEFAULT_CALL_COST,
    check_action,
    max_call_cost,
)
from duecourse.domain.validation.payload_keys import PayloadCheck


def picky(payload: Mapping[str, Any]) -> None:
    if "url" not in payload:
        raise ValueError("url: is required")


PROVIDERS: dict[str, PayloadCheck] = {"scripted": lambda _: None, "picky": picky}


def refusal(providers: Mapping[str, PayloadCheck] = PROVIDERS, **payload: Any) -> str:
    with pytest.raises(ValueError, match=":") as refused:
        check_action(payload, providers)
    return str(refused.value)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"budget": "agents"},
        {"max_cost": 0},
        {"max_cost": 0.25},
        {"max_cost": "0.000001"},
        {"budget": "a.b_c-1", "max_cost": 5, "anything": ["else"]},
    ],
)
def test_a_payload_that_makes_sense_is_taken(payload: dict[str, Any]) -> None:
    check_action({"provider": "scripted", **payload}, PROVIDERS)


@pytest.mark.parametrize("named", [None, "", "oracle", "Scripted", 5, True, [], {}])
def test_a_provider_that_is_not_set_up_is_refused(named: Any) -> None:
    assert refusal(provider=named) == "provider: must be one of: picky, scripted"


def test_a_provider_must_be_named() -> None:
    assert refusal() == "provider: must be one of: picky, scripted"


def test_where_no_provider_is_set_up_that_is_said() -> None:
    assert refusal({}, provider="scripted") == "provider: must be one of: none is configured"


@pytest.mark.parametrize("budget", ["", "a b", "x" * 101, "é", "a/b", 5, None, [], {}])
def test_a_budget_needs_a_name_that_can_be_kept(budget: Any) -> None:
    assert refusal(provider="scripted", budget=budget).startswith("budget: must be 1 to 100")


@pytest.mark.parametrize(
    "cost", [-1, "-1", 1e-7, "cheap", "", None, True, [], float("nan"), float("inf"), 10**400]
)
def test_a_cost_is_dollars(cost: Any) -> None:
    assert refusal(provider="scripted", max_cost=cost).startswith("max_cost: must be ")


def test_the_provider_has_a_say_of_its_own() -> None:
    assert refusal(provider="picky") == "url: is required"


@pytest.mark.parametrize(
    ("payload", "micros"),
    [
        ({}, DEFAULT_CALL_COST),
        ({"max_cost": 0}, 0),
        ({"max_cost": 0.25}, 250_000),
        ({"max_cost": "1.000001"}, 1_000_001),
    ],
)
def test_the_most_a_call_costs_is_told_in_micro_dollars(
    payload: dict[str, Any], micros: int
) -> None:
    assert max_call_cost(payload) == micros
