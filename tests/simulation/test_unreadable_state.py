"""An unreadable item that is no task, such as the circuit breakers, stops nothing either."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest
from duecourse.app import stores
from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue

from tests.support.stack_client import StackClient

DEAD_LETTER = "/dead-letters/redrive"
DONE = {"provider": "scripted", "script": [{"reply": "ok\nACTION_OUTCOME: success"}]}
BREAKERS: dict[str, dict[str, Any]] = {
    "one unreadable breaker": {
        "value": {"S": json.dumps({"breakers": {"scripted": {"state": "throttled"}}})}
    },
    "corrupt item": {"value": {"S": "{"}},
    "newer schema": {"value": {"S": '{"breakers": {}}'}, "schema_version": {"N": "99"}},
}
every_breakers_item = pytest.mark.parametrize("item", BREAKERS.values(), ids=BREAKERS)


def store_breakers(item: dict[str, Any]) -> None:
    stored = {"key": {"S": "breakers"}, "version": {"N": "1"}} | item
    boto3.client("dynamodb").put_item(TableName="StateTable", Item=stored)


def alerts(client: StackClient) -> list[str]:
    texts = [one["text"] for one in client.outbox("operators")]
    return [text.removeprefix("Alert: ") for text in texts if text.startswith("Alert: ")]


def add_dead_letter() -> None:
    now = stores.clock().now()
    stores.dead_letters().save(DeadLetter(id="m-1", queue=Queue.WORK, body="{", sent_at=now))


@every_breakers_item
def test_unreadable_breakers_do_not_stop_provider_work(
    client: StackClient, item: dict[str, Any]
) -> None:
    store_breakers(item)
    task = client.create(type="action", payload=DONE, **{"in": "1m"})
    client.advance("5m")
    assert client.task(task["id"])["status"] == "completed"


@every_breakers_item
@pytest.mark.parametrize("route", ["/now", "/breakers"])
def test_unreadable_breakers_do_not_stop_the_routes(
    client: StackClient, item: dict[str, Any], route: str
) -> None:
    store_breakers(item)
    assert client.call("GET", route).status == 200


@every_breakers_item
def test_unreadable_breakers_are_alerted_and_do_not_stop_other_alerts(
    client: StackClient, item: dict[str, Any]
) -> None:
    store_breakers(item)
    add_dead_letter()

    client.advance("12m")

    found = alerts(client)
    assert any("cannot read 1 stored item" in text and "breaker" in text for text in found)
    assert any(DEAD_LETTER in text for text in found)
    assert client.stack.functions.metrics["DeadLettersStored"][-1] == 1


def test_a_source_of_signals_that_fails_does_not_stop_the_other_alerts(
    client: StackClient,
) -> None:
    stores.budgets().set_limit("llm", 1, now=stores.clock().now())
    add_dead_letter()
    client.add_fault(function="alerts", call="dynamodb.BatchGetItem", kind="error", times=50)
    client.stack.functions.metrics.clear()

    client.advance("6m")

    assert any(DEAD_LETTER in text for text in alerts(client))
    assert "BudgetUsedPercent" not in client.stack.functions.metrics
