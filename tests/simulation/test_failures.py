"""Failures end to end: what a provider's error does to the task, its subject and its next time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from duecourse.domain.time.instant import from_text

from tests.support.stack_client import StackClient

SUCCESS = {"reply": "All done.\nACTION_OUTCOME: success"}
REFUSED = {"error": {"message": "connect ECONNREFUSED 127.0.0.1:5432", "code": "ECONNREFUSED"}}
TYPE_ERROR = {"error": {"message": 'file.ts(45,12): error TS2304: Cannot find name "foo"'}}
NO_JSON = {"error": {"message": "JSON parse failed: Expecting value: line 1 column 1 (char 0)"}}
OVER_BUDGET = {"error": {"message": "Daily budget exceeded", "code": "budget_exceeded"}}
SLOW_DOWN = {"error": {"message": "Too Many Requests", "status": 429, "retry_after": 90}}


def an_action(client: StackClient, *script: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Due in ten seconds, carried out by the script."""
    payload = {"provider": "scripted", "script": list(script), **fields.pop("payload", {})}
    return client.create(type="action", payload=payload, **{"in": "10s"}, **fields)


def wait_of(task: dict[str, Any], since: str = "2026-02-17T12:00:10Z") -> timedelta:
    return from_text(task["next_retry_at"]) - from_text(since)


def is_about(wait: timedelta, seconds: float) -> bool:
    """Jitter is upward only, a tenth at most."""
    return timedelta(seconds=seconds) <= wait <= timedelta(seconds=1.1 * seconds)


def the_error_of(client: StackClient, task: dict[str, Any]) -> dict[str, Any]:
    [error] = client.items(f"/tasks/{task['id']}/errors")
    return error


def test_an_action_that_succeeds_is_completed(client: StackClient) -> None:
    task = an_action(client, SUCCESS)
    client.advance("10s")

    after = client.task(task["id"])
    assert (after["status"], after["policy"], after["retry_count"]) == ("completed", "agent", 0)
    assert client.items(f"/tasks/{task['id']}/errors") == []


def test_a_refused_connection_is_transient_and_tried_again_in_30_seconds(
    client: StackClient,
) -> None:
    task = an_action(client, REFUSED, SUCCESS)
    client.advance("11s")
    waiting = client.task(task["id"])
    client.advance("40s")

    assert (waiting["status"], waiting["retry_count"]) == ("pending", 1)
    assert waiting["last_error_category"] == "transient"
    assert waiting["recovery_action"] == "retry_with_guidance"
    assert is_about(wait_of(waiting), 30)
    assert waiting["due_at"] == waiting["next_retry_at"]
    assert client.task(task["id"])["status"] == "completed"


def test_a_compile_error_says_where_it_is(client: StackClient) -> None:
    task = an_action(client, TYPE_ERROR)
    client.advance("11s")
    error = the_error_of(client, task)

    assert client.task(task["id"])["last_error_category"] == "code_error"
    assert error["location"] == {"file": "file.ts", "line": 45}
    assert error["confidence"] >= 0.8
    assert is_about(wait_of(client.task(task["id"])), 120)


def test_guidance_is_kept_beside_the_persons_own_words(client: StackClient) -> None:
    task = an_action(client, TYPE_ERROR, description="fix the build")
    client.advance("11s")

    after = client.task(task["id"])
    assert after["description"] == "fix the build"
    assert "file.ts, line 45" in after["guidance"][0]


def test_the_ladder_ends_with_a_person(client: StackClient) -> None:
    task = an_action(client, TYPE_ERROR)
    client.advance("1h")

    after = client.task(task["id"])
    assert (after["status"], after["recovery_action"]) == ("blocked", "escalate_to_human")
    assert (after["retry_count"], after["next_retry_at"]) == (4, None)
    events = [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]
    assert events.count("task:retry_scheduled") == 3
    assert events[-1] == "task:escalated"


def test_a_person_unblocks_it_and_the_next_failure_is_the_last(client: StackClient) -> None:
    task = an_action(client, TYPE_ERROR)
    client.advance("1h")

    assert client.call("POST", f"/tasks/{task['id']}/unblock").body["status"] == "pending"
    client.advance("1m")
    after = client.task(task["id"])
    assert (after["status"], after["recovery_action"]) == ("blocked", "mark_as_blocked")


def test_a_person_retries_what_was_blocked_with_a_fresh_count(client: StackClient) -> None:
    task = an_action(client, TYPE_ERROR, TYPE_ERROR, TYPE_ERROR, TYPE_ERROR, SUCCESS)
    client.advance("1h")

    assert client.call("POST", f"/tasks/{task['id']}/retry").body["retry_count"] == 0
    client.advance("1m")
    assert client.task(task["id"])["status"] == "completed"
    runs = client.items(f"/tasks/{task['id']}/runs")
    assert [run["attempt"] for run in runs] == [1, 2, 3, 4, 5]
    assert [run["retry_of"] for run in runs[1:]] == [run["id"] for run in runs[:-1]]


def test_a_specification_is_asked_for_at_the_third_code_error(client: StackClient) -> None:
    task = an_action(client, TYPE_ERROR, payload={"spec": "a page of words"})
    client.advance("15m")

    after = client.task(task["id"])
    assert (after["status"], after["recovery_action"]) == ("blocked", "retry_with_spec_refresh")


def test_three_answers_that_are_no_json_end_the_job_and_its_subject(client: StackClient) -> None:
    task = an_action(client, NO_JSON, subject="story-1", policy="enrichment")
    counts = []
    for wait in ("1m", "14h", "14h"):
        client.advance(wait)
        subject = client.call("GET", "/subjects/story-1").body
        counts.append((subject["failure_count"], subject["status"]))

    assert counts == [(1, "pending"), (2, "pending"), (3, "permanent_failure")]
    after = client.task(task["id"])
    assert (after["status"], after["last_error_category"]) == ("failed", "json_parse")
    assert (after["retry_count"], after["next_retry_at"]) == (3, None)


def test_over_budget_for_three_days_counts_nothing(client: StackClient) -> None:
    task = an_action(client, OVER_BUDGET, OVER_BUDGET, OVER_BUDGET, SUCCESS, subject="story-1")
    client.advance("11s")
    for day in ("2026-02-18", "2026-02-19", "2026-02-20"):
        waiting = client.task(task["id"])
        subject = client.call("GET", "/subjects/story-1").body
        assert (waiting["status"], waiting["retry_count"]) == ("pending", 0)
        assert (subject["failure_count"], subject["status"]) == (0, None)
        assert waiting["next_retry_at"] == f"{day}T00:00:00.000Z"
        client.advance("24h")

    subject = client.call("GET", "/subjects/story-1").body
    assert (client.task(task["id"])["status"], subject["status"]) == ("completed", "success")
    runs = client.items(f"/tasks/{task['id']}/runs")
    assert [run["status"] for run in runs] == ["paused:budget"] * 3 + ["committed"]


def test_the_servers_own_time_replaces_the_flat_day(client: StackClient) -> None:
    task = an_action(client, SLOW_DOWN, SUCCESS, subject="story-1", policy="enrichment")
    client.advance("11s")
    waiting = client.task(task["id"])
    client.advance("2m")

    assert waiting["last_error_category"] == "rate_limit"
    assert is_about(wait_of(waiting), 90)
    assert client.task(task["id"])["status"] == "completed"


def test_a_success_gives_the_subject_a_clean_slate(client: StackClient) -> None:
    an_action(client, NO_JSON, SUCCESS, subject="story-1", policy="enrichment")
    client.advance("14h")

    assert client.call("GET", "/subjects/story-1").body == {
        "id": "story-1",
        "failure_count": 0,
        "status": "success",
        "last_error_category": None,
        "last_error_message": None,
        "last_attempt_at": client.items("/tasks")[0]["delivered_at"],
        "cooldown_until": None,
    }


def test_another_task_waits_until_the_subject_has_cooled_down(client: StackClient) -> None:
    an_action(client, NO_JSON, SUCCESS, subject="story-1", policy="enrichment")
    client.advance("1m")
    other = an_action(client, SUCCESS, subject="story-1", policy="enrichment")
    client.advance("1h")
    waiting = client.task(other["id"])

    assert (waiting["status"], waiting["retry_count"]) == ("pending", 0)
    assert "2026-02-18T00:00:10.000Z" <= waiting["due_at"] < "2026-02-18T01:12:00.000Z"
    assert waiting["wait"] == "subject_cooldown"
    assert waiting["wait_detail"] == {"subject": "story-1"}
    assert waiting["wait_until"] == waiting["due_at"]
    client.advance("13h")
    assert client.task(other["id"])["status"] == "completed"


def test_a_subject_given_up_is_not_tried_again_until_a_person_resets_it(
    client: StackClient,
) -> None:
    banned = {"error": {"message": "content policy violation", "code": "content_policy_violation"}}
    an_action(client, banned, subject="story-1", policy="enrichment")
    client.advance("1m")
    refused = an_action(client, SUCCESS, subject="story-1", policy="enrichment")
    client.advance("1m")
    called = client.stack.calls.counts["worker", "provider.call"]

    after = client.task(refused["id"])
    assert (after["status"], called) == ("failed", 1)
    assert "reset it first" in after["last_error"]
    assert client.call("POST", "/subjects/story-1/reset").body["status"] is None
    assert client.call("POST", f"/tasks/{refused['id']}/retry").status == 200
    client.advance("1m")
    assert client.task(refused["id"])["status"] == "completed"


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_not_accepted_blames_no_subject(client: StackClient, status: int) -> None:
    denied = {"error": {"message": "Incorrect API key provided", "status": status}}
    task = an_action(client, denied, subject="story-1", policy="enrichment")
    client.advance("1m")

    assert client.task(task["id"])["retry_count"] == 1
    subject = client.call("GET", "/subjects/story-1").body
    assert (subject["failure_count"], subject["status"]) == (0, None)


def test_a_reply_without_its_outcome_is_no_success(client: StackClient) -> None:
    task = an_action(client, {"reply": "I think it worked"})
    client.advance("1m")

    after = client.task(task["id"])
    assert (after["status"], after["last_error_category"]) == ("pending", "unknown")


def test_a_reply_that_says_it_failed_is_read_like_any_error(client: StackClient) -> None:
    reply = "I tried.\nACTION_OUTCOME: failed | npm ERR! code ENOSPC: no space left on device"
    task = an_action(client, {"reply": reply})
    client.advance("1m")

    after = client.task(task["id"])
    assert after["last_error_category"] == "resource_exhaustion"
    assert after["last_error"] == "npm ERR! code ENOSPC: no space left on device"


def test_no_secret_reaches_what_is_kept(client: StackClient) -> None:
    leak = "401 for https://user:hunter2@host/ with api_key=sk-abcdef123456"
    task = an_action(client, {"error": {"message": leak}}, subject="s", policy="enrichment")
    client.advance("1m")

    kept = [
        client.task(task["id"])["last_error"],
        client.call("GET", "/subjects/s").body["last_error_message"],
        the_error_of(client, task)["message"],
        str(client.items(f"/tasks/{task['id']}/history")),
        str(client.items(f"/tasks/{task['id']}/runs")),
    ]
    assert not [text for text in kept if "hunter2" in text or "sk-abcdef" in text]


def test_a_budget_that_is_used_up_is_not_passed_and_the_task_waits(client: StackClient) -> None:
    client.call("PUT", "/budgets/daily", {"limit": 0.01})
    payload = {"budget": "daily", "max_cost": 0.004}
    tasks = [an_action(client, SUCCESS, payload=payload) for _ in range(3)]
    client.advance("1m")

    states = sorted(client.task(task["id"])["status"] for task in tasks)
    budget = client.call("GET", "/budgets/daily").body
    assert states == ["completed", "completed", "pending"]
    assert (budget["spend"], budget["reserved"], budget["calls"]) == (0.008, 0, 2)
    client.advance("24h")
    assert {client.task(task["id"])["status"] for task in tasks} == {"completed"}


def test_a_task_made_over_budget_says_so(client: StackClient) -> None:
    client.call("PUT", "/budgets/daily", {"limit": 0})
    task = an_action(client, SUCCESS, payload={"budget": "daily"})

    assert (task["wait"], task["wait_detail"]) == ("budget", {"budget": "daily"})
    client.call("PUT", "/budgets/daily", {"limit": 1})
    assert an_action(client, SUCCESS, payload={"budget": "daily"})["wait"] is None


def test_two_hundred_failures_on_one_subject_are_all_counted(client: StackClient) -> None:
    for _ in range(200):
        an_action(client, NO_JSON, subject="story-1", policy="enrichment")
    client.advance("1m")

    assert client.call("GET", "/subjects/story-1").body["failure_count"] == 200


def test_too_many_retries_come_back_in_waves_and_first_attempts_go_on(
    client: StackClient,
) -> None:
    odd = {"error": {"message": "the frobnicator is unhappy"}}
    for _ in range(60):
        an_action(client, odd, SUCCESS)
    client.advance("11s")
    first = an_action(client, SUCCESS)
    client.advance("11s")

    assert client.task(first["id"])["status"] == "completed"
    times = [from_text(item["next_retry_at"]) for item in client.items("/retries?limit=100")]
    in_time = [at for at in times if at <= _at("2026-02-17T12:02:23Z")]
    assert (len(times), len(in_time)) == (60, 50)
    client.advance("10m")
    assert client.items("/retries") == []


def _at(text: str) -> datetime:
    return from_text(text)


@pytest.mark.parametrize(
    "subject", ["owner/repository", "https://a.b/c?d", "Überschrift 7", "x/reset"]
)
def test_a_subject_may_be_called_whatever_people_call_it(client: StackClient, subject: str) -> None:
    an_action(client, NO_JSON, subject=subject, policy="enrichment")
    client.advance("1m")

    target = f"/subjects/{quote(subject, safe='')}"
    assert client.call("GET", target).body["failure_count"] == 1
    assert client.call("POST", f"{target}/reset").body["failure_count"] == 0


def test_a_provider_that_answers_is_not_taken_for_one_that_is_down(client: StackClient) -> None:
    """What it says went wrong elsewhere is no outage of its own."""
    reply = "I tried.\nACTION_OUTCOME: failed | connect ECONNREFUSED 10.0.0.5:5432"
    for _ in range(12):
        an_action(client, {"reply": reply})
    client.advance("1m")

    assert {one["state"] for one in client.items("/breakers")} <= {"closed"}


def test_a_budget_that_cannot_be_asked_blames_nobody_and_is_asked_again(
    client: StackClient,
) -> None:
    task = an_action(client, SUCCESS, subject="s", payload={"budget": "daily"})
    client.add_fault(function="worker", call="dynamodb.UpdateItem", kind="throttle", times=4)
    client.advance("20s")
    waiting, subject = client.task(task["id"]), client.call("GET", "/subjects/s").body
    called = client.stack.calls.counts["worker", "provider.call"]
    client.advance("2m")

    assert (waiting["status"], waiting["retry_count"], called) == ("pending", 0, 0)
    assert (subject["failure_count"], subject["cooldown_until"]) == (0, None)
    assert client.task(task["id"])["status"] == "completed"


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_bill_that_cannot_be_booked_leaves_the_work_done(client: StackClient, when: str) -> None:
    task = an_action(client, SUCCESS, payload={"budget": "daily"})
    client.advance("1s")
    client.add_fault(
        function="worker", call="dynamodb.UpdateItem", kind="error", nth=2, times=4, when=when
    )
    client.advance("1h")

    assert client.task(task["id"])["status"] == "completed"
    assert client.stack.calls.counts["worker", "provider.call"] == 1


def test_a_fault_of_the_provider_tells_all_it_is_given(client: StackClient) -> None:
    error = {"message": "slow down", "status": 429, "code": "rate_limit_exceeded"}
    client.add_fault(
        function="worker", call="provider.call", kind="error", error={**error, "retry_after": 90}
    )
    task = an_action(client, SUCCESS, subject="s", policy="enrichment")
    client.advance("11s")
    logged = the_error_of(client, task)

    assert (logged["status"], logged["code"]) == (429, "rate_limit_exceeded")
    assert is_about(wait_of(client.task(task["id"])), 90)


def test_a_person_who_retries_an_occurrence_of_a_series_leaves_its_chain_whole(
    client: StackClient,
) -> None:
    task = an_action(client, REFUSED, SUCCESS, repeat="daily")
    client.advance("11s")
    assert client.call("POST", f"/tasks/{task['id']}/retry").status == 200
    client.advance("1s")

    first, second = client.items(f"/tasks/{task['id']}/runs")
    assert (second["retry_of"], second["attempt"]) == (first["id"], 2)
    assert second["mutation"]["key"] == first["mutation"]["key"]


def test_the_end_of_an_outage_is_told_though_nobody_asks_any_more(client: StackClient) -> None:
    for _ in range(10):
        an_action(client, REFUSED, SUCCESS)
    client.advance("1h")

    told = [event["type"] for event in client.items("/breakers/scripted/history")]
    assert told == ["breaker:opened", "breaker:closed"]


def test_a_held_retry_says_what_it_waits_for(client: StackClient) -> None:
    odd = {"error": {"message": "the frobnicator is unhappy"}}
    tasks = [an_action(client, odd, SUCCESS) for _ in range(51)]
    client.advance("11s")

    waits = [client.task(task["id"]) for task in tasks]
    throttled = [task["wait_detail"] for task in waits if task["wait"] == "retry_throttle"]
    assert throttled == [{"limit": 50}]


def test_a_task_that_waits_for_its_budget_says_so(client: StackClient) -> None:
    client.call("PUT", "/budgets/daily", {"limit": 0})
    task = an_action(client, SUCCESS, payload={"budget": "daily"})
    later = client.create(
        type="action",
        payload={"provider": "scripted", "script": [SUCCESS], "budget": "daily"},
        **{"in": "3d"},
    )
    client.advance("11s")

    waiting = client.task(task["id"])
    assert (waiting["wait"], waiting["wait_detail"]["budget"]) == ("budget", "daily")
    assert waiting["wait_text"].startswith("budget daily has 0 of 0 dollars left")
    assert later["wait"] is None, "by then the budget is whole again"


@pytest.mark.parametrize("wish", ["run", "retry"])
def test_a_person_who_wants_it_now_need_not_wait_for_the_subject(
    client: StackClient, wish: str
) -> None:
    task = an_action(client, NO_JSON, SUCCESS, subject="story-1", policy="enrichment")
    client.advance("11s")
    assert client.call("POST", f"/tasks/{task['id']}/{wish}").status == 200
    client.advance("1s")

    assert client.task(task["id"])["status"] == "completed"
