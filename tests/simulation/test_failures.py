"""Failures end to end: how a provider's error changes the task, its subject and its due time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from duecourse.app import services
from duecourse.domain.lifecycle.retry_throttle import RetryLimit
from duecourse.domain.time.instant import from_text

from tests.support.stack_client import StackClient, running_stack

SUCCESS = {"reply": "All done.\nACTION_OUTCOME: success"}
REFUSED = {"error": {"message": "connect ECONNREFUSED 127.0.0.1:5432", "code": "ECONNREFUSED"}}
TYPE_ERROR = {"error": {"message": 'file.ts(45,12): error TS2304: Cannot find name "foo"'}}
NO_JSON = {"error": {"message": "JSON parse failed: Expecting value: line 1 column 1 (char 0)"}}
OVER_BUDGET = {"error": {"message": "Daily budget exceeded", "code": "budget_exceeded"}}
RATE_LIMITED = {"error": {"message": "Too Many Requests", "status": 429, "retry_after": 90}}


def create_action(client: StackClient, *script: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Create an action due in ten seconds that the scripted provider answers."""
    payload = {"provider": "scripted", "script": list(script), **fields.pop("payload", {})}
    return client.create(type="action", payload=payload, **{"in": "10s"}, **fields)


def retry_delay_of(task: dict[str, Any], since: str = "2026-02-17T12:00:10Z") -> timedelta:
    return from_text(task["next_retry_at"]) - from_text(since)


def is_within_jitter(delay: timedelta, seconds: float) -> bool:
    """Whether the delay is that long, plus a jitter of at most a tenth."""
    return timedelta(seconds=seconds) <= delay <= timedelta(seconds=1.1 * seconds)


def only_error_of(client: StackClient, task: dict[str, Any]) -> dict[str, Any]:
    [error] = client.items(f"/tasks/{task['id']}/errors")
    return error


def test_an_action_that_succeeds_is_completed(client: StackClient) -> None:
    task = create_action(client, SUCCESS)
    client.advance("10s")

    after = client.task(task["id"])
    assert (after["status"], after["policy"], after["retry_count"]) == ("completed", "agent", 0)
    assert client.items(f"/tasks/{task['id']}/errors") == []


def test_a_refused_connection_is_transient_and_retried_in_30_seconds(
    client: StackClient,
) -> None:
    task = create_action(client, REFUSED, SUCCESS)
    client.advance("11s")
    waiting = client.task(task["id"])
    client.advance("40s")

    assert (waiting["status"], waiting["retry_count"]) == ("pending", 1)
    assert waiting["last_error_category"] == "transient"
    assert waiting["recovery_action"] == "retry_with_guidance"
    assert is_within_jitter(retry_delay_of(waiting), 30)
    assert waiting["due_at"] == waiting["next_retry_at"]
    assert client.task(task["id"])["status"] == "completed"


def test_a_compile_error_has_its_location(client: StackClient) -> None:
    task = create_action(client, TYPE_ERROR)
    client.advance("11s")
    error = only_error_of(client, task)

    assert client.task(task["id"])["last_error_category"] == "code_error"
    assert error["location"] == {"file": "file.ts", "line": 45}
    assert error["confidence"] >= 0.8
    assert is_within_jitter(retry_delay_of(client.task(task["id"])), 120)


def test_guidance_is_stored_beside_the_description(client: StackClient) -> None:
    task = create_action(client, TYPE_ERROR, description="fix the build")
    client.advance("11s")

    after = client.task(task["id"])
    assert after["description"] == "fix the build"
    assert "file.ts, line 45" in after["guidance"][0]


def test_the_last_retry_escalates_to_a_person(client: StackClient) -> None:
    task = create_action(client, TYPE_ERROR)
    client.advance("1h")

    after = client.task(task["id"])
    assert (after["status"], after["recovery_action"]) == ("blocked", "escalate_to_human")
    assert (after["retry_count"], after["next_retry_at"]) == (4, None)
    events = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
    assert events.count("task:retry_scheduled") == 3
    assert events[-1] == "task:escalated"


def test_a_failure_after_unblock_blocks_permanently(client: StackClient) -> None:
    task = create_action(client, TYPE_ERROR)
    client.advance("1h")

    assert client.call("POST", f"/tasks/{task['id']}/unblock").body["status"] == "pending"
    client.advance("1m")
    after = client.task(task["id"])
    assert (after["status"], after["recovery_action"]) == ("blocked", "mark_as_blocked")


def test_retry_of_a_blocked_task_resets_the_retry_count(client: StackClient) -> None:
    task = create_action(client, TYPE_ERROR, TYPE_ERROR, TYPE_ERROR, TYPE_ERROR, SUCCESS)
    client.advance("1h")

    assert client.call("POST", f"/tasks/{task['id']}/retry").body["retry_count"] == 0
    client.advance("1m")
    assert client.task(task["id"])["status"] == "completed"
    runs = client.items(f"/tasks/{task['id']}/runs")
    assert [run["attempt"] for run in runs] == [1, 2, 3, 4, 5]
    assert [run["retry_of"] for run in runs[1:]] == [run["id"] for run in runs[:-1]]


def test_the_third_code_error_requests_a_spec_review(client: StackClient) -> None:
    task = create_action(client, TYPE_ERROR, payload={"spec": "a page of words"})
    client.advance("15m")

    after = client.task(task["id"])
    assert (after["status"], after["recovery_action"]) == ("blocked", "retry_with_spec_refresh")


def test_three_json_parse_errors_fail_the_task_and_its_subject(client: StackClient) -> None:
    task = create_action(client, NO_JSON, subject="story-1", policy="enrichment")
    counts = []
    for wait in ("1m", "14h", "14h"):
        client.advance(wait)
        subject = client.call("GET", "/subjects/story-1").body
        counts.append((subject["failure_count"], subject["status"]))

    assert counts == [(1, "pending"), (2, "pending"), (3, "permanent_failure")]
    after = client.task(task["id"])
    assert (after["status"], after["last_error_category"]) == ("failed", "json_parse")
    assert (after["retry_count"], after["next_retry_at"]) == (3, None)


def test_three_days_over_budget_count_no_retry(client: StackClient) -> None:
    client.call("PUT", "/budgets/daily", {"limit": 0})
    task = create_action(client, SUCCESS, subject="story-1", payload={"budget": "daily"})
    client.advance("11s")
    for day in ("2026-02-18", "2026-02-19", "2026-02-20"):
        waiting = client.task(task["id"])
        subject = client.call("GET", "/subjects/story-1").body
        assert (waiting["status"], waiting["retry_count"]) == ("pending", 0)
        assert (subject["failure_count"], subject["status"]) == (0, None)
        assert waiting["next_retry_at"] == f"{day}T00:00:00.000Z"
        if day == "2026-02-20":
            client.call("PUT", "/budgets/daily", {"limit": 1})
        client.advance("24h")

    subject = client.call("GET", "/subjects/story-1").body
    assert (client.task(task["id"])["status"], subject["status"]) == ("completed", "success")
    runs = client.items(f"/tasks/{task['id']}/runs")
    assert [run["status"] for run in runs] == ["paused:budget"] * 3 + ["committed"]


def test_retry_after_of_the_provider_replaces_the_policy_delay(client: StackClient) -> None:
    task = create_action(client, RATE_LIMITED, SUCCESS, subject="story-1", policy="enrichment")
    client.advance("11s")
    waiting = client.task(task["id"])
    client.advance("2m")

    assert waiting["last_error_category"] == "rate_limit"
    assert is_within_jitter(retry_delay_of(waiting), 90)
    assert client.task(task["id"])["status"] == "completed"


def test_a_success_clears_the_failures_of_the_subject(client: StackClient) -> None:
    create_action(client, NO_JSON, SUCCESS, subject="story-1", policy="enrichment")
    client.advance("14h")

    assert client.call("GET", "/subjects/story-1").body == {
        "id": "story-1",
        "failure_count": 0,
        "status": "success",
        "last_error_category": None,
        "last_error_kind": None,
        "last_error_clears_by": None,
        "last_error_message": None,
        "last_attempt_at": client.items("/tasks")[0]["delivered_at"],
        "cooldown_until": None,
    }


def test_another_task_of_the_subject_waits_for_the_cooldown(client: StackClient) -> None:
    create_action(client, NO_JSON, SUCCESS, subject="story-1", policy="enrichment")
    client.advance("1m")
    other = create_action(client, SUCCESS, subject="story-1", policy="enrichment")
    client.advance("1h")
    waiting = client.task(other["id"])

    assert (waiting["status"], waiting["retry_count"]) == ("pending", 0)
    assert "2026-02-18T00:00:10.000Z" <= waiting["due_at"] < "2026-02-18T01:12:00.000Z"
    assert waiting["wait"] == "subject_cooldown"
    assert waiting["wait_detail"] == {"subject": "story-1"}
    assert waiting["wait_until"] == waiting["due_at"]
    client.advance("13h")
    assert client.task(other["id"])["status"] == "completed"


def test_a_permanently_failed_subject_needs_a_reset(
    client: StackClient,
) -> None:
    violation = {
        "error": {"message": "content policy violation", "code": "content_policy_violation"}
    }
    create_action(client, violation, subject="story-1", policy="enrichment")
    client.advance("1m")
    refused = create_action(client, SUCCESS, subject="story-1", policy="enrichment")
    client.advance("1m")
    call_count = client.stack.calls.counts["worker", "provider.call"]

    after = client.task(refused["id"])
    assert (after["status"], call_count) == ("failed", 1)
    assert "reset the subject first" in after["last_error"]
    assert client.call("POST", "/subjects/story-1/reset").body["status"] is None
    assert client.call("POST", f"/tasks/{refused['id']}/retry").status == 200
    client.advance("1m")
    assert client.task(refused["id"])["status"] == "completed"


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_api_key_does_not_count_against_the_subject(
    client: StackClient, status: int
) -> None:
    denied = {"error": {"message": "Incorrect API key provided", "status": status}}
    task = create_action(client, denied, subject="story-1", policy="enrichment")
    client.advance("1m")

    assert client.task(task["id"])["retry_count"] == 1
    subject = client.call("GET", "/subjects/story-1").body
    assert (subject["failure_count"], subject["status"]) == (0, None)


def test_a_reply_without_an_outcome_marker_is_a_failure(client: StackClient) -> None:
    task = create_action(client, {"reply": "I think it worked"})
    client.advance("1m")

    after = client.task(task["id"])
    assert (after["status"], after["last_error_category"]) == ("pending", "unknown")


def test_a_reported_failure_is_classified_like_an_error(client: StackClient) -> None:
    reply = "I tried.\nACTION_OUTCOME: failed | npm ERR! code ENOSPC: no space left on device"
    task = create_action(client, {"reply": reply})
    client.advance("1m")

    after = client.task(task["id"])
    assert after["last_error_category"] == "resource_exhaustion"
    assert after["last_error"] == "npm ERR! code ENOSPC: no space left on device"


def test_secrets_in_errors_are_not_stored(client: StackClient) -> None:
    leak = "401 for https://user:hunter2@host/ with api_key=sk-abcdef123456"
    task = create_action(client, {"error": {"message": leak}}, subject="s", policy="enrichment")
    client.advance("1m")

    stored_texts = [
        client.task(task["id"])["last_error"],
        client.call("GET", "/subjects/s").body["last_error_message"],
        only_error_of(client, task)["message"],
        str(client.items(f"/tasks/{task['id']}/history")),
        str(client.items(f"/tasks/{task['id']}/runs")),
    ]
    assert not [text for text in stored_texts if "hunter2" in text or "sk-abcdef" in text]


def test_a_task_over_budget_waits_for_the_next_day(client: StackClient) -> None:
    client.call("PUT", "/budgets/daily", {"limit": 0.01})
    payload = {"budget": "daily", "max_cost": 0.004}
    tasks = [create_action(client, SUCCESS, payload=payload) for _ in range(3)]
    client.advance("1m")

    states = sorted(client.task(task["id"])["status"] for task in tasks)
    budget = client.call("GET", "/budgets/daily").body
    assert states == ["completed", "completed", "pending"]
    assert (budget["spend"], budget["reserved"], budget["calls"]) == (0.008, 0, 2)
    client.advance("24h")
    assert {client.task(task["id"])["status"] for task in tasks} == {"completed"}


def test_a_task_created_over_budget_has_a_wait_reason(client: StackClient) -> None:
    client.call("PUT", "/budgets/daily", {"limit": 0})
    task = create_action(client, SUCCESS, payload={"budget": "daily"})

    assert (task["wait"], task["wait_detail"]) == ("budget", {"budget": "daily"})
    client.call("PUT", "/budgets/daily", {"limit": 1})
    assert create_action(client, SUCCESS, payload={"budget": "daily"})["wait"] is None


def test_two_hundred_failures_on_one_subject_are_all_counted(client: StackClient) -> None:
    for _ in range(200):
        create_action(client, NO_JSON, subject="story-1", policy="enrichment")
    client.advance("1m")

    assert client.call("GET", "/subjects/story-1").body["failure_count"] == 200


@pytest.fixture
def throttled_client(monkeypatch: pytest.MonkeyPatch) -> Iterator[StackClient]:
    """Each of the four shards may start one retry a minute."""
    limit = RetryLimit(pending=1, per_minute=4, shard_count=4)
    with running_stack(shard_count=limit.shard_count) as client:
        monkeypatch.setattr(services, "_retry_limit", lambda: limit)
        services.failure_deps.cache_clear()
        yield client


def test_excess_retries_are_throttled_and_first_attempts_are_not(
    throttled_client: StackClient,
) -> None:
    client = throttled_client
    unknown_error = {"error": {"message": "the frobnicator is unhappy"}}
    for _ in range(12):
        create_action(client, unknown_error, SUCCESS)
    client.advance("11s")
    first = create_action(client, SUCCESS)
    client.advance("11s")

    assert client.task(first["id"])["status"] == "completed"
    times = [from_text(item["next_retry_at"]) for item in client.items("/retries?limit=100")]
    first_minute = [at for at in times if at < min(times) + timedelta(minutes=1)]
    assert len(times) == 12
    assert len(first_minute) <= 4
    client.advance("20m")
    assert client.items("/retries") == []


@pytest.mark.parametrize(
    "subject", ["owner/repository", "https://a.b/c?d", "Überschrift 7", "x/reset"]
)
def test_a_subject_may_have_any_name(client: StackClient, subject: str) -> None:
    create_action(client, NO_JSON, subject=subject, policy="enrichment")
    client.advance("1m")

    target = f"/subjects/{quote(subject, safe='')}"
    assert client.call("GET", target).body["failure_count"] == 1
    assert client.call("POST", f"{target}/reset").body["failure_count"] == 0


def test_failures_reported_in_replies_do_not_open_the_circuit_breaker(client: StackClient) -> None:
    """A failure that the reply reports is not an outage of the provider."""
    reply = "I tried.\nACTION_OUTCOME: failed | connect ECONNREFUSED 10.0.0.5:5432"
    for _ in range(12):
        create_action(client, {"reply": reply})
    client.advance("1m")

    assert client.stack.calls.counts["worker", "provider.call"] >= 12
    assert {breaker["state"] for breaker in client.items("/breakers")} <= {"closed"}


def test_an_unreadable_budget_defers_the_run_without_counting(
    client: StackClient,
) -> None:
    task = create_action(client, SUCCESS, subject="s", payload={"budget": "daily"})
    client.add_fault(function="worker", call="dynamodb.UpdateItem", kind="throttle", times=4)
    client.advance("20s")
    waiting, subject = client.task(task["id"]), client.call("GET", "/subjects/s").body
    call_count = client.stack.calls.counts["worker", "provider.call"]
    client.advance("2m")

    assert (waiting["status"], waiting["retry_count"], call_count) == ("pending", 0, 0)
    assert (subject["failure_count"], subject["cooldown_until"]) == (0, None)
    assert client.task(task["id"])["status"] == "completed"


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_cost_that_cannot_be_settled_does_not_fail_the_task(
    client: StackClient, when: str
) -> None:
    task = create_action(client, SUCCESS, payload={"budget": "daily"})
    client.advance("1s")
    client.add_fault(
        function="worker", call="dynamodb.UpdateItem", kind="error", nth=2, times=4, when=when
    )
    client.advance("1h")

    assert client.task(task["id"])["status"] == "completed"
    assert client.stack.calls.counts["worker", "provider.call"] == 1


def test_an_injected_provider_error_keeps_all_its_fields(client: StackClient) -> None:
    error = {"message": "slow down", "status": 429, "code": "rate_limit_exceeded"}
    client.add_fault(
        function="worker", call="provider.call", kind="error", error={**error, "retry_after": 90}
    )
    task = create_action(client, SUCCESS, subject="s", policy="enrichment")
    client.advance("11s")
    logged = only_error_of(client, task)

    assert (logged["status"], logged["code"]) == (429, "rate_limit_exceeded")
    assert is_within_jitter(retry_delay_of(client.task(task["id"])), 90)


def test_retry_of_an_occurrence_continues_its_run_chain(
    client: StackClient,
) -> None:
    task = create_action(client, REFUSED, SUCCESS, repeat="daily")
    client.advance("11s")
    assert client.call("POST", f"/tasks/{task['id']}/retry").status == 200
    client.advance("1s")

    first, second = client.items(f"/tasks/{task['id']}/runs")
    assert (second["retry_of"], second["attempt"]) == (first["id"], 2)
    assert second["mutation"]["key"] == first["mutation"]["key"]


def test_a_circuit_breaker_closes_when_its_retries_succeed(client: StackClient) -> None:
    for _ in range(10):
        create_action(client, REFUSED, SUCCESS)
    client.advance("1h")

    types = [event["type"] for event in client.items("/breakers/scripted/history")]
    assert types == ["breaker:opened", "breaker:closed"]


def test_a_throttled_retry_has_a_wait_reason(throttled_client: StackClient) -> None:
    """Of five tasks, two at least share a shard."""
    client = throttled_client
    unknown_error = {"error": {"message": "the frobnicator is unhappy"}}
    tasks = [create_action(client, unknown_error, SUCCESS) for _ in range(5)]
    client.advance("11s")

    pending = [client.task(task["id"]) for task in tasks]
    throttled = [task["wait_detail"] for task in pending if task["wait"] == "retry_throttle"]
    assert throttled
    assert all(detail == {"limit": 1} for detail in throttled)


def test_a_task_waiting_for_its_budget_has_a_wait_reason(client: StackClient) -> None:
    client.call("PUT", "/budgets/daily", {"limit": 0})
    task = create_action(client, SUCCESS, payload={"budget": "daily"})
    later = client.create(
        type="action",
        payload={"provider": "scripted", "script": [SUCCESS], "budget": "daily"},
        **{"in": "3d"},
    )
    client.advance("11s")

    waiting = client.task(task["id"])
    assert (waiting["wait"], waiting["wait_detail"]["budget"]) == ("budget", "daily")
    assert waiting["wait_text"].startswith("budget daily has 0 of 0 dollars left")
    assert later["wait"] is None, "by then the budget has been reset"


@pytest.mark.parametrize("action", ["run", "retry"])
def test_run_and_retry_skip_the_cooldown_of_the_subject(client: StackClient, action: str) -> None:
    task = create_action(client, NO_JSON, SUCCESS, subject="story-1", policy="enrichment")
    client.advance("11s")
    assert client.call("POST", f"/tasks/{task['id']}/{action}").status == 200
    client.advance("1s")

    assert client.task(task["id"])["status"] == "completed"
