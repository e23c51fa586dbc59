"""Chains of runs through the whole stack: what a retry begins with, and that none is missing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

ANSWER = {"title": "Tides"}
SAYS_SO = {"reply": '{"title": "Tides"}'}
TOLD = '{\n  "title": "Tides"\n}'
DONE = {"reply": "All done.\nACTION_OUTCOME: success"}
ODD = {"error": {"message": "something odd"}}
DOWN = {"message": "503 Service Unavailable", "status": 503}

UNPAID = {"provider": "scripted", "script": [SAYS_SO], "schema": {"type": "object"}, "tell": True}


def an_enrichment(client: StackClient, *script: dict[str, Any], **fields: Any) -> str:
    """Held in a budget, asked, and told in the chat: it has every phase."""
    payload = {
        "provider": "scripted",
        "script": list(script or [SAYS_SO]),
        "schema": {"type": "object", "required": ["title"]},
        "tell": True,
        "budget": "llm",
    }
    defaults = {"type": "enrich", "payload": payload, "in": "10s", "policy": "omega"}
    return str(client.create(**{**defaults, **fields})["id"])


def an_action(client: StackClient, *script: dict[str, Any], **fields: Any) -> str:
    payload = {"provider": "scripted", "script": list(script)}
    defaults = {"type": "action", "payload": payload, "in": "10s", "policy": "omega"}
    return str(client.create(**{**defaults, **fields})["id"])


def runs_of(client: StackClient, task_id: str) -> list[dict[str, Any]]:
    return client.items(f"/tasks/{task_id}/runs")


def asked(client: StackClient) -> int:
    return client.stack.calls.counts["worker", "provider.call"]


def told(client: StackClient) -> list[str]:
    return [sent["text"] for sent in client.outbox("ada")]


def assert_a_chain(runs: list[dict[str, Any]], *reasons: str) -> None:
    assert [run["reason"] for run in runs] == list(reasons)
    assert [run["attempt"] for run in runs] == list(range(1, len(runs) + 1))
    assert [run["retry_of"] for run in runs] == [None, *(run["id"] for run in runs[:-1])]
    assert {run["mutation"]["key"] for run in runs} == {runs[0]["id"]}
    assert sorted(runs, key=lambda run: str(run["started_at"])) == runs


# Before the effect a retry begins afresh


def test_what_failed_before_its_effect_begins_afresh(client: StackClient) -> None:
    client.add_fault(function="worker", call="dynamodb.UpdateItem", kind="error", times=50)
    task_id = an_enrichment(client)
    client.advance("30s")
    [first] = runs_of(client, task_id)
    assert (first["phase"], first["status"]) == ("preparing", "paused:transient")
    assert (first["mutation"]["status"], first["prepare_result"]) == (None, None)
    assert client.task(task_id)["retry_count"] == 0, "nothing was tried"

    client.call("DELETE", "/_local/faults")
    client.advance("10m")
    runs = runs_of(client, task_id)
    assert_a_chain(runs, "first", "transient")
    assert (runs[1]["status"], asked(client)) == ("committed", 1)


def test_what_failed_as_its_effect_was_refused_prepares_anew(client: StackClient) -> None:
    task_id = an_enrichment(client, ODD, SAYS_SO)
    client.advance("10m")
    first, second = runs_of(client, task_id)
    assert (first["phase"], first["mutation"]["status"]) == ("mutating", "failed")
    assert (first["error"], first["mutation"]["result"]) == ("something odd", None)
    assert first["prepare_result"]["id"] == first["id"]
    assert second["prepare_result"]["id"] == second["id"]
    assert (second["phase"], second["mutation"]["result"]) == ("committed", ANSWER)
    assert_a_chain([first, second], "first", "transient")


def test_a_crash_before_the_effect_begins_afresh_in_a_new_run(client: StackClient) -> None:
    client.add_fault(function="worker", call="dynamodb.UpdateItem")
    task_id = an_enrichment(client)
    client.advance("20m")
    runs = runs_of(client, task_id)
    assert (runs[0]["status"], runs[0]["phase"]) == ("crashed", "preparing")
    assert_a_chain(runs, "first", "crashed_recovery")
    assert (client.task(task_id)["status"], asked(client)) == ("completed", 1)


# After it, its results are copied


@pytest.mark.parametrize(
    ("kind", "status", "reason"),
    [("error", "paused:transient", "transient"), ("crash", "crashed", "crashed_recovery")],
)
def test_what_failed_after_its_effect_goes_on_with_its_results(
    client: StackClient, kind: str, status: str, reason: str
) -> None:
    client.add_fault(function="worker", call="channel.send", kind=kind)
    task_id = an_enrichment(client)
    client.advance("20m")
    first, second = runs_of(client, task_id)
    assert (first["phase"], first["status"]) == ("emitting", status)
    assert (second["phase"], second["status"]) == ("committed", "committed")
    assert first["mutation"] == {"status": "applied", "result": ANSWER, "key": first["id"]}
    assert second["mutation"] == first["mutation"]
    assert second["prepare_result"] == first["prepare_result"]
    assert first["prepare_result"]["id"] == first["id"]
    assert_a_chain([first, second], "first", reason)
    assert asked(client) == 1
    assert told(client).count(TOLD) == 1


def test_a_result_that_could_not_be_written_down_is_not_lost(client: StackClient) -> None:
    client.add_fault(function="worker", call="dynamodb.PutItem", nth=3, times=5, kind="throttle")
    task_id = an_enrichment(client, payload=UNPAID)

    client.advance("10m")

    first, second = runs_of(client, task_id)
    assert first["mutation"]["result"] == second["mutation"]["result"] == ANSWER
    assert (asked(client), told(client)) == (1, [TOLD]), "a hiccup of ours is nobody's business"


def test_while_it_waits_to_go_on_the_run_says_where_it_is(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", error=DOWN)
    task_id = an_enrichment(client)
    client.advance("30s")
    task, [run] = client.task(task_id), runs_of(client, task_id)
    assert (task["status"], task["retry_count"], task["run_id"]) == ("pending", 1, run["id"])
    assert (run["phase"], run["mutation"]["status"]) == ("emitting", "applied")


def test_telling_that_fails_for_good_never_repeats_the_effect(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", kind="error", times=3)
    task_id = an_enrichment(client)
    client.advance("1h")
    assert (client.task(task_id)["status"], asked(client)) == ("failed", 1)

    assert client.call("POST", f"/tasks/{task_id}/retry").status == 200
    client.advance("1m")
    runs = runs_of(client, task_id)
    assert_a_chain(runs, "first", "transient", "transient", "user_retry")
    assert (client.task(task_id)["status"], asked(client)) == ("completed", 1)
    assert {str(run["mutation"]["result"]) for run in runs} == {str(ANSWER)}


def test_a_task_that_crashed_again_and_again_is_one_chain(client: StackClient) -> None:
    client.add_fault(function="worker", call="channel.send", times=2)
    task_id = an_enrichment(client)
    client.advance("1h")
    runs = runs_of(client, task_id)
    assert_a_chain(runs, "first", "crashed_recovery", "crashed_recovery")
    assert [run["status"] for run in runs] == ["crashed", "crashed", "committed"]
    assert asked(client) == 1


# The chain as it is read


def test_runs_are_told_oldest_first_and_the_task_names_the_latest(client: StackClient) -> None:
    task_id = an_action(client, ODD, ODD, DONE, max_retries=5)
    latest = []
    for step in ("30s", "3m", "3m"):
        client.advance(step)
        runs = runs_of(client, task_id)
        latest.append((len(runs), client.task(task_id)["run_id"] == runs[-1]["id"]))
    assert latest == [(1, True), (2, True), (3, True)]
    assert_a_chain(runs, "first", "transient", "transient")


def test_a_task_that_has_not_run_has_no_run(client: StackClient) -> None:
    task_id = an_action(client, DONE)
    assert (runs_of(client, task_id), client.task(task_id)["run_id"]) == ([], None)


def test_each_occurrence_of_a_series_is_a_chain_of_its_own(client: StackClient) -> None:
    task_id = an_action(client, ODD, DONE, repeat="daily", **{"in": "1m"})
    client.advance("25h")
    first, again, next_day, next_again = runs_of(client, task_id)
    assert_a_chain([first, again], "first", "transient")
    assert_a_chain([next_day, next_again], "recurrence", "transient")
    assert first["mutation"]["key"] != next_day["mutation"]["key"]


def test_each_error_belongs_to_its_run(client: StackClient) -> None:
    task_id = an_action(client, ODD, ODD, DONE, max_retries=5)
    client.advance("1h")
    failed = [run["id"] for run in runs_of(client, task_id)[:-1]]
    assert [error["id"] for error in client.items(f"/tasks/{task_id}/errors")] == failed


def test_each_run_says_which_code_it_ran(client: StackClient) -> None:
    task_id = an_action(client, ODD, DONE)
    client.advance("1h")
    versions = [run["handler_version"] for run in runs_of(client, task_id)]
    assert versions[0]
    assert len(set(versions)) == 1


# An effect in doubt


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_effect_in_doubt_is_never_repeated_by_itself(client: StackClient, when: str) -> None:
    client.add_fault(function="worker", call="provider.call", when=when)
    task_id = an_action(client, DONE)
    client.advance("20d")
    task, [run] = client.task(task_id), runs_of(client, task_id)
    assert (task["status"], task["next_retry_at"], asked(client)) == ("blocked", None, 1)
    assert (run["status"], run["mutation"]["status"]) == ("crashed", "indeterminate")
    history = [event["type"] for event in client.items(f"/tasks/{task_id}/history")]
    assert history == ["task:created", "task:started", "task:indeterminate"]


@pytest.mark.parametrize("wish", ["retry", "unblock", "run", "resume"])
def test_an_effect_in_doubt_is_repeated_by_nobody_before_it_is_resolved(
    client: StackClient, wish: str
) -> None:
    client.add_fault(function="worker", call="provider.call")
    task_id = an_action(client, DONE)
    client.advance("20m")
    assert client.call("POST", f"/tasks/{task_id}/{wish}").status == 409
    client.advance("1d")
    assert (client.task(task_id)["status"], len(runs_of(client, task_id))) == ("blocked", 1)


def in_doubt(client: StackClient, **fields: Any) -> str:
    client.add_fault(function="worker", call="provider.call")
    task_id = an_action(client, DONE, **fields)
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
def test_a_person_says_what_became_of_it(
    client: StackClient, outcome: str, status: str, mutations: list[str], calls: int
) -> None:
    task_id = in_doubt(client)
    answer = client.call("POST", f"/tasks/{task_id}/resolve", {"outcome": outcome})
    client.advance("1h")
    assert answer.status == 200
    assert client.task(task_id)["status"] == status
    runs = runs_of(client, task_id)
    assert [run["mutation"]["status"] for run in runs] == mutations
    assert runs[-1]["retry_of"] == (runs[0]["id"] if len(runs) > 1 else None)
    assert asked(client) == calls


def test_what_a_person_found_out_is_told_when_it_was_said(client: StackClient) -> None:
    task_id = in_doubt(client)
    client.advance("5h")
    client.call("POST", f"/tasks/{task_id}/resolve", {"outcome": "applied"})
    client.advance("1m")
    *_, lost, resolved, completed = client.items(f"/tasks/{task_id}/history")
    assert [lost["type"], resolved["type"], completed["type"]] == [
        *("task:indeterminate", "task:resolved", "task:completed"),
    ]
    assert lost["at"] < "2026-02-17T13" < "2026-02-17T17" < resolved["at"] == completed["at"]


def test_a_series_goes_on_while_one_of_its_effects_is_in_doubt(client: StackClient) -> None:
    task_id = in_doubt(client, repeat="daily")
    assert client.task(task_id)["due_at"] == "2026-02-18T12:00:10.000Z"
    answer = client.call("POST", f"/tasks/{task_id}/resolve", {"outcome": "not_applied"})
    assert answer.status == 200
    client.advance("1h")
    task = client.task(task_id)
    assert (task["due_at"], task["status"], asked(client)) == (
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
def test_nonsense_resolves_nothing(client: StackClient, body: Any) -> None:
    task_id = in_doubt(client)
    answer = client.call("POST", f"/tasks/{task_id}/resolve", body)
    assert answer.status == 422
    assert client.task(task_id)["status"] == "blocked"


def test_where_nothing_is_in_doubt_nothing_is_resolved(client: StackClient) -> None:
    task_id = an_action(client, DONE)
    path = f"/tasks/{task_id}/resolve"
    before = client.call("POST", path, {"outcome": "applied"}).status
    client.advance("1m")
    after = client.call("POST", path, {"outcome": "applied"}).status
    unknown = client.call("POST", "/tasks/00000000-0000-4000-8000-000000000000/resolve", {})
    assert (before, after, unknown.status) == (409, 409, 422)


def test_in_chat_only_its_sender_resolves_it(client: StackClient) -> None:
    task_id = in_doubt(client)
    short = task_id[:8]
    theirs = client.say(f"/resolve {short} applied", sender="eve")
    assert theirs == f"There is no task {short}. /tasks lists yours."
    assert "what happened: applied, not_applied or skip?" in client.say(f"/resolve {short} perhaps")
    assert client.task(task_id)["status"] == "blocked"
    assert client.say(f"/resolve {short} applied") == f"It happened: {short}: stretch"
    assert client.task(task_id)["status"] == "completed"


def test_a_webhook_that_hangs_up_and_one_that_is_harmless(client: StackClient) -> None:
    with Receiver() as receiver:
        receiver.drop_connection()
        receiver.drop_connection()
        receiver.answer(200)
        payload = {"url": receiver.url("/hook")}
        harmless = payload | {"idempotent": True}
        doubtful = client.create(type="webhook", payload=payload, **{"in": "10s"})["id"]
        repeated = client.create(type="webhook", payload=harmless, **{"in": "20s"})["id"]
        client.advance("1h")
    assert client.task(doubtful)["status"] == "blocked"
    assert client.task(repeated)["status"] == "completed"
    mutations = [run["mutation"]["status"] for run in runs_of(client, repeated)]
    assert mutations == ["indeterminate", "applied"]


# The old run and the new one appear together


def stop_the_journal(client: StackClient) -> None:
    client.add_fault(function="journal", call="dynamodb.BatchWriteItem", times=100_000)


def test_without_the_journal_the_chain_has_no_hole(client: StackClient) -> None:
    stop_the_journal(client)
    task_id = an_action(client, ODD, ODD, DONE, max_retries=5)
    client.advance("10m")
    runs = runs_of(client, task_id)
    assert_a_chain(runs, "first", "transient", "transient")
    assert [run["status"] for run in runs] == [
        *("paused:transient", "paused:transient", "committed"),
    ]
    assert [run["error"] for run in runs] == ["something odd", "something odd", None]
    assert all(run["ended_at"] for run in runs)
    history = [event["type"] for event in client.items(f"/tasks/{task_id}/history")]
    assert "task:created" not in history, "the journal was stopped indeed"


@pytest.mark.parametrize(("when", "runs"), [("before", 1), ("after", 2)])
def test_a_claim_that_is_cut_off_leaves_both_runs_or_only_the_old_one(
    client: StackClient, when: str, runs: int
) -> None:
    stop_the_journal(client)
    task_id = an_action(client, ODD, DONE)
    client.advance("30s")
    client.add_fault(function="worker", call="dynamodb.TransactWriteItems", when=when)
    client.advance("105s")  # two minutes later it was tried again, and the worker was killed
    found = runs_of(client, task_id)
    assert (len(found), found[0]["status"]) == (runs, "paused:transient")
    assert found[-1]["id"] == client.task(task_id)["run_id"]
    if when == "after":
        assert (found[1]["status"], found[1]["retry_of"]) == ("active", found[0]["id"])
    client.advance("1h")
    assert len(runs_of(client, task_id)) >= 2
