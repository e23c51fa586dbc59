"""Reclassifying a failure over HTTP: the retry moves, the journal has it, counters stay."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.domain.time.instant import from_text

from tests.simulation.test_failures import (
    SUCCESS,
    TYPE_ERROR,
    create_action,
    is_within_jitter,
    only_error_of,
    retry_delay_of,
)
from tests.support.stack_client import StackClient


def reclassify(client: StackClient, task: dict[str, Any], category: Any) -> Any:
    return client.call("POST", f"/tasks/{task['id']}/reclassify", {"category": category})


def test_a_compile_error_reclassified_as_transient_is_retried_after_30_seconds(
    client: StackClient,
) -> None:
    task = create_action(client, TYPE_ERROR, SUCCESS)
    client.advance("11s")
    answer = reclassify(client, task, "transient")
    client.advance("35s")

    assert (answer.status, answer.body["last_error_category"]) == (200, "transient")
    assert is_within_jitter(retry_delay_of(answer.body), 30)
    completed = client.task(task["id"])
    assert (completed["status"], completed["retry_count"]) == ("completed", 1)
    assert from_text(completed["delivered_at"]) < from_text("2026-02-17T12:01:00Z")


def test_reclassify_is_in_the_history_and_moves_the_counters(client: StackClient) -> None:
    task = create_action(client, TYPE_ERROR, SUCCESS)
    client.advance("11s")
    reclassify(client, task, "transient")
    client.advance("1s")

    types = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
    assert types[-3:] == ["task:reclassified", "task:retry_scheduled", "task:recovery_action"]
    [run] = client.items(f"/tasks/{task['id']}/runs")
    assert run["category"] == "transient"
    assert only_error_of(client, task)["category"] == "transient"
    assert client.items("/errors?category=code_error") == []
    assert [one["id"] for one in client.items("/errors?category=transient")] == [run["id"]]
    [counted] = client.call("GET", "/stats").body["errors_by_category"]
    assert (counted["category"], counted["count"]) == ("transient", 1)


def test_reclassify_to_a_permanent_category_fails_the_task_and_notifies(
    client: StackClient,
) -> None:
    task = create_action(client, TYPE_ERROR, policy="enrichment", subject="story-1")
    client.advance("11s")
    assert reclassify(client, task, "content_policy").body["status"] == "failed"
    client.advance("1m")

    assert " after 1 attempt: " in client.outbox("ada")[-1]["text"]
    assert client.call("GET", "/subjects/story-1").body["status"] == "permanent_failure"


def test_a_kind_gives_its_category_and_is_shown_everywhere(client: StackClient) -> None:
    task = create_action(client, TYPE_ERROR, SUCCESS)
    client.advance("11s")
    answer = client.call("POST", f"/tasks/{task['id']}/reclassify", {"kind": "rate_limit"})
    client.advance("1s")

    assert (answer.body["last_error_category"], answer.body["last_error_kind"]) == (
        "transient",
        "rate_limit",
    )
    assert answer.body["last_error_clears_by"] == "waiting"
    [run] = client.items(f"/tasks/{task['id']}/runs")
    [retry] = client.items("/retries")
    [pattern] = client.items("/patterns")
    for shown in (run, retry, pattern, only_error_of(client, task)):
        assert (shown["kind"], shown["clears_by"]) == ("rate_limit", "waiting")
    [counted] = client.call("GET", "/stats").body["errors_by_kind"]
    assert counted == {"kind": "rate_limit", "clears_by": "waiting", "count": 1}
    history = client.items(f"/tasks/{task['id']}/history")
    [event] = [one for one in history if one["type"] == "task:reclassified"]
    assert (event["detail"]["from_kind"], event["detail"]["kind"]) == ("type", "rate_limit")
    [entry] = client.items("/audit")[:1]
    assert entry["kind"] == "rate_limit"


@pytest.mark.parametrize(
    "body", [{"category": "transient", "kind": "network"}, {"kind": "cosmic_rays"}, {"kind": 3}]
)
def test_a_kind_and_a_category_or_an_unknown_kind_is_refused(
    client: StackClient, body: Any
) -> None:
    task = create_action(client, TYPE_ERROR)
    client.advance("11s")
    answer = client.call("POST", f"/tasks/{task['id']}/reclassify", body)
    field = "category" if "category" in body else "kind"
    assert (answer.status, [one["field"] for one in answer.body["errors"]]) == (422, [field])


@pytest.mark.parametrize("body", [None, {}, {"category": 3}, {"category": "x", "why": "y"}])
def test_an_invalid_body_is_refused(client: StackClient, body: Any) -> None:
    task = client.create(**{"in": "1h"})
    answer = client.call("POST", f"/tasks/{task['id']}/reclassify", body)

    assert answer.status == 422
    assert client.task(task["id"]) == task


def test_an_unknown_category_lists_the_categories_of_the_policy(client: StackClient) -> None:
    task = create_action(client, TYPE_ERROR)
    client.advance("11s")
    before = client.task(task["id"])
    answer = reclassify(client, task, "bad_luck")

    assert answer.status == 422
    [error] = answer.body["errors"]
    assert error["field"] == "category"
    assert "resource_exhaustion" in error["message"]
    assert client.task(task["id"]) == before


def test_a_task_that_has_not_failed_is_a_conflict(client: StackClient) -> None:
    task = client.create(**{"in": "1h"})

    assert reclassify(client, task, "transient").status == 409
    assert client.task(task["id"]) == task


def test_an_unknown_task_is_a_404(client: StackClient) -> None:
    unknown = {"id": "00000000-0000-4000-8000-000000000000"}

    assert reclassify(client, unknown, "transient").status == 404
