"""One stored item that cannot be read is set aside, and stops nothing else."""

from __future__ import annotations

import json
from typing import Any

import boto3
import pytest

from tests.support.stack_client import StackClient

TABLE = "TasksTable"
LEASE_AND_SWEEP = "12m"
OWNER = {"sender_id": "ada", "reply_target": "ada"}
# What newer or broken code may have written into an attribute of a task that is running.
POISON: dict[str, dict[str, Any]] = {
    "unknown status": {"status": {"S": "levitating"}},
    "unknown zone": {"timezone": {"S": "Mars/Olympus_Mons"}},
    "unknown run status": {"run": {"status": "paused:eclipse"}},
    "newer schema": {"schema_version": {"N": "99"}},
    "broken run": {"run": {"S": '{"id": "run-'}},
    "unreadable due time": {"due_at": {"S": "2026-02-17T12:00:1x.000Z"}},
}
every_poison = pytest.mark.parametrize("poison", POISON.values(), ids=POISON)


def poisoned(task_id: str, poison: dict[str, Any]) -> None:
    """Change the stored task behind the system's back."""
    client = boto3.client("dynamodb")
    key = {"short_id": {"S": task_id[:8]}, "id": {"S": task_id}}
    item = client.get_item(TableName=TABLE, Key=key)["Item"]
    run = poison.get("run", {})
    if "status" in run:
        stored = json.loads(item["run"]["S"]) | run
        poison = {"run": {"S": json.dumps(stored)}}
    client.put_item(TableName=TABLE, Item=item | poison)


def crashed_tasks(client: StackClient, count: int) -> list[dict[str, Any]]:
    """Tasks in progress whose workers died before they sent anything."""
    client.add_fault(
        function="worker", call="channel.send", when="before", times=count, kind="crash"
    )
    made = [client.create(**OWNER, **{"in": f"{10 + n}s"}) for n in range(count)]  # a batch each
    client.advance("30s")
    tasks = [client.task(task["id"]) for task in made]
    assert {task["status"] for task in tasks} == {"in_progress"}
    return tasks


@every_poison
def test_crash_recovery_goes_on_without_it(client: StackClient, poison: dict[str, Any]) -> None:
    bad, *healthy = crashed_tasks(client, 13)
    poisoned(bad["id"], poison)

    client.advance(LEASE_AND_SWEEP)

    assert {client.task(task["id"])["status"] for task in healthy} == {"delivered"}


@every_poison
def test_the_scanner_goes_on_without_it(client: StackClient, poison: dict[str, Any]) -> None:
    [bad] = crashed_tasks(client, 1)
    poisoned(bad["id"], poison)
    later = [client.create(due_at=f"2026-02-17T13:{n:02}:00Z") for n in range(12)]

    client.advance("2h")

    delivered = {client.task(task["id"])["delivered_at"] for task in later}
    assert delivered == {f"2026-02-17T13:{n:02}:00.000Z" for n in range(12)}


@every_poison
@pytest.mark.parametrize(
    "route", ["/tasks", "/tasks?status=in_progress", "/now", "/retries", "/stats", "/dead-letters"]
)
def test_every_listing_answers_without_it(
    client: StackClient, poison: dict[str, Any], route: str
) -> None:
    bad, other = crashed_tasks(client, 2)
    poisoned(bad["id"], poison)

    answer = client.call("GET", route)

    assert answer.status == 200
    told = json.dumps(answer.body)
    assert bad["id"] not in told
    assert (other["id"] in told) is (route in ("/tasks", "/tasks?status=in_progress", "/now"))


@every_poison
def test_chat_lists_the_others(client: StackClient, poison: dict[str, Any]) -> None:
    bad, other = crashed_tasks(client, 2)
    poisoned(bad["id"], poison)

    listed = client.say("/tasks")

    assert other["short_id"] in listed
    assert bad["short_id"] not in listed


@every_poison
def test_whoever_asks_for_it_is_told_that_it_cannot_be_read(
    client: StackClient, poison: dict[str, Any]
) -> None:
    [bad] = crashed_tasks(client, 1)
    poisoned(bad["id"], poison)

    for method, route in (("GET", ""), ("POST", "/cancel"), ("GET", "/runs")):
        answer = client.call(method, f"/tasks/{bad['id']}{route}")
        assert (answer.status, answer.headers["content-type"]) == (503, "application/problem+json")
        assert answer.body["detail"].startswith(f"task {bad['id']} cannot be read by this version")
    assert "cannot be read by this version" in client.say(f"/task {bad['short_id']}")


def test_its_content_is_not_told(client: StackClient) -> None:
    [bad] = crashed_tasks(client, 1)
    poisoned(bad["id"], {"status": {"S": "a secret"}, "run": {"S": "a secret"}})

    answer = client.call("GET", f"/tasks/{bad['id']}")
    assert answer.status == 503

    told = json.dumps(answer.body)
    assert "its attribute `run` cannot be read" in told
    assert "a secret" not in told


@every_poison
def test_a_message_about_it_dies_alone_and_is_kept(
    client: StackClient, poison: dict[str, Any]
) -> None:
    waiting = client.create(due_at="2026-02-17T12:05:00Z", **OWNER)
    others = [client.create(due_at="2026-02-17T12:05:00Z", **OWNER) for _ in range(5)]
    client.advance("3m")  # the scanner sends messages ahead
    poisoned(waiting["id"], {"run": {"S": "{"}} if "run" in poison else poison)

    client.advance("2h")

    assert {client.task(task["id"])["status"] for task in others} == {"delivered"}
    [letter] = client.items("/dead-letters")
    assert (letter["task_id"], letter["queue"]) == (waiting["id"], "work")
    assert "cannot be read by this version" in letter["reason"]
    redriven = client.call("POST", "/dead-letters/redrive").body
    assert redriven["redriven"] == []


def test_operators_are_alerted_until_it_can_be_read(client: StackClient) -> None:
    [bad] = crashed_tasks(client, 1)
    poisoned(bad["id"], {"schema_version": {"N": "99"}})

    client.advance("20m")
    [alert] = alerts(client)
    assert alert.startswith(
        f"Alert: this version of Duecourse cannot read 1 stored item: task {bad['id']}."
    )

    poisoned(bad["id"], {"schema_version": {"N": "1"}})
    client.advance("3h")
    assert client.task(bad["id"])["status"] == "delivered"
    assert set(alerts(client)) == {alert}


def alerts(client: StackClient) -> list[str]:
    told = [one["text"] for one in client.outbox("operators")]
    return [text for text in told if "cannot read" in text]


def test_a_task_that_can_be_read_again_has_its_history_from_then_on(client: StackClient) -> None:
    [bad] = crashed_tasks(client, 1)
    before = [event["type"] for event in client.items(f"/tasks/{bad['id']}/history")]
    poisoned(bad["id"], {"status": {"S": "levitating"}})
    poisoned(bad["id"], {"status": {"S": "in_progress"}})
    client.advance(LEASE_AND_SWEEP)

    kinds = [event["type"] for event in client.items(f"/tasks/{bad['id']}/history")]
    assert kinds[: len(before)] == before
    assert kinds.count("task:created") == 1
    assert kinds[-1] == "task:delivered"


@every_poison
def test_the_stream_goes_on_behind_it(client: StackClient, poison: dict[str, Any]) -> None:
    [bad] = crashed_tasks(client, 1)
    poisoned(bad["id"], poison)
    other = client.create(due_at="2026-02-18T12:00:00Z", **OWNER)

    client.advance("1m")

    kinds = [event["type"] for event in client.items(f"/tasks/{other['id']}/history")]
    assert kinds == ["task:created"]
