"""Circuit breakers that cannot be read count as closed, and are not destroyed without need."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.circuit_breakers import DynamoCircuitBreakerStore
from duecourse.adapters.runtime import unreadable_items
from duecourse.domain.limits.circuit_breaker import Admitted, CircuitBreaker, Rejected
from duecourse.usecases.limits.circuit_breaker import BreakerDeps, admit, close_recovered_breakers

from tests.contract.conftest import RETENTION
from tests.contract.test_circuit_breakers import OPEN, stored_item
from tests.support.breakers import fail
from tests.support.builders.moments import MINUTE, NOW
from tests.support.fakes.clock import ManualClock

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


@pytest.fixture
def breakers() -> BreakerDeps:
    """The breakers of `down` and `llm` are open."""
    found = new_container()
    fail(found, 10, provider="down")
    fail(found, 10)
    return found


def new_container() -> BreakerDeps:
    return BreakerDeps(DynamoCircuitBreakerStore(ManualClock(NOW), retention=RETENTION))


def put_item(key: str, **attributes: dict[str, Any]) -> None:
    item = {"key": {"S": key}, **attributes}
    boto3.client("dynamodb").put_item(TableName="StateTable", Item=item)


def replace_item(**attributes: dict[str, Any]) -> None:
    item = {name: value for name, value in stored_item().items() if name != "key"}
    put_item("breaker#llm", **item | attributes)


def store_older_item(breakers: dict[str, Any], **attributes: dict[str, Any]) -> None:
    value = {"written_by": "old code", "breakers": breakers}
    fields: dict[str, Any] = {"value": {"S": json.dumps(value)}, "version": {"N": "7"}}
    put_item("breakers", **fields | attributes)


def stored_open_breaker() -> dict[str, Any]:
    """Return an open breaker as version 0.1 stored it."""
    fail(new_container(), 10, provider="sample")
    return dict(json.loads(stored_item("breaker#sample")["value"]["S"])["breaker"])


# A provider's own item


@pytest.mark.parametrize("stored", CORRUPT_BREAKERS.values(), ids=CORRUPT_BREAKERS)
@pytest.mark.usefixtures("breakers")
def test_one_unreadable_breaker_counts_as_closed_and_the_others_are_read(stored: Any) -> None:
    replace_item(value={"S": json.dumps({"breaker": stored})})
    deps = new_container()
    assert admit("llm", "task", breakers=deps, now=NOW) == Admitted()
    assert isinstance(admit("down", "task", breakers=deps, now=NOW), Rejected)
    assert deps.store.list_all() == {"down": OPEN}
    assert unreadable_items.unreadable_items() == ["circuit breaker llm"]


@pytest.mark.parametrize("attributes", CORRUPT_ITEMS.values(), ids=CORRUPT_ITEMS)
@pytest.mark.usefixtures("breakers")
def test_a_corrupt_item_stops_nothing_and_is_replaced_by_the_next_failures(
    attributes: dict[str, Any],
) -> None:
    replace_item(**attributes)
    deps = new_container()
    assert admit("llm", "task", breakers=deps, now=NOW) == Admitted()
    assert close_recovered_breakers(deps, now=NOW) == 0
    assert unreadable_items.unreadable_items() == ["circuit breaker llm"]
    fail(deps, 10)
    assert deps.store.get("llm").breaker == OPEN


@pytest.mark.usefixtures("breakers")
def test_two_concurrent_replacements_of_a_corrupt_item_both_count() -> None:
    replace_item(value={"S": "{"})
    fail(new_container(), 2)
    fail(new_container(), 2)
    assert new_container().store.get("llm").breaker.failures == 4


@pytest.mark.usefixtures("breakers")
def test_an_item_of_newer_code_stops_nothing_and_is_never_replaced() -> None:
    replace_item(schema_version={"N": "2"})
    before, deps = stored_item(), new_container()

    fail(deps, 11)

    assert admit("llm", "task", breakers=deps, now=NOW) == Admitted()
    assert deps.store.get("llm").breaker == CircuitBreaker()
    assert stored_item() == before
    assert unreadable_items.unreadable_items() == ["circuit breaker llm"]


# The single item of version 0.1


def test_a_breaker_of_the_older_item_counts_until_the_provider_has_its_own() -> None:
    store_older_item({"llm": stored_open_breaker()})
    deps = new_container()
    assert isinstance(admit("llm", "task", breakers=deps, now=NOW), Rejected)
    assert deps.store.list_all()["llm"] == OPEN

    assert admit("llm", "probe", breakers=deps, now=NOW + MINUTE) == Admitted()

    assert isinstance(admit("llm", "task", breakers=new_container(), now=NOW + MINUTE), Rejected)
    assert new_container().store.list_all()["llm"].probe_task_id == "probe"


def test_the_older_item_is_never_written() -> None:
    store_older_item({"llm": stored_open_breaker()})
    before, deps = stored_item("breakers"), new_container()
    admit("llm", "probe", breakers=deps, now=NOW + MINUTE)
    fail(deps, 1, now=NOW + MINUTE)
    close_recovered_breakers(deps, now=NOW + MINUTE)
    assert stored_item("breakers") == before


@pytest.mark.parametrize("stored", CORRUPT_BREAKERS.values(), ids=CORRUPT_BREAKERS)
def test_one_unreadable_breaker_of_the_older_item_counts_as_closed(stored: Any) -> None:
    store_older_item({"llm": stored, "down": stored_open_breaker()})
    deps = new_container()
    assert admit("llm", "task", breakers=deps, now=NOW) == Admitted()
    assert isinstance(admit("down", "task", breakers=deps, now=NOW), Rejected)
    assert unreadable_items.unreadable_items() == ["circuit breaker llm"]


@pytest.mark.parametrize(
    "attributes",
    [*CORRUPT_ITEMS.values(), {"schema_version": {"N": "2"}}],
    ids=[*CORRUPT_ITEMS, "newer"],
)
def test_an_older_item_that_is_unreadable_stops_nothing(attributes: dict[str, Any]) -> None:
    store_older_item({"llm": stored_open_breaker()}, **attributes)
    deps = new_container()
    assert admit("llm", "task", breakers=deps, now=NOW) == Admitted()
    assert unreadable_items.unreadable_items() == ["state breakers"]
    fail(deps, 10)
    assert deps.store.get("llm").breaker == OPEN
