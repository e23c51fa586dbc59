"""Circuit breakers that cannot be read count as closed, and are not destroyed without need."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.circuit_breakers import DynamoCircuitBreakerStore
from duecourse.adapters.runtime import unreadable_items
from duecourse.domain.limits.circuit_breaker import Admitted, CircuitBreaker, Rejected
from duecourse.usecases.limits.circuit_breaker import admit, close_recovered_breakers

from tests.contract.conftest import RETENTION
from tests.contract.test_circuit_breakers import OPEN, fail, stored_item
from tests.support.builders.moments import NOW

NEWER_STATE = {"state": "throttled", "since": "2026-02-17T12:00:00.000Z"}
CORRUPT_BREAKERS: dict[str, Any] = {
    "unknown state": NEWER_STATE,
    "no state": {"failures": 3},
    "no instant": {"state": "open", "until": "tomorrow"},
    "no number": {"state": "closed", "failures": "three"},
    "no object": ["open"],
}
CORRUPT_ITEMS: dict[str, dict[str, Any]] = {
    "no JSON": {"value": {"S": "{"}},
    "another value": {"value": {"S": '["open"]'}},
    "no value": {"value": {"NULL": True}},
    "no version": {"value": {"S": "{"}, "version": {"S": "seven"}},
}


@pytest.fixture(autouse=True)
def _clear_unreadable_items() -> Iterator[None]:
    unreadable_items._collected.clear()
    yield
    unreadable_items._collected.clear()


@pytest.fixture
def breakers() -> DynamoCircuitBreakerStore:
    """The breaker of `down` is open."""
    found = DynamoCircuitBreakerStore(retention=RETENTION)
    fail(found, 10, provider="down")
    return found


def replace_item(**attributes: dict[str, Any]) -> None:
    item = stored_item() | attributes
    boto3.client("dynamodb").put_item(TableName="StateTable", Item=item)


def stored_breakers() -> dict[str, Any]:
    return dict(json.loads(stored_item()["value"]["S"])["breakers"])


def store_breaker(provider: str, stored: Any) -> None:
    value = json.loads(stored_item()["value"]["S"])
    value["breakers"][provider] = stored
    replace_item(value={"S": json.dumps(value)})


@pytest.mark.parametrize("stored", CORRUPT_BREAKERS.values(), ids=CORRUPT_BREAKERS)
def test_one_unreadable_breaker_counts_as_closed_and_the_others_are_read(
    breakers: DynamoCircuitBreakerStore, stored: Any
) -> None:
    store_breaker("llm", stored)

    assert admit("llm", "task", breakers=breakers, now=NOW) == Admitted()
    assert isinstance(admit("down", "task", breakers=breakers, now=NOW), Rejected)
    assert breakers.load().breakers == {"down": OPEN}
    assert unreadable_items.unreadable_items() == ["circuit breaker llm"]


def test_an_unreadable_breaker_survives_changes_of_others(
    breakers: DynamoCircuitBreakerStore,
) -> None:
    store_breaker("llm", NEWER_STATE)
    fail(breakers, provider="other")
    assert stored_breakers()["llm"] == NEWER_STATE
    assert breakers.load().get("other").failures == 1


def test_an_unreadable_breaker_is_replaced_when_its_provider_fails(
    breakers: DynamoCircuitBreakerStore,
) -> None:
    store_breaker("llm", NEWER_STATE)
    fail(breakers, 10)
    assert breakers.load().breakers == {"down": OPEN, "llm": OPEN}


@pytest.mark.parametrize("attributes", CORRUPT_ITEMS.values(), ids=CORRUPT_ITEMS)
def test_a_corrupt_item_stops_nothing_and_is_replaced_by_the_next_failure(
    breakers: DynamoCircuitBreakerStore, attributes: dict[str, Any]
) -> None:
    replace_item(**attributes)

    assert admit("down", "task", breakers=breakers, now=NOW) == Admitted()
    assert close_recovered_breakers(breakers, now=NOW) == 0
    assert unreadable_items.unreadable_items() == ["state breakers"]
    fail(breakers, 10)
    assert breakers.load().breakers == {"llm": OPEN}


def test_two_concurrent_replacements_of_a_corrupt_item_both_count(
    breakers: DynamoCircuitBreakerStore,
) -> None:
    replace_item(value={"S": "{"})
    fail(breakers)
    fail(breakers)
    assert breakers.load().get("llm").failures == 2


def test_an_item_of_newer_code_stops_nothing_and_is_never_replaced(
    breakers: DynamoCircuitBreakerStore,
) -> None:
    replace_item(schema_version={"N": "2"})
    before = stored_item()

    fail(breakers, 11)

    assert admit("down", "task", breakers=breakers, now=NOW) == Admitted()
    assert breakers.load().get("llm") == CircuitBreaker()
    assert stored_item() == before
    assert unreadable_items.unreadable_items() == ["state breakers"]
