"""`GET /now` and `GET /budgets` of a running stack."""

from __future__ import annotations

import pytest
from duecourse.app import stores
from duecourse.domain.time.instant import from_text, to_text

from functions.api.http import responses
from tests.simulation.tasks_in_every_state import DOWN, create_in_every_state
from tests.support.builders.moments import DAY, HOUR
from tests.support.builders.tasks import a_task, claim_task
from tests.support.stack_client import StackClient

LISTS = ("due_soon", "running", "retries", "needs_person", "breakers", "budgets")


def get_now(client: StackClient) -> dict[str, list[dict[str, str]]]:
    answer = client.call("GET", "/now", token="local-read")
    assert answer.status == 200, answer.body
    return dict(answer.body)


def test_an_empty_system_has_only_the_time(client: StackClient) -> None:
    body = client.call("GET", "/now").body
    assert body.pop("now") == client.call("GET", "/_local/clock").body["now"]
    assert body == {name: [] for name in LISTS}
    assert client.items("/budgets") == []


def test_each_list_has_the_tasks_of_its_states(client: StackClient) -> None:
    tasks = create_in_every_state(client)
    body = get_now(client)
    ids = {name: [task["id"] for task in body[name]] for name in LISTS[:4]}

    assert set(ids["due_soon"]) == {tasks[name] for name in ("waiting", "repeating")}
    assert ids["retries"] == [tasks["retried"]]
    assert ids["needs_person"] == [
        tasks[name] for name in ("blocked", "indeterminate", "to verify")
    ]
    assert ids["running"] == []
    assert body["due_soon"] == [client.task(task_id) for task_id in ids["due_soon"]]
    assert body["retries"] == client.items("/retries")
    assert body["breakers"] == client.items("/breakers")


def test_a_running_task_has_its_start_time(client: StackClient) -> None:
    at = client.stack.clock.now()
    task = claim_task(a_task(due_at=at - HOUR), at=at)
    stores.task_store().create(task)

    assert get_now(client)["running"] == [{**client.task(task.id), "started_at": to_text(at)}]


def test_a_blocked_task_has_the_time_it_fails_at(client: StackClient) -> None:
    tasks = create_in_every_state(client)
    blocked_until = {task["id"]: task["blocked_until"] for task in get_now(client)["needs_person"]}
    blocked = client.task(tasks["blocked"])
    last_run = client.items(f"/tasks/{blocked['id']}/runs")[-1]

    assert from_text(blocked_until[tasks["blocked"]]) == from_text(last_run["ended_at"]) + DAY
    assert [name for name in ("indeterminate", "to verify") if blocked_until[tasks[name]]] == []
    assert blocked["blocked_until"] == blocked_until[tasks["blocked"]]
    [listed] = client.items("/tasks?status=blocked&search=" + blocked["id"])
    assert listed["blocked_until"] == blocked_until[tasks["blocked"]]


def test_an_answered_task_leaves_needs_person(client: StackClient) -> None:
    tasks = create_in_every_state(client)
    assert client.call("POST", f"/tasks/{tasks['to verify']}/approve").status == 200
    assert client.call("POST", f"/tasks/{tasks['blocked']}/cancel").status == 200
    assert [task["id"] for task in get_now(client)["needs_person"]] == [tasks["indeterminate"]]


def test_the_budgets_of_today_are_listed(client: StackClient) -> None:
    payload = {"provider": "scripted", "script": [DOWN], "budget": "daily"}
    client.create(type="action", payload=payload, **{"in": "1s"})
    client.advance("5s")
    assert client.call("PUT", "/budgets/other", {"limit": 2}).status == 200

    listed = client.items("/budgets")
    assert [budget["name"] for budget in listed] == ["daily", "other"]
    assert listed == [client.call("GET", f"/budgets/{name}").body for name in ("daily", "other")]
    assert get_now(client)["budgets"] == listed


def test_large_tasks_shorten_the_lists(
    client: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("functions.api.routes.now.MAX_RESPONSE_SIZE", 40_000)
    for _ in range(5):
        client.create(payload={"spec": "x" * 3_000}, **{"in": "5h"})
    assert len(get_now(client)["due_soon"]) == 2
    assert responses.MAX_RESPONSE_SIZE > 40_000


@pytest.mark.parametrize("query", ["?x=1", "?limit=5"])
def test_an_unknown_parameter_is_refused(shared: StackClient, query: str) -> None:
    for path in ("/now", "/budgets"):
        assert shared.call("GET", path + query).status == 422
