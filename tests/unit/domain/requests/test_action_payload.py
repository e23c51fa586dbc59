"""Validation of an action's payload: provider, budget and maximum cost."""

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


def require_url(payload: Mapping[str, Any]) -> None:
    if "url" not in payload:
        raise ValueError("url: is required")


PROVIDERS: dict[str, PayloadCheck] = {"scripted": lambda _: None, "picky": require_url}


def rejection(providers: Mapping[str, PayloadCheck] = PROVIDERS, **payload: Any) -> str:
    with pytest.raises(ValueError, match=":") as error:
        check_action(payload, providers)
    return str(error.value)


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
def test_a_valid_payload_is_accepted(payload: dict[str, Any]) -> None:
    check_action({"provider": "scripted", **payload}, PROVIDERS)


@pytest.mark.parametrize("provider", [None, "", "oracle", "Scripted", 5, True, [], {}])
def test_an_unknown_provider_is_rejected(provider: Any) -> None:
    assert rejection(provider=provider) == "provider: must be one of: picky, scripted"


def test_a_provider_is_required() -> None:
    assert rejection() == "provider: must be one of: picky, scripted"


def test_the_error_states_that_no_provider_is_configured() -> None:
    assert rejection({}, provider="scripted") == "provider: must be one of: none is configured"


@pytest.mark.parametrize("budget", ["", "a b", "x" * 101, "é", "a/b", 5, None, [], {}])
def test_an_invalid_budget_name_is_rejected(budget: Any) -> None:
    assert rejection(provider="scripted", budget=budget).startswith("budget: must be 1 to 100")


@pytest.mark.parametrize(
    "cost", [-1, "-1", 1e-7, "cheap", "", None, True, [], float("nan"), float("inf"), 10**400]
)
def test_an_invalid_cost_is_rejected(cost: Any) -> None:
    assert rejection(provider="scripted", max_cost=cost).startswith("max_cost: must be ")


def test_the_provider_validates_its_own_keys() -> None:
    assert rejection(provider="picky") == "url: is required"


@pytest.mark.parametrize(
    ("payload", "micros"),
    [
        ({}, DEFAULT_CALL_COST),
        ({"max_cost": 0}, 0),
        ({"max_cost": 0.25}, 250_000),
        ({"max_cost": "1.000001"}, 1_000_001),
    ],
)
def test_the_maximum_cost_of_a_call_is_in_micro_dollars(
    payload: dict[str, Any], micros: int
) -> None:
    assert max_call_cost(payload) == micros
