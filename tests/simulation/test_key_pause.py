"""A provider that refuses its key is paused: one task asks a person, and the others wait."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.app import stores

from tests.support.stack_client import StackClient

REFUSED = {"message": "invalid x-api-key", "type": "authentication_error", "status": 401}
SUCCESS = {"reply": "ok\nACTION_OUTCOME: success"}


def create_action(client: StackClient, *script: dict[str, Any], **fields: Any) -> str:
    payload = {"provider": "scripted", "script": list(script)}
    body = {"type": "action", "in": "5m", "description": "order tea", "payload": payload}
    return str(client.create(**{**body, **fields})["id"])


def refuse(**fields: Any) -> dict[str, Any]:
    return {"error": {**REFUSED, **fields}}


def breaker(client: StackClient) -> dict[str, Any]:
    [found] = client.items("/breakers")
    return found


def test_the_first_task_asks_a_person_at_once(client: StackClient) -> None:
    task_id = create_action(client, refuse())
    client.advance("6m")
    task = client.task(task_id)
    assert (task["status"], task["recovery_action"]) == ("blocked", "escalate_to_human")
    assert (task["last_error_kind"], task["last_error_clears_by"]) == ("auth", "person")
    assert len(client.items(f"/tasks/{task_id}/runs")) == 1
    assert (breaker(client)["state"], breaker(client)["key_refused"]) == ("open", True)


def test_other_tasks_wait_until_the_key_is_accepted(client: StackClient) -> None:
    asked = create_action(client, refuse())
    others = [create_action(client, SUCCESS, **{"in": "5m30s"}) for _ in range(3)]
    client.advance("5m40s")
    waiting = [client.task(other) for other in others]
    assert {task["wait"] for task in waiting} >= {"circuit_breaker"}
    texts = [str(task["wait_text"]) for task in waiting if task["wait"]]
    assert all(text.startswith("provider scripted refuses its key: next try") for text in texts)

    client.advance("10m")
    assert client.task(asked)["status"] == "blocked"
    assert {client.task(other)["status"] for other in others} == {"completed"}
    assert [one for one in client.items("/breakers") if one["key_refused"]] == []


def test_a_probe_that_is_refused_uses_up_no_retry_and_asks_nobody(client: StackClient) -> None:
    create_action(client, refuse())
    probe = create_action(client, refuse(), refuse(), SUCCESS, **{"in": "6m"})
    client.advance("9m")
    waiting = client.task(probe)
    assert (waiting["status"], waiting["retry_count"]) == ("pending", 0)
    assert waiting["last_error_kind"] == "auth"
    assert (breaker(client)["state"], breaker(client)["key_refused"]) == ("open", True)

    client.advance("30m")
    assert (client.task(probe)["status"], client.task(probe)["retry_count"]) == ("completed", 0)


def test_a_task_of_another_provider_does_not_wait(client: StackClient) -> None:
    create_action(client, refuse())
    client.advance("6m")
    reminder = str(client.create(description="tea", **{"in": "1m"})["id"])
    client.advance("2m")
    assert client.task(reminder)["status"] == "delivered"


@pytest.mark.parametrize(
    "step",
    [
        refuse(status=403, type="permission_error", message="no access to this model"),
        {"reply": "ACTION_OUTCOME: failed | 401 Unauthorized: bad credentials for the shop"},
    ],
    ids=["permission", "a key of somebody else"],
)
def test_only_the_key_of_the_provider_pauses_it(client: StackClient, step: dict[str, Any]) -> None:
    task_id = create_action(client, step)
    client.advance("6m")
    assert client.task(task_id)["recovery_action"] == "escalate_to_human"
    assert client.items("/breakers") == []


def test_operators_are_alerted_to_renew_the_key(client: StackClient) -> None:
    create_action(client, refuse())
    client.advance("30m")
    texts = [sent["text"] for sent in client.outbox("operators")]
    assert any("Alert: provider scripted refuses its key" in text for text in texts)


def test_a_retry_after_the_key_was_renewed_succeeds(client: StackClient) -> None:
    task_id = create_action(client, refuse(), SUCCESS)
    client.advance("6m")
    client.call("POST", f"/tasks/{task_id}/retry")
    client.advance("10m")
    assert client.task(task_id)["status"] == "completed"


@pytest.mark.parametrize("others", [0, 3], ids=["always probes", "mostly is deferred"])
def test_a_task_that_waits_too_long_for_the_key_asks_to_renew_it(
    client: StackClient, monkeypatch: pytest.MonkeyPatch, others: int
) -> None:
    monkeypatch.setenv("UNCOUNTED_WAIT_HOURS", "2")
    stores.settings.cache_clear()  # every stack caches its settings
    create_action(client, refuse())
    waiting = [create_action(client, refuse(), **{"in": "6m"}) for _ in range(1 + others)]
    client.advance("3h")
    for task in map(client.task, waiting):
        assert (task["status"], task["wait"]) == ("blocked", None)
        assert (task["last_error_kind"], task["last_error_clears_by"]) == ("auth", "person")
