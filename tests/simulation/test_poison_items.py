"""An unreadable stored item is set aside and blocks nothing else."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest

from tests.support.stack_client import StackClient

TABLE = "TasksTable"
LEASE_AND_SWEEP = "12m"
OWNER = {"sender_id": "ada", "reply_target": "ada"}
# Attributes that newer or broken code may have written into a running task.
POISON: dict[str, dict[str, Any]] = {
    "unknown status": {"status": {"S": "levitating"}},
    "unknown zone": {"timezone": {"S": "Mars/Olympus_Mons"}},
    "unknown run status": {"run": {"status": "paused:eclipse"}},
    "newer schema": {"schema_version": {"N": "99"}},
    "broken run": {"run": {"S": '{"id": "run-'}},
    "unreadable due time": {"due_at": {"S": "2026-02-17T12:00:1x.000Z"}},
}
every_poison = pytest.mark.parametrize("poison", POISON.values(), ids=POISON)


def poison_task(task_id: str, poison: dict[str, Any]) -> None:
    """Overwrite attributes of the stored task directly."""
    client = boto3.client("dynamodb")
    key = {"short_id": {"S": task_id[:8]}, "id": {"S": task_id}}
    item = client.get_item(TableName=TABLE, Key=key)["Item"]
    run = poison.get("run", {})
    if "status" in run:
        stored = json.loads(item["run"]["S"]) | run
        poison = {"run": {"S": json.dumps(stored)}}
    client.put_item(TableName=TABLE, Item=item | poison)


def create_crashed_tasks(client: StackClient, count: int) -> list[dict[str, Any]]:
    """Create tasks in progress whose workers crashed before sending."""
    client.add_fault(
        function="worker", call="channel.send", when="before", times=count, kind="crash"
    )
    created = [
        client.create(**OWNER, **{"in": f"{10 + n}s"}) for n in range(count)
    ]  # one batch each
    client.advance("30s")
    tasks = [client.task(task["id"]) for task in created]
    assert {task["status"] for task in tasks} == {"in_progress"}
    return tasks


@every_poison
def test_crash_recovery_skips_it(client: StackClient, poison: dict[str, Any]) -> None:
    bad, *healthy = create_crashed_tasks(client, 13)
    poison_task(bad["id"], poison)

    client.advance(LEASE_AND_SWEEP)

    assert {client.task(task["id"])["status"] for task in healthy} == {"delivered"}


@every_poison
def test_the_scanner_skips_it(client: StackClient, poison: dict[str, Any]) -> None:
    [bad] = create_crashed_tasks(client, 1)
    poison_task(bad["id"], poison)
    later = [client.create(due_at=f"2026-02-17T13:{n:02}:00Z") for n in range(12)]

    client.advance("2h")

    delivered = {client.task(task["id"])["delivered_at"] for task in later}
    assert delivered == {f"2026-02-17T13:{n:02}:00.000Z" for n in range(12)}


@every_poison
@pytest.mark.parametrize(
    "route", ["/tasks", "/tasks?status=in_progress", "/now", "/retries", "/stats", "/dead-letters"]
)
def test_every_listing_omits_it(client: StackClient, poison: dict[str, Any], route: str) -> None:
    bad, other = create_crashed_tasks(client, 2)
    poison_task(bad["id"], poison)

    answer = client.call("GET", route)

    assert answer.status == 200
    text = json.dumps(answer.body)
    assert bad["id"] not in text
    assert (other["id"] in text) is (route in ("/tasks", "/tasks?status=in_progress", "/now"))


@every_poison
def test_the_chat_listing_omits_it(client: StackClient, poison: dict[str, Any]) -> None:
    bad, other = create_crashed_tasks(client, 2)
    poison_task(bad["id"], poison)

    listed = client.say("/tasks")

    assert other["short_id"] in listed
    assert bad["short_id"] not in listed


@every_poison
def test_reading_it_is_a_503_that_says_why(client: StackClient, poison: dict[str, Any]) -> None:
    [bad] = create_crashed_tasks(client, 1)
    poison_task(bad["id"], poison)

    for method, route in (("GET", ""), ("POST", "/cancel"), ("GET", "/runs")):
        answer = client.call(method, f"/tasks/{bad['id']}{route}")
        assert (answer.status, answer.headers["content-type"]) == (503, "application/problem+json")
        assert answer.body["detail"].startswith(
            f"this version of Duecourse cannot read task {bad['id']}:"
        )
    assert "This version of Duecourse cannot read" in client.say(f"/task {bad['short_id']}")


def test_the_error_omits_its_content(client: StackClient) -> None:
    [bad] = create_crashed_tasks(client, 1)
    poison_task(bad["id"], {"status": {"S": "a secret"}, "run": {"S": "a secret"}})

    answer = client.call("GET", f"/tasks/{bad['id']}")
    assert answer.status == 503

    text = json.dumps(answer.body)
    assert "its attribute `run` cannot be read" in text
    assert "a secret" not in text


@every_poison
def test_its_message_is_dead_lettered_alone(client: StackClient, poison: dict[str, Any]) -> None:
    waiting = client.create(due_at="2026-02-17T12:05:00Z", **OWNER)
    others = [client.create(due_at="2026-02-17T12:05:00Z", **OWNER) for _ in range(5)]
    client.advance("3m")  # the scanner sends messages ahead
    poison_task(waiting["id"], {"run": {"S": "{"}} if "run" in poison else poison)

    client.advance("2h")

    assert {client.task(task["id"])["status"] for task in others} == {"delivered"}
    [letter] = client.items("/dead-letters")
    assert (letter["task_id"], letter["queue"]) == (waiting["id"], "work")
    assert "this version of Duecourse cannot read" in letter["reason"]
    redriven = client.call("POST", "/dead-letters/redrive").body
    assert redriven["redriven"] == []


def test_operators_are_alerted_until_it_can_be_read(client: StackClient) -> None:
    [bad] = create_crashed_tasks(client, 1)
    poison_task(bad["id"], {"schema_version": {"N": "99"}})

    client.advance("20m")
    [alert] = alerts(client)
    assert alert.startswith(
        f"Alert: this version of Duecourse cannot read 1 stored item: task {bad['id']}."
    )

    poison_task(bad["id"], {"schema_version": {"N": "1"}})
    client.advance("3h")
    assert client.task(bad["id"])["status"] == "delivered"
    assert set(alerts(client)) == {alert}


def alerts(client: StackClient) -> list[str]:
    sent_texts = [message["text"] for message in client.outbox("operators")]
    return [text for text in sent_texts if "cannot read" in text]


def test_a_repaired_task_continues_its_history(client: StackClient) -> None:
    [bad] = create_crashed_tasks(client, 1)
    before = [event["type"] for event in client.items(f"/tasks/{bad['id']}/history")]
    poison_task(bad["id"], {"status": {"S": "levitating"}})
    poison_task(bad["id"], {"status": {"S": "in_progress"}})
    client.advance(LEASE_AND_SWEEP)

    types = [event["type"] for event in client.items(f"/tasks/{bad['id']}/history")]
    assert types[: len(before)] == before
    assert types.count("task:created") == 1
    assert types[-1] == "task:delivered"


@every_poison
def test_the_journal_continues_after_it(client: StackClient, poison: dict[str, Any]) -> None:
    [bad] = create_crashed_tasks(client, 1)
    poison_task(bad["id"], poison)
    other = client.create(due_at="2026-02-18T12:00:00Z", **OWNER)

    client.advance("1m")

    types = [event["type"] for event in client.items(f"/tasks/{other['id']}/history")]
    assert types == ["task:created"]
