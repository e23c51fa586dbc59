"""Learning from failures, end to end: corrected classifications, and counted retries."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.app import stores
from duecourse.domain.journal.counter_page import CountedChange
from duecourse.domain.journal.increment import Increment
from duecourse.domain.time.utc_days import utc_day

from tests.simulation.test_failures import (
    SUCCESS,
    TYPE_ERROR,
    create_action,
    is_within_jitter,
    only_error_of,
    retry_delay_of,
)
from tests.simulation.test_reclassify import reclassify
from tests.support.stack_client import StackClient

MIN_SAMPLES = 20


def locked_error(warehouse: int, batch: int) -> dict[str, Any]:
    """Return an error that no rule matches."""
    return {"error": {"message": f"warehouse {warehouse} is locked by batch {batch}"}}


def fail_action(client: StackClient, *script: dict[str, Any], **fields: Any) -> dict[str, Any]:
    task = create_action(client, *script, **fields)
    client.advance("11s")
    return client.task(task["id"])


def list_patterns(client: StackClient, query: str = "") -> list[dict[str, Any]]:
    return client.items(f"/patterns{query}")


def forget_pattern(client: StackClient, fingerprint: str) -> Any:
    return client.call("DELETE", f"/patterns/agent/{fingerprint}")


# Corrected classifications


def test_a_corrected_category_is_used_for_the_same_error_of_another_task(
    client: StackClient,
) -> None:
    assert reclassify(client, fail_action(client, locked_error(7, 1)), "transient").status == 200
    client.advance("1s")
    other = fail_action(client, locked_error(12, 40_123))
    error = only_error_of(client, other)

    assert other["last_error_category"] == "transient"
    assert is_within_jitter(retry_delay_of(other, error["at"]), 30)
    assert (error["pattern"], error["confidence"]) == ("learned", 0.95)
    assert (error["learned"], error["read_as"]) == (True, "unknown")
    [scheduled] = [
        event["detail"]
        for event in client.items(f"/tasks/{other['id']}/history")
        if event["type"] == "task:retry_scheduled"
    ]
    assert scheduled["learned"] is True


def test_a_correction_does_not_apply_to_another_error_or_policy(client: StackClient) -> None:
    reclassify(client, fail_action(client, locked_error(7, 1)), "transient")
    client.advance("1s")
    other = fail_action(client, {"error": {"message": "warehouse 7 is flooded"}})
    elsewhere = fail_action(client, locked_error(7, 1), policy="enrichment", subject="story-1")

    assert other["last_error_category"] == elsewhere["last_error_category"] == "unknown"
    assert only_error_of(client, other)["learned"] is None
    assert only_error_of(client, elsewhere)["learned"] is None


def test_a_learned_pattern_is_listed_and_can_be_deleted(client: StackClient) -> None:
    reclassify(client, fail_action(client, locked_error(7, 1)), "transient")
    client.advance("1s")
    [pattern] = list_patterns(client)
    answer = forget_pattern(client, pattern["fingerprint"])
    other = fail_action(client, locked_error(8, 2))

    assert (pattern["category"], pattern["read_as"], pattern["count"]) == (
        "transient",
        "unknown",
        1,
    )
    assert (pattern["said_by_person"], pattern["said_by"]) == (True, "local")
    assert pattern["example"] == "warehouse 7 is locked by batch 1"
    assert (answer.status, answer.body["forgotten"]) == (200, True)
    assert other["last_error_category"] == "unknown"
    [pattern] = list_patterns(client)
    assert (pattern["said_by_person"], pattern["category"], pattern["count"]) == (
        False,
        "unknown",
        2,
    )
    assert forget_pattern(client, pattern["fingerprint"]).body["forgotten"] is False


@pytest.mark.parametrize(
    ("corrected", "other", "read_as"),
    [
        ("RuntimeError('invalid token')", "RuntimeError('disk full')", "resource_exhaustion"),
        # These two have the same fingerprint, because quoted text is masked.
        ("step 'foo bar' went", "step 'no space left on device' went", "resource_exhaustion"),
    ],
)
def test_a_correction_does_not_override_another_rule_match(
    client: StackClient, corrected: str, other: str, read_as: str
) -> None:
    answer = reclassify(client, fail_action(client, {"error": {"message": corrected}}), "transient")
    assert answer.status == 200
    client.advance("1s")
    task = fail_action(client, {"error": {"message": other}})

    assert task["last_error_category"] == read_as
    assert not only_error_of(client, task)["learned"]
    [latest] = list_patterns(client, "?limit=1")
    assert (latest["category"], latest["read_as"]) == (read_as, read_as)
    repeated = fail_action(client, {"error": {"message": corrected}})
    assert only_error_of(client, repeated)["learned"] is True


def test_a_later_correction_replaces_the_earlier_one(client: StackClient) -> None:
    for category in ("transient", "timeout"):
        reclassify(client, fail_action(client, locked_error(7, 1)), category)
        client.advance("1s")

    assert fail_action(client, locked_error(8, 2))["last_error_category"] == "timeout"
    assert [pattern["category"] for pattern in list_patterns(client)] == ["timeout"]


def test_an_unreadable_pattern_store_does_not_block_retries(client: StackClient) -> None:
    reclassify(client, fail_action(client, locked_error(7, 1)), "transient")
    client.advance("1s")
    denied = {"code": "AccessDeniedException", "status": 400}
    # The first is that of the task.
    client.add_fault(function="failure", call="dynamodb.GetItem", nth=2, kind="error", error=denied)
    other = fail_action(client, locked_error(8, 2))

    assert (other["status"], other["last_error_category"]) == ("pending", "unknown")


# Counters


def test_failures_and_the_outcomes_of_retries_are_counted(client: StackClient) -> None:
    for n in range(3):
        create_action(client, locked_error(n, n), SUCCESS)
    create_action(client, locked_error(9, 9), TYPE_ERROR, TYPE_ERROR, SUCCESS)
    client.advance("1h")
    by_category = {pattern["category"]: pattern for pattern in list_patterns(client)}
    delays = client.call("GET", "/delays").body

    unknown, code_error = by_category["unknown"], by_category["code_error"]
    assert (unknown["count"], unknown["tried"], unknown["worked"]) == (4, 4, 3)
    assert unknown["success_percent"] == 75.0
    assert (code_error["count"], code_error["tried"], code_error["worked"]) == (2, 2, 1)
    assert delays["adapting"] is False
    outcomes = {
        (delay["category"], delay["delay_seconds"]): (delay["tried"], delay["worked"])
        for delay in delays["items"]
    }
    assert outcomes == {
        ("unknown", 120): (4, 3),
        ("code_error", 300): (1, 0),
        ("code_error", 900): (1, 1),
    }


def test_a_repeated_journal_batch_is_counted_once(client: StackClient) -> None:
    client.add_fault(function="journal", call="dynamodb.PutItem", when="after", nth=1)
    fail_action(client, locked_error(7, 1))
    client.advance("1m")

    assert [pattern["count"] for pattern in list_patterns(client)] == [1]


def test_a_manual_retry_is_not_counted_as_a_delay_sample(client: StackClient) -> None:
    task = fail_action(client, locked_error(7, 1), SUCCESS)
    assert client.call("POST", f"/tasks/{task['id']}/run").status == 200
    client.advance("1s")

    assert client.task(task["id"])["status"] == "completed"
    assert [pattern["worked"] for pattern in list_patterns(client)] == [1]
    assert client.items("/delays") == []


def test_patterns_are_listed_newest_first_and_by_policy(client: StackClient) -> None:
    for message in ("one is broken", "two is broken"):
        fail_action(client, {"error": {"message": message}})
    fail_action(client, locked_error(1, 1), policy="enrichment", subject="story-1")

    assert [pattern["example"] for pattern in list_patterns(client, "?limit=2")] == [
        "warehouse 1 is locked by batch 1",
        "two is broken",
    ]
    assert [pattern["policy"] for pattern in list_patterns(client, "?policy=agent")] == [
        "agent"
    ] * 2


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
def test_invalid_requests_are_refused(
    shared: StackClient, method: str, target: str, status: int
) -> None:
    assert shared.call(method, target).status == status


def test_only_admin_tokens_may_delete_patterns(shared: StackClient) -> None:
    target = "/patterns/agent/0123456789abcdef"
    assert shared.call("DELETE", target, token="local-write").status == 403
    assert shared.call("GET", "/patterns", token="local-read").status == 200


# Delays


def test_delays_follow_the_policy_unless_adapting_is_on(client: StackClient) -> None:
    now = client.stack.clock.now()
    outcomes = {"t120": MIN_SAMPLES, "t300": MIN_SAMPLES, "w300": MIN_SAMPLES}
    counted = Increment(utc_day(now), "delay#agent#code_error", outcomes)
    stores.counters().add("a shard", [CountedChange(1, now, [counted])])
    task = fail_action(client, TYPE_ERROR)

    error = only_error_of(client, task)
    assert is_within_jitter(retry_delay_of(task, error["at"]), 120)
    assert error["adapted"] is None
