"""What failures teach, end to end: a person's word is remembered, and retries are counted."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.app import stores
from duecourse.domain.tasks.run import PreviousFailure

from tests.simulation.test_failures import (
    SUCCESS,
    TYPE_ERROR,
    an_action,
    is_about,
    the_error_of,
    wait_of,
)
from tests.simulation.test_reclassify import reclassify
from tests.support.stack_client import StackClient

ENOUGH = 20


def locked(warehouse: int, batch: int) -> dict[str, Any]:
    """An error that no rule knows."""
    return {"error": {"message": f"warehouse {warehouse} is locked by batch {batch}"}}


def after_failing(client: StackClient, *script: dict[str, Any], **fields: Any) -> dict[str, Any]:
    task = an_action(client, *script, **fields)
    client.advance("11s")
    return client.task(task["id"])


def patterns(client: StackClient, query: str = "") -> list[dict[str, Any]]:
    return client.items(f"/patterns{query}")


def forget(client: StackClient, fingerprint: str) -> Any:
    return client.call("DELETE", f"/patterns/agent/{fingerprint}")


# A person's word


def test_what_a_person_said_once_is_used_for_the_same_error_in_another_task(
    client: StackClient,
) -> None:
    assert reclassify(client, after_failing(client, locked(7, 1)), "transient").status == 200
    client.advance("1s")
    other = after_failing(client, locked(12, 40_123))
    error = the_error_of(client, other)

    assert other["last_error_category"] == "transient"
    assert is_about(wait_of(other, error["at"]), 30)
    assert (error["pattern"], error["confidence"]) == ("learned", 0.95)
    assert (error["learned"], error["read_as"]) == (True, "unknown")
    [scheduled] = [
        event["detail"]
        for event in client.items(f"/tasks/{other['id']}/history")
        if event["type"] == "task:retry_scheduled"
    ]
    assert scheduled["learned"] is True


def test_another_error_and_another_policy_are_read_as_before(client: StackClient) -> None:
    reclassify(client, after_failing(client, locked(7, 1)), "transient")
    client.advance("1s")
    other = after_failing(client, {"error": {"message": "warehouse 7 is flooded"}})
    elsewhere = after_failing(client, locked(7, 1), policy="enrichment", subject="story-1")

    assert other["last_error_category"] == elsewhere["last_error_category"] == "unknown"
    assert the_error_of(client, other)["learned"] is None
    assert the_error_of(client, elsewhere)["learned"] is None


def test_what_was_said_is_shown_and_forgotten_when_asked(client: StackClient) -> None:
    reclassify(client, after_failing(client, locked(7, 1)), "transient")
    client.advance("1s")
    [shown] = patterns(client)
    answer = forget(client, shown["fingerprint"])
    other = after_failing(client, locked(8, 2))

    assert (shown["category"], shown["read_as"], shown["count"]) == ("transient", "unknown", 1)
    assert (shown["said_by_person"], shown["said_by"]) == (True, "local")
    assert shown["example"] == "warehouse 7 is locked by batch 1"
    assert (answer.status, answer.body["forgotten"]) == (200, True)
    assert other["last_error_category"] == "unknown"
    [shown] = patterns(client)
    assert (shown["said_by_person"], shown["category"], shown["count"]) == (False, "unknown", 2)
    assert forget(client, shown["fingerprint"]).body["forgotten"] is False


@pytest.mark.parametrize(
    ("one", "other", "read_as"),
    [
        ("RuntimeError('invalid token')", "RuntimeError('disk full')", "resource_exhaustion"),
        # These two have one fingerprint: what stands between is quoted.
        ("step 'foo bar' went", "step 'no space left on device' went", "resource_exhaustion"),
    ],
)
def test_what_was_said_of_an_error_is_not_used_for_one_that_the_rules_read_otherwise(
    client: StackClient, one: str, other: str, read_as: str
) -> None:
    said = reclassify(client, after_failing(client, {"error": {"message": one}}), "transient")
    assert said.status == 200
    client.advance("1s")
    found = after_failing(client, {"error": {"message": other}})

    assert found["last_error_category"] == read_as
    assert not the_error_of(client, found)["learned"]
    [latest] = patterns(client, "?limit=1")
    assert (latest["category"], latest["read_as"]) == (read_as, read_as)
    again = after_failing(client, {"error": {"message": one}})
    assert the_error_of(client, again)["learned"] is True


def test_a_person_may_change_their_mind(client: StackClient) -> None:
    for category in ("transient", "timeout"):
        reclassify(client, after_failing(client, locked(7, 1)), category)
        client.advance("1s")

    assert after_failing(client, locked(8, 2))["last_error_category"] == "timeout"
    assert [shown["category"] for shown in patterns(client)] == ["timeout"]


def test_a_memory_that_cannot_be_read_holds_up_nothing(client: StackClient) -> None:
    reclassify(client, after_failing(client, locked(7, 1)), "transient")
    client.advance("1s")
    denied = {"code": "AccessDeniedException", "status": 400}
    # The first is that of the task.
    client.add_fault(function="failure", call="dynamodb.GetItem", nth=2, kind="error", error=denied)
    other = after_failing(client, locked(8, 2))

    assert (other["status"], other["last_error_category"]) == ("pending", "unknown")


# What is counted


def test_failures_and_what_retries_did_about_them_are_counted(client: StackClient) -> None:
    for n in range(3):
        an_action(client, locked(n, n), SUCCESS)
    an_action(client, locked(9, 9), TYPE_ERROR, TYPE_ERROR, SUCCESS)
    client.advance("1h")
    by_category = {shown["category"]: shown for shown in patterns(client)}
    delays = client.call("GET", "/delays").body

    unknown, code_error = by_category["unknown"], by_category["code_error"]
    assert (unknown["count"], unknown["tried"], unknown["worked"]) == (4, 4, 3)
    assert unknown["success_percent"] == 75.0
    assert (code_error["count"], code_error["tried"], code_error["worked"]) == (2, 2, 1)
    assert delays["adapting"] is False
    told = {
        (one["category"], one["delay_seconds"]): (one["tried"], one["worked"])
        for one in delays["items"]
    }
    assert told == {
        ("unknown", 120): (4, 3),
        ("code_error", 300): (1, 0),
        ("code_error", 900): (1, 1),
    }


def test_a_journal_that_dies_and_comes_again_counts_nothing_twice(client: StackClient) -> None:
    client.add_fault(function="journal", call="dynamodb.UpdateItem", when="after", nth=1)
    after_failing(client, locked(7, 1))
    client.advance("1m")

    assert [shown["count"] for shown in patterns(client)] == [1]


def test_a_retry_that_a_person_asked_for_tells_nothing_of_delays(client: StackClient) -> None:
    task = after_failing(client, locked(7, 1), SUCCESS)
    assert client.call("POST", f"/tasks/{task['id']}/run").status == 200
    client.advance("1s")

    assert client.task(task["id"])["status"] == "completed"
    assert [shown["worked"] for shown in patterns(client)] == [1]
    assert client.items("/delays") == []


def test_patterns_are_listed_newest_first_and_by_policy(client: StackClient) -> None:
    for message in ("one is broken", "two is broken"):
        after_failing(client, {"error": {"message": message}})
    after_failing(client, locked(1, 1), policy="enrichment", subject="story-1")

    assert [shown["example"] for shown in patterns(client, "?limit=2")] == [
        "warehouse 1 is locked by batch 1",
        "two is broken",
    ]
    assert [shown["policy"] for shown in patterns(client, "?policy=agent")] == ["agent"] * 2


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/patterns?policy=none", 422),
        ("GET", "/patterns?limit=0", 422),
        ("GET", "/delays?policy=agent", 422),
        ("DELETE", "/patterns/none/0123456789abcdef", 404),
        ("DELETE", "/patterns/agent/nothing", 422),
        ("DELETE", "/patterns/agent/0123456789ABCDEF", 422),
    ],
)
def test_what_makes_no_sense_is_refused(
    shared: StackClient, method: str, target: str, status: int
) -> None:
    assert shared.call(method, target).status == status


def test_only_operators_may_forget(shared: StackClient) -> None:
    target = "/patterns/agent/0123456789abcdef"
    assert shared.call("DELETE", target, token="local-write").status == 403
    assert shared.call("GET", "/patterns", token="local-read").status == 200


# Delays


def test_unless_it_is_asked_for_delays_stay_as_the_policy_has_them(client: StackClient) -> None:
    now = client.stack.clock.now()
    for waited, worked in [(120, False), (300, True)] * ENOUGH:
        follows = PreviousFailure(category="code_error", delay_seconds=waited)
        stores.patterns().record_retry("agent", follows, has_succeeded=worked, at=now)
    task = after_failing(client, TYPE_ERROR)

    error = the_error_of(client, task)
    assert is_about(wait_of(task, error["at"]), 120)
    assert error["adapted"] is None
