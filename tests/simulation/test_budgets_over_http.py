"""Budgets over the HTTP API."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.app import stores

from tests.support.stack_client import StackClient

UNUSED = {
    "name": "llm",
    "day": "2026-02-17",
    "limit": 5,
    "spend": 0,
    "reserved": 0,
    "remaining": 5,
    "used_percent": 0,
    "calls": 0,
    "resets_at": "2026-02-18T00:00:00.000Z",
}


def get_budget(client: StackClient, name: str = "llm") -> dict[str, Any]:
    answer = client.call("GET", f"/budgets/{name}")
    assert answer.status == 200, answer.body
    return dict(answer.body)


def test_a_budget_never_used_has_the_default_limit(client: StackClient) -> None:
    assert get_budget(client) == UNUSED


def test_a_limit_is_set_and_shown(client: StackClient) -> None:
    answer = client.call("PUT", "/budgets/llm", {"limit": 5.25})
    assert (answer.status, answer.body) == (200, {**UNUSED, "limit": 5.25, "remaining": 5.25})
    assert get_budget(client) == answer.body


def test_a_limit_of_zero_starts_at_zero_percent(client: StackClient) -> None:
    assert client.call("PUT", "/budgets/llm", {"limit": 0}).body["used_percent"] == 0


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("0.0035", 0.0035), (0.000001, 1e-06), (0, 0), (4.35, 4.35), (10**9, 10**9)],
)
def test_a_limit_is_exact_to_the_micro_dollar(
    client: StackClient, limit: Any, expected: float
) -> None:
    assert client.call("PUT", "/budgets/llm", {"limit": limit}).body["limit"] == expected


def test_spend_and_reservations_are_shown(client: StackClient) -> None:
    now = client.stack.clock.now()
    stores.budgets().reserve("llm", "a", 300_000, now=now)
    stores.budgets().reserve("llm", "b", 2_000_001, now=now)
    stores.budgets().settle("llm", "a", 100_000, now=now)
    used = {"spend": 0.1, "reserved": 2.000001, "calls": 2}
    assert get_budget(client) == {**UNUSED, **used, "remaining": 2.899999, "used_percent": 42.00002}

    client.call("PUT", "/budgets/llm", {"limit": 2})
    over_limit = {"limit": 2, "remaining": -0.100001, "used_percent": 105.00005}
    assert get_budget(client) == {**UNUSED, **used, **over_limit}


def test_the_next_day_keeps_the_limit(client: StackClient) -> None:
    client.call("PUT", "/budgets/llm", {"limit": 2})
    stores.budgets().reserve("llm", "a", 300_000, now=client.stack.clock.now())
    client.advance("12h")
    tomorrow = {"day": "2026-02-18", "resets_at": "2026-02-19T00:00:00.000Z"}
    assert get_budget(client) == {**UNUSED, **tomorrow, "limit": 2, "remaining": 2}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "limit"),
        ({"limit": None}, "limit"),
        ({"limit": -1}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": "NaN"}, "limit"),
        ({"limit": 0.0000001}, "limit"),
        ({"limit": 1_000_000_001}, "limit"),
        ({"limit": 1, "currency": "EUR"}, "currency"),
        (b'{"limit": NaN}', "body"),
        (b"[]", "body"),
    ],
)
def test_an_invalid_limit_is_refused(client: StackClient, body: Any, field: str) -> None:
    answer = client.call("PUT", "/budgets/llm", body)
    assert (answer.status, [error["field"] for error in answer.body["errors"]]) == (422, [field])
    assert get_budget(client) == UNUSED


@pytest.mark.parametrize("name", ["a%20b", "a$b", "x" * 101, "%C3%BC"])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_an_invalid_name_is_refused(client: StackClient, method: str, name: str) -> None:
    body = {"limit": 1} if method == "PUT" else None
    answer = client.call(method, f"/budgets/{name}", body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, "budget")


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_budgets_need_a_token(client: StackClient, method: str) -> None:
    assert client.call(method, "/budgets/llm", {"limit": 1}, token=None).status == 401


def test_a_limit_with_lost_responses_is_set_once(client: StackClient) -> None:
    stores.budgets().reserve("llm", "a", 300_000, now=client.stack.clock.now())
    for nth in (1, 3):
        client.add_fault(
            function="api", call="dynamodb.UpdateItem", when="after", kind="timeout", nth=nth
        )
    client.call("PUT", "/budgets/llm", {"limit": 2})
    used = {"limit": 2, "reserved": 0.3, "remaining": 1.7, "used_percent": 15, "calls": 1}
    assert get_budget(client) == {**UNUSED, **used}
