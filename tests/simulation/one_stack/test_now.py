"""`GET /now` and `GET /budgets` of a running stack: what is going on."""

from __future__ import annotations

import pytest
from duecourse.app import stores
from duecourse.domain.time.instant import from_text, to_text

from functions.api.http import responses
from tests.simulation.every_state import DOWN, in_every_state
from tests.support.builders.moments import DAY, HOUR
from tests.support.builders.tasks import a_task, claim_task
from tests.support.stack_client import StackClient

LISTS = ("due_soon", "running", "retries", "needs_person", "breakers", "budgets")


def now(client: StackClient) -> dict[str, list[dict[str, str]]]:
    answer = client.call("GET", "/now", token="local-read")
    assert answer.status == 200, answer.body
    return dict(answer.body)


def test_an_empty_system_has_a_time_and_nothing_else(client: StackClient) -> None:
    told = client.call("GET", "/now").body
    assert told.pop("now") == client.call("GET", "/_local/clock").body["now"]
    assert told == {name: [] for name in LISTS}
    assert client.items("/budgets") == []


def test_a_task_of_every_state_is_where_one_looks_for_it(client: StackClient) -> None:
    tasks = in_every_state(client)
    told = now(client)
    ids = {name: [task["id"] for task in told[name]] for name in LISTS[:4]}

    assert set(ids["due_soon"]) == {tasks[name] for name in ("waiting", "repeating")}
    assert ids["retries"] == [tasks["retried"]]
    assert ids["needs_person"] == [tasks[name] for name in ("blocked", "in doubt", "to verify")]
    assert ids["running"] == []
    assert told["due_soon"] == [client.task(task_id) for task_id in ids["due_soon"]]
    assert told["retries"] == client.items("/retries")
    assert told["breakers"] == client.items("/breakers")


def test_what_runs_tells_when_it_began(client: StackClient) -> None:
    at = client.stack.clock.now()
    task = claim_task(a_task(due_at=at - HOUR), at=at)
    stores.task_store().create(task)

    assert now(client)["running"] == [{**client.task(task.id), "started_at": to_text(at)}]


def test_what_is_blocked_tells_until_when_somebody_may_answer(client: StackClient) -> None:
    tasks = in_every_state(client)
    told = {task["id"]: task["blocked_until"] for task in now(client)["needs_person"]}
    blocked = client.task(tasks["blocked"])
    last = client.items(f"/tasks/{blocked['id']}/runs")[-1]

    assert from_text(told[tasks["blocked"]]) == from_text(last["ended_at"]) + DAY
    assert [name for name in ("in doubt", "to verify") if told[tasks[name]]] == []
    assert blocked["blocked_until"] == told[tasks["blocked"]]
    [listed] = client.items("/tasks?status=blocked&search=" + blocked["id"])
    assert listed["blocked_until"] == told[tasks["blocked"]]


def test_what_a_person_answered_is_no_more_in_need_of_one(client: StackClient) -> None:
    tasks = in_every_state(client)
    assert client.call("POST", f"/tasks/{tasks['to verify']}/approve").status == 200
    assert client.call("POST", f"/tasks/{tasks['blocked']}/cancel").status == 200
    assert [task["id"] for task in now(client)["needs_person"]] == [tasks["in doubt"]]


def test_the_budgets_of_today_are_listed(client: StackClient) -> None:
    payload = {"provider": "scripted", "script": [DOWN], "budget": "daily"}
    client.create(type="action", payload=payload, **{"in": "1s"})
    client.advance("5s")
    assert client.call("PUT", "/budgets/other", {"limit": 2}).status == 200

    listed = client.items("/budgets")
    assert [budget["name"] for budget in listed] == ["daily", "other"]
    assert listed == [client.call("GET", f"/budgets/{name}").body for name in ("daily", "other")]
    assert now(client)["budgets"] == listed


def test_large_tasks_make_the_lists_shorter(
    client: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("functions.api.routes.now.MAX_RESPONSE_SIZE", 40_000)
    for _ in range(5):
        client.create(payload={"spec": "x" * 3_000}, **{"in": "5h"})
    assert len(now(client)["due_soon"]) == 2
    assert responses.MAX_RESPONSE_SIZE > 40_000


@pytest.mark.parametrize("query", ["?x=1", "?limit=5"])
def test_a_parameter_that_is_not_known_is_refused(shared: StackClient, query: str) -> None:
    for path in ("/now", "/budgets"):
        assert shared.call("GET", path + query).status == 422
