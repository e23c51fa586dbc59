"""An unreadable item that is no task, such as the circuit breakers, stops nothing either."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest
from duecourse.app import stores
from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue

from tests.simulation.test_recovery import create_waiting_task
from tests.support.bus_listener import BusListener
from tests.support.stack_client import StackClient

DEAD_LETTER = "/dead-letters/redrive"
SUCCESS = {"reply": "ok\nACTION_OUTCOME: success"}
PAYLOAD = {"provider": "scripted", "script": [SUCCESS]}
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
    task = client.create(type="action", payload=PAYLOAD, **{"in": "1m"})
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


# What the journal counts and learns


FAILING = {"error": {"message": "connect ECONNREFUSED 127.0.0.1:9", "code": "ECONNREFUSED"}}
STATS: dict[str, dict[str, Any]] = {
    "newer schema": {"schema_version": {"N": "99"}},
    "broken version": {"version": {"S": "seven"}, "expires_at": {"S": "never"}},
}
every_stats_poison = pytest.mark.parametrize("poison", STATS.values(), ids=STATS)


def poison_stats(prefix: str, poison: dict[str, Any]) -> int:
    """Change the stored items of that kind behind the system's back; return how many."""
    dynamodb = boto3.client("dynamodb")
    items = dynamodb.scan(TableName="StatsTable")["Items"]
    found = [item for item in items if item["day"]["S"].startswith(prefix)]
    for item in found:
        dynamodb.put_item(TableName="StatsTable", Item=item | poison)
    return len(found)


def poison_task(task: dict[str, Any]) -> None:
    dynamodb = boto3.client("dynamodb")
    key = {"short_id": {"S": task["short_id"]}, "id": {"S": task["id"]}}
    item = dynamodb.get_item(TableName="TasksTable", Key=key)["Item"]
    dynamodb.put_item(TableName="TasksTable", Item=item | {"schema_version": {"N": "99"}})


def failing_task(client: StackClient, *script: dict[str, Any]) -> dict[str, Any]:
    payload = {"provider": "scripted", "script": [*script]}
    return client.create(
        type="action", payload=payload, policy="omega", max_retries=2, **{"in": "10s"}
    )


@every_stats_poison
@pytest.mark.parametrize("prefix", ["tracker#", "2026-02-17"])
def test_an_unreadable_tracker_or_page_does_not_swallow_what_follows_from_a_failure(
    client: StackClient, prefix: str, poison: dict[str, Any]
) -> None:
    bus = BusListener()
    task = client.create(
        type="action",
        payload={"provider": "scripted", "script": [FAILING]},
        policy="omega",
        max_retries=5,
        **{"in": "10s"},
    )
    while len(client.items(f"/tasks/{task['id']}/errors")) < 4:  # the fourth writes the tracker
        client.advance("30s")
    assert poison_stats(prefix, poison)
    stores.counters.cache_clear()  # another container has to read the page
    notifications = len(client.outbox("ada"))

    client.advance("1d")

    assert client.task(task["id"])["status"] == "failed"
    history = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
    assert history[-1] == "task:failed"
    assert bus.types(task["id"])[-1] == "task:failed"
    assert len(client.items(f"/tasks/{task['id']}/errors")) > 4
    assert len(client.outbox("ada")) == notifications + 1


@every_stats_poison
def test_an_unreadable_pattern_does_not_swallow_what_follows_from_a_correction(
    client: StackClient, poison: dict[str, Any]
) -> None:
    bus = BusListener()
    task = failing_task(client, FAILING)
    client.advance("20s")
    for category in ("timeout", "code_error"):
        answer = client.call("POST", f"/tasks/{task['id']}/reclassify", {"category": category})
        assert answer.status == 200, answer.body
        client.advance("1s")
        assert poison_stats("patterns#", poison)

    assert bus.types(task["id"]).count("task:reclassified") == 2


def test_an_unreadable_task_that_waits_does_not_swallow_the_events_of_its_review(
    client: StackClient,
) -> None:
    bus = BusListener()
    task, review = create_waiting_task(client)
    poison_task(task)

    assert client.call("POST", f"/tasks/{review['id']}/cancel").status == 200
    client.advance("1m")

    assert bus.types(review["id"])[-1] == "task:cancelled"


# How it is counted


def unreadable_task(client: StackClient) -> dict[str, Any]:
    task = client.create(due_at="2026-02-18T12:00:00Z")
    client.advance("1s")
    poison_task(task)
    client.advance("1s")  # the stream is read
    client.stack.functions.metrics.clear()
    return task


def counted(client: StackClient) -> list[float]:
    """Return what was counted; the alerts function counts 0 where all can be read."""
    return [count for count in client.stack.functions.metrics["ItemsUnreadable"] if count]


def test_the_api_counts_what_it_cannot_read(client: StackClient) -> None:
    task = unreadable_task(client)
    assert client.call("GET", f"/tasks/{task['id']}").status == 503
    assert counted(client) == [1]


def unreadable_record() -> dict[str, Any]:
    keys = {"short_id": {"S": "0a1b2c3d"}, "id": {"S": "0a1b2c3d-0000-4000-8000-000000000000"}}
    return {
        "dynamodb": {
            "SequenceNumber": "1",
            "ApproximateCreationDateTime": stores.clock().now().timestamp(),
            "Keys": keys,
            "NewImage": keys | {"schema_version": {"N": "99"}},
        }
    }


def test_the_journal_counts_what_it_cannot_read(client: StackClient) -> None:
    client.stack.invoke("journal", {"Records": [unreadable_record()]})
    assert counted(client) == [1]


def test_live_counts_what_it_cannot_read(client: StackClient) -> None:
    connection = {"room": {"S": "all"}, "id": {"S": "c-1"}, "schema_version": {"N": "99"}}
    boto3.client("dynamodb").put_item(TableName="ConnectionsTable", Item=connection)
    client.stack.invoke("live", {"Records": [unreadable_record()]})
    assert counted(client) == [1]
