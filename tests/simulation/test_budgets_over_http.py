"""Budgets as a program outside meets them."""

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


def shown(client: StackClient, name: str = "llm") -> dict[str, Any]:
    answer = client.call("GET", f"/budgets/{name}")
    assert answer.status == 200, answer.body
    return dict(answer.body)


def test_a_budget_never_used_has_the_default_limit(client: StackClient) -> None:
    assert shown(client) == UNUSED


def test_a_limit_is_set_and_shown(client: StackClient) -> None:
    answer = client.call("PUT", "/budgets/llm", {"limit": 5.25})
    assert (answer.status, answer.body) == (200, {**UNUSED, "limit": 5.25, "remaining": 5.25})
    assert shown(client) == answer.body


def test_of_a_limit_of_nothing_nothing_is_used_at_first(client: StackClient) -> None:
    assert client.call("PUT", "/budgets/llm", {"limit": 0}).body["used_percent"] == 0


@pytest.mark.parametrize(
    ("limit", "told"), [("0.0035", 0.0035), (0.000001, 1e-06), (0, 0), (4.35, 4.35), (10**9, 10**9)]
)
def test_a_limit_is_told_to_the_micro_dollar(client: StackClient, limit: Any, told: float) -> None:
    assert client.call("PUT", "/budgets/llm", {"limit": limit}).body["limit"] == told


def test_what_is_used_is_told(client: StackClient) -> None:
    now = client.stack.clock.now()
    stores.budgets().reserve("llm", "a", 300_000, now=now)
    stores.budgets().reserve("llm", "b", 2_000_001, now=now)
    stores.budgets().settle("llm", "a", 100_000, now=now)
    used = {"spend": 0.1, "reserved": 2.000001, "calls": 2}
    assert shown(client) == {**UNUSED, **used, "remaining": 2.899999, "used_percent": 42.00002}

    client.call("PUT", "/budgets/llm", {"limit": 2})
    left = {"limit": 2, "remaining": -0.100001, "used_percent": 105.00005}
    assert shown(client) == {**UNUSED, **used, **left}


def test_the_next_day_begins_with_the_limit_that_was_set(client: StackClient) -> None:
    client.call("PUT", "/budgets/llm", {"limit": 2})
    stores.budgets().reserve("llm", "a", 300_000, now=client.stack.clock.now())
    client.advance("12h")
    tomorrow = {"day": "2026-02-18", "resets_at": "2026-02-19T00:00:00.000Z"}
    assert shown(client) == {**UNUSED, **tomorrow, "limit": 2, "remaining": 2}


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
def test_what_is_no_limit_is_refused(client: StackClient, body: Any, field: str) -> None:
    answer = client.call("PUT", "/budgets/llm", body)
    assert (answer.status, [error["field"] for error in answer.body["errors"]]) == (422, [field])
    assert shown(client) == UNUSED


@pytest.mark.parametrize("name", ["a%20b", "a$b", "x" * 101, "%C3%BC"])
@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a_bad_name_is_refused(client: StackClient, method: str, name: str) -> None:
    body = {"limit": 1} if method == "PUT" else None
    answer = client.call(method, f"/budgets/{name}", body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, "budget")


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_budgets_are_behind_the_token(client: StackClient, method: str) -> None:
    assert client.call(method, "/budgets/llm", {"limit": 1}, token=None).status == 401


def test_a_limit_whose_answers_were_lost_is_set_once(client: StackClient) -> None:
    stores.budgets().reserve("llm", "a", 300_000, now=client.stack.clock.now())
    for nth in (1, 3):
        client.add_fault(
            function="api", call="dynamodb.UpdateItem", when="after", kind="timeout", nth=nth
        )
    client.call("PUT", "/budgets/llm", {"limit": 2})
    used = {"limit": 2, "reserved": 0.3, "remaining": 1.7, "used_percent": 15, "calls": 1}
    assert shown(client) == {**UNUSED, **used}
