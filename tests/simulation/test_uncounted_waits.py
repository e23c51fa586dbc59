"""Only a budget of Duecourse's own uses up no retry, and no such wait lasts forever."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.app import stores
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState

from tests.simulation.test_failures import SUCCESS, create_action
from tests.support.stack_client import StackClient

FORGED_REPLY = {"reply": "ACTION_OUTCOME: failed | BudgetExceeded: the daily budget is used up"}
FORGED_CODE = {"error": {"message": "Daily budget exceeded", "code": "budget_exceeded"}}
FORGED_TYPE = {"error": {"message": "Max budget: 10.0", "type": "BudgetExceeded"}}
FORGED_STATUS = {"error": {"message": "insufficient_quota", "status": 402}}
ONE_MONTH = "30d"


def runs_of(client: StackClient, task: dict[str, Any]) -> list[dict[str, Any]]:
    return client.items(f"/tasks/{task['id']}/runs")


def texts_about(client: StackClient, part: str) -> list[str]:
    return [sent["text"] for sent in client.outbox("ada") if part in sent["text"]]


# Failures of others


@pytest.mark.parametrize(
    "failure",
    [FORGED_REPLY, FORGED_CODE, FORGED_TYPE, FORGED_STATUS],
    ids=lambda one: next(iter(one)),
)
@pytest.mark.parametrize(
    ("policy", "runs", "status"),
    [("omega", 3, "failed"), ("agent", 6, "failed"), ("enrichment", 3, "failed")],
)
def test_a_budget_failure_of_a_provider_uses_up_retries(
    client: StackClient, failure: dict[str, Any], policy: str, runs: int, status: str
) -> None:
    task = create_action(client, *[failure] * 50, policy=policy)
    client.advance(ONE_MONTH)

    assert client.task(task["id"])["status"] == status
    assert len(runs_of(client, task)) <= runs
    assert all(error["counted"] for error in client.items(f"/tasks/{task['id']}/errors"))


def test_the_category_of_a_providers_budget_failure_stays(client: StackClient) -> None:
    task = create_action(client, FORGED_REPLY, SUCCESS, policy="enrichment", subject="story-1")
    client.advance("11s")

    waiting = client.task(task["id"])
    assert (waiting["last_error_category"], waiting["wait"]) == ("budget_exceeded", "budget")
    assert (waiting["retry_count"], waiting["next_retry_at"]) == (1, "2026-02-18T00:00:00.000Z")
    assert client.call("GET", "/subjects/story-1").body["failure_count"] == 0


# Waits that end


def test_a_task_that_waits_a_week_for_its_budget_is_given_up(client: StackClient) -> None:
    client.call("PUT", "/budgets/daily", {"limit": 0})
    task = create_action(client, SUCCESS, payload={"budget": "daily"})
    client.advance("6d")
    assert (client.task(task["id"])["status"], client.task(task["id"])["wait"]) == (
        *("pending", "budget"),
    )
    client.advance("2d")

    after = client.task(task["id"])
    assert (after["status"], after["retry_count"]) == ("blocked", 0)
    assert after["last_error"].startswith("gave up after waiting 7 days: budget daily has 0 of 0")
    assert runs_of(client, task)[-1]["error"] == after["last_error"]
    [told] = texts_about(client, "gave up after waiting")
    assert f"/retry {task['short_id']}" in told
    assert " is blocked: gave up after waiting 7 days: " in told  # it was not tried
    assert "attempt" not in told


def test_a_final_failure_after_a_wait_names_no_attempts(client: StackClient) -> None:
    client.call("PUT", "/budgets/daily", {"limit": 0})
    task = create_action(client, SUCCESS, payload={"budget": "daily"}, policy="omega")
    client.advance("8d")

    assert client.task(task["id"])["status"] == "failed"
    [told] = texts_about(client, "gave up after waiting")
    assert told.startswith("Gave up on task ")
    assert "): gave up after waiting 7 days: " in told
    assert "attempt" not in told


def test_a_task_given_up_may_be_retried_and_wait_again(client: StackClient) -> None:
    client.call("PUT", "/budgets/daily", {"limit": 0})
    task = create_action(client, SUCCESS, payload={"budget": "daily"})
    client.advance("8d")
    client.call("POST", f"/tasks/{task['id']}/retry")
    client.advance("5d")
    assert client.task(task["id"])["wait"] == "budget"

    client.call("PUT", "/budgets/daily", {"limit": 1})
    client.advance("1d")
    assert client.task(task["id"])["status"] == "completed"


def test_a_series_goes_on_after_a_wait_that_was_given_up(client: StackClient) -> None:
    client.call("PUT", "/budgets/daily", {"limit": 0})
    task = create_action(client, SUCCESS, payload={"budget": "daily"}, repeat="daily")
    client.advance("193h")

    after = client.task(task["id"])
    assert (after["status"], after["wait"]) == ("pending", "budget")
    assert len(texts_about(client, "gave up after waiting 7 days")) == 1
    client.call("PUT", "/budgets/daily", {"limit": 1})
    client.advance("1d")
    assert client.task(task["id"])["delivered_at"] is not None


def test_the_limit_is_configurable(client: StackClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNCOUNTED_WAIT_HOURS", "30")
    stores.settings.cache_clear()  # every stack caches its settings
    client.call("PUT", "/budgets/daily", {"limit": 0})
    task = create_action(client, SUCCESS, payload={"budget": "daily"})
    client.advance("2d")

    assert client.task(task["id"])["last_error"].startswith("gave up after waiting 35 hours: ")


def open_breaker(*, at: datetime) -> None:
    """Open the breaker of the scripted provider for four days."""
    breaker = CircuitBreaker(
        state=CircuitState.OPEN,
        failures=10,
        opened_at=at,
        state_changed_at=at,
        state_until=at + timedelta(days=4),
    )
    store = stores.breakers()
    store.save("scripted", store.get("scripted"), breaker, None)


def test_a_task_that_waits_a_week_for_its_provider_is_given_up(client: StackClient) -> None:
    open_breaker(at=client.stack.clock.now())
    task = create_action(client, SUCCESS)
    client.advance("1m")
    deferred = client.task(task["id"])
    assert (deferred["wait"], deferred["retry_count"]) == ("circuit_breaker", 0)
    for _ in range(2):
        open_breaker(at=client.advance("92h"))
    client.advance("8h")

    after = client.task(task["id"])
    assert (after["status"], after["retry_count"]) == ("blocked", 0)
    assert after["last_error"] == "gave up after waiting 7 days: provider scripted is down"
    [run] = runs_of(client, task)
    assert (run["status"], run["mutation"]["status"]) == ("failed:permanent", None)
    assert client.stack.calls.counts["worker", "provider.call"] == 0
    assert len(texts_about(client, task["short_id"])) == 1
