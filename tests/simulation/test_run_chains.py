"""Chains of runs through the whole stack: where a retry starts, and that no run is missing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

ANSWER = {"title": "Tides"}
ANSWER_REPLY = {"reply": '{"title": "Tides"}'}
ANSWER_TEXT = '{\n  "title": "Tides"\n}'
SUCCESS = {"reply": "All done.\nACTION_OUTCOME: success"}
UNKNOWN_ERROR = {"error": {"message": "something odd"}}
DOWN = {"message": "503 Service Unavailable", "status": 503}

PAYLOAD_WITHOUT_BUDGET = {
    "provider": "scripted",
    "script": [ANSWER_REPLY],
    "schema": {"type": "object"},
    "tell": True,
}


def create_enrichment(client: StackClient, *script: dict[str, Any], **fields: Any) -> str:
    """Create an enrichment with a budget and a chat message, so that it has every phase."""
    payload = {
        "provider": "scripted",
        "script": list(script or [ANSWER_REPLY]),
        "schema": {"type": "object", "required": ["title"]},
        "tell": True,
        "budget": "llm",
    }
    defaults = {"type": "enrich", "payload": payload, "in": "10s", "policy": "omega"}
    return str(client.create(**{**defaults, **fields})["id"])


def create_action(client: StackClient, *script: dict[str, Any], **fields: Any) -> str:
    payload = {"provider": "scripted", "script": list(script)}
    defaults = {"type": "action", "payload": payload, "in": "10s", "policy": "omega"}
    return str(client.create(**{**defaults, **fields})["id"])


def runs_of(client: StackClient, task_id: str) -> list[dict[str, Any]]:
    return client.items(f"/tasks/{task_id}/runs")


def count_provider_calls(client: StackClient) -> int:
    return client.stack.calls.counts["worker", "provider.call"]


def sent_texts(client: StackClient) -> list[str]:
    return [sent["text"] for sent in client.outbox("ada")]


def assert_one_chain(runs: list[dict[str, Any]], *reasons: str) -> None:
    assert [run["reason"] for run in runs] == list(reasons)
    assert [run["attempt"] for run in runs] == list(range(1, len(runs) + 1))
    assert [run["retry_of"] for run in runs] == [None, *(run["id"] for run in runs[:-1])]
    assert {run["mutation"]["key"] for run in runs} == {runs[0]["id"]}
    assert sorted(runs, key=lambda run: str(run["started_at"])) == runs


# Before the effect, a retry starts over


def test_a_failure_before_the_effect_starts_over(client: StackClient) -> None:
    client.add_fault(function="worker", call="dynamodb.UpdateItem", kind="error", times=50)
    task_id = create_enrichment(client)
    client.advance("30s")
    [first] = runs_of(client, task_id)
    assert (first["phase"], first["status"]) == ("preparing", "paused:transient")
    assert (first["mutation"]["status"], first["prepare_result"]) == (None, None)
    assert client.task(task_id)["retry_count"] == 0, "no attempt was made"

    client.call("DELETE", "/_local/faults")
    client.advance("10m")
    runs = runs_of(client, task_id)
    assert_one_chain(runs, "first", "transient")
    assert (runs[1]["status"], count_provider_calls(client)) == ("committed", 1)


def test_a_refused_effect_prepares_again(client: StackClient) -> None:
    task_id = create_enrichment(client, UNKNOWN_ERROR, ANSWER_REPLY)
    client.advance("10m")
    first, second = runs_of(client, task_id)
    assert (first["phase"], first["mutation"]["status"]) == ("mutating", "failed")
    assert (first["error"], first["mutation"]["result"]) == ("something odd", None)
    assert first["prepare_result"]["id"] == first["id"]
    assert second["prepare_result"]["id"] == second["id"]
    assert (second["phase"], second["mutation"]["result"]) == ("committed", ANSWER)
    assert_one_chain([first, second], "first", "transient")


def test_a_crash_before_the_effect_starts_over_in_a_new_run(client: StackClient) -> None:
    client.add_fault(function="worker", call="dynamodb.UpdateItem")
    task_id = create_enrichment(client)
    client.advance("20m")
    runs = runs_of(client, task_id)
    assert (runs[0]["status"], runs[0]["phase"]) == ("crashed", "preparing")
    assert_one_chain(runs, "first", "crashed_recovery")
    assert (client.task(task_id)["status"], count_provider_calls(client)) == ("completed", 1)


# After the effect, a retry copies its results


@pytest.mark.parametrize(
    ("kind", "status", "reason"),
    [("error", "paused:transient", "transient"), ("crash", "crashed", "crashed_recovery")],
)
def test_a_failure_after_the_effect_continues_with_its_results(
    client: StackClient, kind: str, status: str, reason: str
) -> None:
    client.add_fault(function="worker", call="channel.send", kind=kind)
    task_id = create_enrichment(client)
    client.advance("20m")
    first, second = runs_of(client, task_id)
    assert (first["phase"], first["status"]) == ("emitting", status)
    assert (second["phase"], second["status"]) == ("committed", "committed")
    assert first["mutation"] == {"status": "applied", "result": ANSWER, "key": first["id"]}
    assert second["mutation"] == first["mutation"]
    assert second["prepare_result"] == first["prepare_result"]
    assert first["prepare_result"]["id"] == first["id"]
    assert_one_chain([first, second], "first", reason)
    assert count_provider_calls(client) == 1
    assert sent_texts(client).count(ANSWER_TEXT) == 1


def test_a_result_that_could_not_be_stored_is_not_lost(client: StackClient) -> None:
    client.add_fault(function="worker", call="dynamodb.PutItem", nth=3, times=5, kind="throttle")
    task_id = create_enrichment(client, payload=PAYLOAD_WITHOUT_BUDGET)

    client.advance("10m")

    first, second = runs_of(client, task_id)
    assert first["mutation"]["result"] == second["mutation"]["result"] == ANSWER
    assert (count_provider_calls(client), sent_texts(client)) == (1, [ANSWER_TEXT]), (
        "an internal retry is not notified"
    )


def test_a_run_waiting_to_continue_has_its_phase(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN)
    task_id = create_enrichment(client)
    client.advance("30s")
    task, [run] = client.task(task_id), runs_of(client, task_id)
    assert (task["status"], task["retry_count"], task["run_id"]) == ("pending", 1, run["id"])
    assert (run["phase"], run["mutation"]["status"]) == ("emitting", "applied")


def test_a_failing_emit_never_repeats_the_effect(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", times=3)
    task_id = create_enrichment(client)
    client.advance("1h")
    assert (client.task(task_id)["status"], count_provider_calls(client)) == ("failed", 1)

    assert client.call("POST", f"/tasks/{task_id}/retry").status == 200
    client.advance("1m")
    runs = runs_of(client, task_id)
    assert_one_chain(runs, "first", "transient", "transient", "user_retry")
    assert (client.task(task_id)["status"], count_provider_calls(client)) == ("completed", 1)
    assert {str(run["mutation"]["result"]) for run in runs} == {str(ANSWER)}


def test_repeated_crashes_form_one_chain(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", times=2)
    task_id = create_enrichment(client)
    client.advance("1h")
    runs = runs_of(client, task_id)
    assert_one_chain(runs, "first", "crashed_recovery", "crashed_recovery")
    assert [run["status"] for run in runs] == ["crashed", "crashed", "committed"]
    assert count_provider_calls(client) == 1


# Reading the chain


def test_runs_are_oldest_first_and_the_task_has_the_latest(client: StackClient) -> None:
    task_id = create_action(client, UNKNOWN_ERROR, UNKNOWN_ERROR, SUCCESS, max_retries=5)
    latest = []
    for step in ("30s", "3m", "3m"):
        client.advance(step)
        runs = runs_of(client, task_id)
        latest.append((len(runs), client.task(task_id)["run_id"] == runs[-1]["id"]))
    assert latest == [(1, True), (2, True), (3, True)]
    assert_one_chain(runs, "first", "transient", "transient")


def test_a_task_that_has_not_started_has_no_run(client: StackClient) -> None:
    task_id = create_action(client, SUCCESS)
    assert (runs_of(client, task_id), client.task(task_id)["run_id"]) == ([], None)


def test_each_occurrence_of_a_series_has_its_own_chain(client: StackClient) -> None:
    task_id = create_action(client, UNKNOWN_ERROR, SUCCESS, repeat="daily", **{"in": "1m"})
    client.advance("25h")
    first, retry, next_day, next_retry = runs_of(client, task_id)
    assert_one_chain([first, retry], "first", "transient")
    assert_one_chain([next_day, next_retry], "recurrence", "transient")
    assert first["mutation"]["key"] != next_day["mutation"]["key"]


def test_each_error_has_the_id_of_its_run(client: StackClient) -> None:
    task_id = create_action(client, UNKNOWN_ERROR, UNKNOWN_ERROR, SUCCESS, max_retries=5)
    client.advance("1h")
    failed = [run["id"] for run in runs_of(client, task_id)[:-1]]
    assert [error["id"] for error in client.items(f"/tasks/{task_id}/errors")] == failed


def test_each_run_has_its_handler_version(client: StackClient) -> None:
    task_id = create_action(client, UNKNOWN_ERROR, SUCCESS)
    client.advance("1h")
    versions = [run["handler_version"] for run in runs_of(client, task_id)]
    assert versions[0]
    assert len(set(versions)) == 1


# Indeterminate effects


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_indeterminate_effect_is_never_retried_automatically(
    client: StackClient, when: str
) -> None:
    client.add_fault(function="worker", call="provider.call", when=when)
    task_id = create_action(client, SUCCESS)
    client.advance("20d")
    task, [run] = client.task(task_id), runs_of(client, task_id)
    assert (task["status"], task["next_retry_at"], count_provider_calls(client)) == (
        "blocked",
        None,
        1,
    )
    assert (run["status"], run["mutation"]["status"]) == ("crashed", "indeterminate")
    history = [event["type"] for event in client.items(f"/tasks/{task_id}/history")]
    assert history == ["task:created", "task:started", "task:indeterminate"]


@pytest.mark.parametrize("action", ["retry", "unblock", "run", "resume"])
def test_an_indeterminate_effect_must_be_resolved_before_any_retry(
    client: StackClient, action: str
) -> None:
    client.add_fault(function="worker", call="provider.call")
    task_id = create_action(client, SUCCESS)
    client.advance("20m")
    assert client.call("POST", f"/tasks/{task_id}/{action}").status == 409
    client.advance("1d")
    assert (client.task(task_id)["status"], len(runs_of(client, task_id))) == ("blocked", 1)


def create_indeterminate(client: StackClient, **fields: Any) -> str:
    client.add_fault(function="worker", call="provider.call")
    task_id = create_action(client, SUCCESS, **fields)
    client.advance("20m")
    return task_id


@pytest.mark.parametrize(
    ("outcome", "status", "mutations", "calls"),
    [
        ("applied", "completed", ["applied"], 1),
        ("not_applied", "completed", ["failed", "applied"], 2),
        ("skip", "cancelled", ["indeterminate"], 1),
    ],
)
def test_a_person_resolves_an_indeterminate_effect(
    client: StackClient, outcome: str, status: str, mutations: list[str], calls: int
) -> None:
    task_id = create_indeterminate(client)
    answer = client.call("POST", f"/tasks/{task_id}/resolve", {"outcome": outcome})
    client.advance("1h")
    assert answer.status == 200
    assert client.task(task_id)["status"] == status
    runs = runs_of(client, task_id)
    assert [run["mutation"]["status"] for run in runs] == mutations
    assert runs[-1]["retry_of"] == (runs[0]["id"] if len(runs) > 1 else None)
    assert count_provider_calls(client) == calls


def test_resolve_events_have_the_time_of_the_resolution(client: StackClient) -> None:
    task_id = create_indeterminate(client)
    client.advance("5h")
    client.call("POST", f"/tasks/{task_id}/resolve", {"outcome": "applied"})
    client.advance("1m")
    *_, indeterminate, resolved, completed = client.items(f"/tasks/{task_id}/history")
    assert [indeterminate["type"], resolved["type"], completed["type"]] == [
        *("task:indeterminate", "task:resolved", "task:completed"),
    ]
    assert (
        indeterminate["at"] < "2026-02-17T13" < "2026-02-17T17" < resolved["at"] == completed["at"]
    )


def test_an_indeterminate_occurrence_does_not_block_the_series(client: StackClient) -> None:
    task_id = create_indeterminate(client, repeat="daily")
    assert client.task(task_id)["due_at"] == "2026-02-18T12:00:10.000Z"
    answer = client.call("POST", f"/tasks/{task_id}/resolve", {"outcome": "not_applied"})
    assert answer.status == 200
    client.advance("1h")
    task = client.task(task_id)
    assert (task["due_at"], task["status"], count_provider_calls(client)) == (
        *("2026-02-18T12:00:10.000Z", "pending", 2),
    )


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"outcome": "maybe"},
        {"outcome": None},
        {"outcome": ["applied"]},
        {"outcome": "applied", "why": "x"},
        ["applied"],
    ],
)
def test_an_invalid_resolution_is_refused(client: StackClient, body: Any) -> None:
    task_id = create_indeterminate(client)
    answer = client.call("POST", f"/tasks/{task_id}/resolve", body)
    assert answer.status == 422
    assert client.task(task_id)["status"] == "blocked"


def test_resolve_is_refused_unless_the_effect_is_indeterminate(client: StackClient) -> None:
    task_id = create_action(client, SUCCESS)
    path = f"/tasks/{task_id}/resolve"
    before = client.call("POST", path, {"outcome": "applied"}).status
    client.advance("1m")
    after = client.call("POST", path, {"outcome": "applied"}).status
    unknown = client.call("POST", "/tasks/00000000-0000-4000-8000-000000000000/resolve", {})
    assert (before, after, unknown.status) == (409, 409, 422)


def test_only_its_sender_can_resolve_a_task_in_chat(client: StackClient) -> None:
    task_id = create_indeterminate(client)
    short = task_id[:8]
    reply_to_other = client.say(f"/resolve {short} applied", sender="eve")
    assert reply_to_other == f"There is no task {short}. /tasks lists yours."
    assert "what happened: applied, not_applied or skip?" in client.say(f"/resolve {short} perhaps")
    assert client.task(task_id)["status"] == "blocked"
    assert client.say(f"/resolve {short} applied") == f"Resolved {short} as applied: stretch"
    assert client.task(task_id)["status"] == "completed"


def test_only_an_idempotent_webhook_is_retried_after_a_dropped_connection(
    client: StackClient,
) -> None:
    with Receiver() as receiver:
        receiver.drop_connection()
        receiver.drop_connection()
        receiver.answer(200)
        payload = {"url": receiver.url("/hook")}
        idempotent_payload = payload | {"idempotent": True}
        blocked_id = client.create(type="webhook", payload=payload, **{"in": "10s"})["id"]
        retried_id = client.create(type="webhook", payload=idempotent_payload, **{"in": "20s"})[
            "id"
        ]
        client.advance("1h")
    assert client.task(blocked_id)["status"] == "blocked"
    assert client.task(retried_id)["status"] == "completed"
    mutations = [run["mutation"]["status"] for run in runs_of(client, retried_id)]
    assert mutations == ["indeterminate", "applied"]


# The old run and the new one are written together


def stop_journal(client: StackClient) -> None:
    client.add_fault(function="journal", call="dynamodb.BatchWriteItem", times=100_000)


def test_the_chain_is_complete_once_the_journal_works_again(client: StackClient) -> None:
    stop_journal(client)
    task_id = create_action(client, UNKNOWN_ERROR, UNKNOWN_ERROR, SUCCESS, max_retries=5)
    client.advance("10m")
    assert client.task(task_id)["status"] == "completed"
    assert client.call("DELETE", "/_local/faults").status == 200
    client.advance("2m")
    runs = runs_of(client, task_id)
    assert_one_chain(runs, "first", "transient", "transient")
    assert [run["status"] for run in runs] == [
        *("paused:transient", "paused:transient", "committed"),
    ]
    assert [run["error"] for run in runs] == ["something odd", "something odd", None]
    assert all(run["ended_at"] for run in runs)


@pytest.mark.parametrize(("when", "runs"), [("before", 1), ("after", 2)])
def test_an_interrupted_claim_leaves_both_runs_or_only_the_old_one(
    client: StackClient, when: str, runs: int
) -> None:
    task_id = create_action(client, UNKNOWN_ERROR, SUCCESS)
    client.advance("30s")
    client.add_fault(function="worker", call="dynamodb.PutItem", when=when)
    client.advance("105s")  # the retry after two minutes has started, and its worker crashed
    stored = runs_of(client, task_id)
    assert (len(stored), stored[0]["status"]) == (runs, "paused:transient")
    assert stored[-1]["id"] == client.task(task_id)["run_id"]
    if when == "after":
        assert (stored[1]["status"], stored[1]["retry_of"]) == ("active", stored[0]["id"])
    client.advance("1h")
    assert len(runs_of(client, task_id)) >= 2
