"""The HTTP API: create, edit, list, cancel, pause and run."""

from __future__ import annotations

import pytest

from tests.support.stack_client import StackClient

VALID_BODY = {"in": "1h", "description": "stretch", "sender_id": "ada"}


def test_a_task_has_the_fields_of_the_contract(client: StackClient) -> None:
    assert set(client.create(**{"in": "1h"})) == {
        *("id", "short_id", "type", "channel", "sender_id", "reply_target", "description"),
        *("due_at", "nominal_at", "timezone", "repeat", "status", "paused", "created_at"),
        *("delivered_at", "retry_count", "max_retries", "last_error", "last_error_category"),
        *("last_error_kind", "last_error_clears_by"),
        *("next_retry_at", "recovery_action", "guidance", "policy", "subject", "payload"),
        *("verify", "wait", "wait_until", "wait_detail", "wait_text", "run_id", "version"),
        *("created_by", "blocked_until", "snooze_of", "review_of"),
    }


def test_a_naive_time_is_in_the_tasks_zone(client: StackClient) -> None:
    task = client.create(due_at="2026-07-01T09:00:00", timezone="Europe/Berlin")

    assert task["due_at"] == "2026-07-01T07:00:00.000Z"


def test_the_same_idempotency_key_and_body_return_the_same_task(client: StackClient) -> None:
    options = {"headers": {"idempotency-key": "k1"}}
    first = client.call("POST", "/tasks", VALID_BODY, **options)  # type: ignore[arg-type]
    client.advance("30m")
    repeated = client.call("POST", "/tasks", VALID_BODY, **options)  # type: ignore[arg-type]
    other = client.call("POST", "/tasks", {**VALID_BODY, "in": "2h"}, **options)  # type: ignore[arg-type]

    assert (first.status, repeated.status, other.status) == (201, 200, 422)
    assert first.body["id"] == repeated.body["id"]
    assert len(client.items("/tasks")) == 1


def test_a_key_repeated_after_the_run_creates_nothing(client: StackClient) -> None:
    headers = {"idempotency-key": "k1"}
    client.call("POST", "/tasks", {**VALID_BODY, "in": "5s"}, headers=headers)
    client.advance("1m")
    repeated = client.call("POST", "/tasks", {**VALID_BODY, "in": "5s"}, headers=headers)
    client.advance("1m")

    assert (repeated.status, repeated.body["status"], len(client.outbox())) == (200, "delivered", 1)


def test_a_key_repeated_after_the_due_time_returns_the_task(client: StackClient) -> None:
    body = {"description": "stretch", "due_at": "2026-02-17T12:00:05Z"}
    first = client.call("POST", "/tasks", body, headers={"idempotency-key": "k1"})
    client.advance("10s")
    repeated = client.call("POST", "/tasks", body, headers={"idempotency-key": "k1"})
    other = {**body, "description": "walk"}
    refused = client.call("POST", "/tasks", other, headers={"idempotency-key": "k1"})

    assert (repeated.status, repeated.body["id"]) == (200, first.body["id"])
    assert refused.status == 422


@pytest.mark.parametrize("field", ["due_at", "in", "description", "timezone", "payload", "policy"])
def test_a_null_field_is_refused(client: StackClient, field: str) -> None:
    task = client.create(**{"in": "1h"})

    answer = client.call("PATCH", f"/tasks/{task['id']}", {field: None})

    assert (answer.status, answer.body["errors"][0]["field"]) == (422, field)
    assert client.task(task["id"])["version"] == 1


def test_a_payload_of_exactly_32_kib_is_accepted(client: StackClient) -> None:
    payload = {"spec": "x" * (32 * 1024 - len('{"spec":""}'))}

    assert client.create(payload=payload, **{"in": "1h"})["payload"] == payload


def test_paging_lists_every_task_once(client: StackClient) -> None:
    created = [client.create(**{"in": "1h"})["id"] for _ in range(25)]
    listed, cursor = [], ""
    while cursor is not None:
        page = client.call("GET", f"/tasks?limit=4{cursor and '&cursor=' + cursor}").body
        listed += [task["id"] for task in page["items"]]
        cursor = page["next_cursor"]

    assert sorted(listed) == sorted(created)


def test_a_listing_can_be_filtered(client: StackClient) -> None:
    client.create(sender_id="ada", **{"in": "10s"})
    task_of_bob = client.create(sender_id="bob", **{"in": "1h"})
    client.advance("1m")

    assert [task["id"] for task in client.items("/tasks?sender_id=bob&channel=console")] == [
        task_of_bob["id"]
    ]
    assert [task["status"] for task in client.items("/tasks?status=delivered")] == ["delivered"]
    assert client.items("/tasks?type=action") == []
    assert len(client.items("/tasks?type=&status=&sender_id=&channel=&limit=&cursor=")) == 2


def test_a_prefix_of_an_id_finds_the_task(client: StackClient) -> None:
    task = client.create(**{"in": "1h"})

    assert client.task(task["short_id"])["id"] == task["id"]
    assert client.task(task["id"][:12])["id"] == task["id"]


def test_a_rescheduled_task_runs_at_its_new_time_only(client: StackClient) -> None:
    task = client.create(**{"in": "20s"})
    patched = client.call("PATCH", f"/tasks/{task['id']}", {"in": "40s", "description": "tea"})
    client.advance("2m")

    assert patched.status == 200
    assert [(sent["text"], sent["at"]) for sent in client.outbox()] == [
        ("Reminder: tea", "2026-02-17T12:00:40.000Z")
    ]


def test_an_edit_of_a_finished_task_is_refused(client: StackClient) -> None:
    task = client.create(**{"in": "1s"})
    client.advance("1m")

    for method, target in [
        ("PATCH", ""),
        ("POST", "/cancel"),
        ("POST", "/pause"),
        ("POST", "/run"),
    ]:
        body = {"description": "x"} if method == "PATCH" else None
        assert client.call(method, f"/tasks/{task['id']}{target}", body).status == 409


def test_cancel_is_idempotent_and_final(client: StackClient) -> None:
    task = client.create(**{"in": "20s"})
    answers = [client.call("POST", f"/tasks/{task['id']}/cancel") for _ in range(2)]
    client.advance("1m")

    assert [(answer.status, answer.body["status"]) for answer in answers] == [
        (200, "cancelled"),
        (200, "cancelled"),
    ]
    assert client.outbox() == []


def test_a_paused_task_waits_until_it_is_resumed(client: StackClient) -> None:
    task = client.create(**{"in": "20s"})
    client.call("POST", f"/tasks/{task['id']}/pause")
    client.advance("1h")
    assert client.outbox() == []

    client.call("POST", f"/tasks/{task['id']}/resume")
    client.advance("1s")

    assert len(client.outbox()) == 1


def test_a_resumed_series_goes_on_with_its_next_occurrence(client: StackClient) -> None:
    task = client.create(due_at="2026-02-17T15:00:00Z", repeat="daily")
    client.call("POST", f"/tasks/{task['id']}/pause")
    client.advance("3d")
    resumed = client.call("POST", f"/tasks/{task['id']}/resume").body

    assert resumed["due_at"] == "2026-02-20T15:00:00.000Z"
    [skipped] = [
        event
        for event in client.items(f"/tasks/{task['id']}/history")
        if event["type"] == "task:skipped"
    ]
    assert (skipped["detail"]["count"], skipped["detail"]["reason"]) == (3, "paused")


def test_run_starts_the_task_at_once(client: StackClient) -> None:
    task = client.create(**{"in": "7d"})
    client.call("POST", f"/tasks/{task['id']}/run")
    client.advance("1s")

    assert client.task(task["id"])["status"] == "delivered"
    assert len(client.outbox()) == 1


def test_a_reset_leaves_an_empty_system(client: StackClient) -> None:
    client.create(**{"in": "20s"})
    client.call("POST", "/_local/reset")
    client.advance("1m")

    assert (client.items("/tasks"), client.outbox()) == ([], [])
    client.create(**{"in": "20s"})
    client.advance("1m")
    assert len(client.outbox()) == 1
