"""Verification of completed work: over HTTP, in chat, or by a second provider."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.api_response import ApiResponse
from tests.support.stack_client import StackClient

SUCCESS = {"reply": "Mended the build.\nACTION_OUTCOME: success"}
UNSURE = {"reply": "I think it may work now."}
NOT_DONE = {"reply": "No luck.\nACTION_OUTCOME: failed | no key"}
APPROVAL = {"reply": "Looks right.\nACTION_OUTCOME: success"}
REJECTION = {"reply": "It does not build.\nACTION_OUTCOME: failed | no tests"}
UNDECIDED = {"reply": "Who can tell?"}
DOWN = {"error": {"message": "503 Service Unavailable", "status": 503}}
EVENTS_UNTIL_VERIFICATION = ["task:created", "task:started", "task:verification_requested"]


def create_action(
    client: StackClient, *script: dict[str, Any], verifier: Any = None, **fields: Any
) -> dict[str, Any]:
    payload: dict[str, Any] = {"provider": "scripted", "script": list(script)}
    if verifier is not None:
        payload["verifier"] = {"provider": "scripted", "script": verifier}
    defaults: dict[str, Any] = {"type": "action", "description": "fix the build", "verify": True}
    return client.create(**{**defaults, "in": "10s", "payload": payload, **fields})


def run_action(client: StackClient, *script: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Create an action and run it until it waits for verification."""
    task = create_action(client, *(script or (SUCCESS,)), **fields)
    client.advance("30s")
    return task


def post_action(
    client: StackClient, task: dict[str, Any], verdict: str, body: Any = None
) -> ApiResponse:
    return client.call("POST", f"/tasks/{task['id']}/{verdict}", body)


def status_of(client: StackClient, task: dict[str, Any]) -> str:
    return str(client.task(task["id"])["status"])


def runs_of(client: StackClient, task: dict[str, Any]) -> list[dict[str, Any]]:
    return client.items(f"/tasks/{task['id']}/runs")


def history_of(client: StackClient, task: dict[str, Any]) -> list[str]:
    return [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]


def sent_texts(client: StackClient, target: str = "ada") -> list[str]:
    return [sent["text"] for sent in client.outbox(target)]


def count_provider_calls(client: StackClient) -> int:
    return client.stack.calls.counts["worker", "provider.call"]


# Waiting for verification


def test_completed_work_waits_for_verification(client: StackClient) -> None:
    task = run_action(client)
    after, [run] = client.task(task["id"]), runs_of(client, task)
    assert (after["status"], after["due_at"]) == (
        *("pending_verification", "2026-02-18T12:00:10.000Z"),
    )
    assert (after["wait"], after["wait_until"]) == ("verification", after["due_at"])
    assert (run["status"], run["phase"], run["ended_at"]) == ("paused:approval", "mutated", None)
    assert run["mutation"]["result"] == {"reply": SUCCESS["reply"]}
    assert history_of(client, task) == EVENTS_UNTIL_VERIFICATION


def test_the_sender_is_asked_once_to_verify(client: StackClient) -> None:
    task = run_action(client)
    client.advance("6h")
    short = task["short_id"]
    assert sent_texts(client) == [
        "Please check: fix the build\nMended the build.\n"
        f"Approve: /approve {short}\nReject: /reject {short} <why>"
    ]


def test_work_without_an_outcome_marker_waits_for_verification(client: StackClient) -> None:
    task = run_action(client, UNSURE)
    assert (status_of(client, task), client.items(f"/tasks/{task['id']}/errors")) == (
        *("pending_verification", []),
    )


def test_a_reported_failure_needs_no_verification(client: StackClient) -> None:
    task = run_action(client, NOT_DONE)
    after = client.task(task["id"])
    assert (after["status"], after["last_error"], after["retry_count"]) == ("pending", "no key", 1)


def test_waiting_tasks_are_listed_by_status(client: StackClient) -> None:
    task = run_action(client)
    [listed] = client.items("/tasks?status=pending_verification")
    assert listed["id"] == task["id"]


@pytest.mark.parametrize("action", ["pause", "resume", "run", "retry", "unblock"])
def test_other_actions_are_refused_while_waiting(client: StackClient, action: str) -> None:
    task = run_action(client)
    assert post_action(client, task, action).status == 409
    assert status_of(client, task) == "pending_verification"


def test_a_waiting_task_can_be_cancelled(client: StackClient) -> None:
    task = run_action(client)
    assert post_action(client, task, "cancel").body["status"] == "cancelled"
    client.advance("2d")
    assert [run["status"] for run in runs_of(client, task)] == ["cancelled"]
    assert history_of(client, task) == [*EVENTS_UNTIL_VERIFICATION, "task:cancelled"]


# Over HTTP


def test_approve_completes_the_task(client: StackClient) -> None:
    task = run_action(client)
    answer = post_action(client, task, "approve")
    assert (answer.status, answer.body["status"]) == (200, "completed")
    client.advance("2d")
    assert [run["status"] for run in runs_of(client, task)] == ["committed"]
    assert (count_provider_calls(client), sent_texts(client)[-1]) == (
        1,
        "Done: fix the build\nMended the build.",
    )
    assert history_of(client, task) == [
        *EVENTS_UNTIL_VERIFICATION,
        "task:approved",
        "task:completed",
    ]


def test_an_approved_task_has_the_time_of_the_approval(client: StackClient) -> None:
    task = run_action(client)
    client.advance("3h")
    post_action(client, task, "approve")
    [run] = runs_of(client, task)
    assert client.task(task["id"])["delivered_at"] == run["ended_at"] == "2026-02-17T15:00:30.000Z"


def test_approve_continues_a_series_with_its_next_occurrence(client: StackClient) -> None:
    task = run_action(client, repeat="daily")
    assert post_action(client, task, "approve").body["due_at"] == "2026-02-18T12:00:10.000Z"
    client.advance("1d")
    assert status_of(client, task) == "pending_verification"
    assert [run["reason"] for run in runs_of(client, task)] == ["first", "recurrence"]
    assert post_action(client, task, "approve").body["due_at"] == "2026-02-19T12:00:10.000Z"


def test_reject_retries_by_policy_with_the_reason(client: StackClient) -> None:
    task = run_action(client, SUCCESS, SUCCESS)
    answer = post_action(client, task, "reject", {"reason": "the tests are red"})
    assert (answer.status, answer.body["status"]) == (200, "pending")
    waiting = client.task(task["id"])
    assert (waiting["retry_count"], waiting["last_error"]) == (1, "rejected: the tests are red")
    assert waiting["last_error_category"] == "unknown"
    assert waiting["guidance"][0] == "rejected: the tests are red"
    assert waiting["description"] == "fix the build"

    client.advance("5m")
    first, second = runs_of(client, task)
    assert (first["status"], first["mutation"]["status"]) == ("paused:transient", "applied")
    assert first["mutation"]["result"] == {"reply": SUCCESS["reply"]}
    assert (second["status"], second["retry_of"]) == ("paused:approval", first["id"])
    assert (second["mutation"]["key"], count_provider_calls(client)) == (second["id"], 2)
    assert history_of(client, task)[3:5] == ["task:retry_scheduled", "task:recovery_action"]
    assert post_action(client, task, "approve").body["status"] == "completed"


@pytest.mark.parametrize("verdict", ["reject", "verifier", "time-out"])
def test_work_that_was_not_approved_stays_applied(client: StackClient, verdict: str) -> None:
    task = run_action(client, verifier=[REJECTION] if verdict == "verifier" else None)
    if verdict == "reject":
        post_action(client, task, "reject", {"reason": "the tests are red"})
    client.advance("25h" if verdict == "time-out" else "1m")

    run = runs_of(client, task)[0]
    expected = {"status": "applied", "result": {"reply": SUCCESS["reply"]}, "key": run["id"]}
    assert (run["mutation"], run["phase"]) == (expected, "mutated")
    assert client.items(f"/tasks/{task['id']}/errors")[0]["id"] == run["id"]


def test_a_rejection_is_in_the_error_log(client: StackClient) -> None:
    task = run_action(client)
    post_action(client, task, "reject", {"reason": "the tests are red"})
    client.advance("1s")
    [error] = client.items(f"/tasks/{task['id']}/errors")
    assert (error["message"], error["code"]) == ("rejected: the tests are red", "rejected")
    assert error["id"] == runs_of(client, task)[0]["id"]


def test_work_rejected_too_often_fails(client: StackClient) -> None:
    task = create_action(client, SUCCESS, policy="omega")
    for _ in range(3):
        client.advance("5m")
        assert post_action(client, task, "reject", {"reason": "no"}).status == 200
    assert status_of(client, task) == "failed"
    assert " after 3 attempts: rejected: no\n" in sent_texts(client)[-1]


def test_a_secret_in_a_rejection_reason_is_redacted(client: StackClient) -> None:
    task = run_action(client)
    key = "sk-" + "a1B2" * 10
    post_action(client, task, "reject", {"reason": f"it leaked {key}"})
    client.advance("5m")
    stored = [client.task(task["id"]), *client.items(f"/tasks/{task['id']}/history")]
    assert key not in str(stored)


@pytest.mark.parametrize(
    "body",
    [
        None,
        {},
        {"reason": ""},
        {"reason": "  \n"},
        {"reason": None},
        {"reason": 7},
        {"reason": ["no"]},
        {"reason": "x" * 1_001},
        {"reason": "no", "why": "x"},
    ],
)
def test_a_rejection_needs_a_valid_reason(client: StackClient, body: Any) -> None:
    task = run_action(client)
    answer = post_action(client, task, "reject", body)
    assert (answer.status, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.body["errors"]
    assert status_of(client, task) == "pending_verification"


@pytest.mark.parametrize("body", [b"{", b"[]", b'"no"', b"\xff"])
def test_a_rejection_must_be_a_json_object(client: StackClient, body: bytes) -> None:
    task = run_action(client)
    assert post_action(client, task, "reject", body).status == 422
    assert status_of(client, task) == "pending_verification"


def test_a_verdict_is_refused_unless_the_task_waits_for_it(client: StackClient) -> None:
    task = create_action(client, SUCCESS)
    before = [
        post_action(client, task, "approve"),
        post_action(client, task, "reject", {"reason": "no"}),
    ]
    client.advance("30s")
    post_action(client, task, "approve")
    after = [
        post_action(client, task, "approve"),
        post_action(client, task, "reject", {"reason": "no"}),
    ]
    assert [answer.status for answer in (*before, *after)] == [409] * 4
    assert "is pending: only work to be verified can be approved" in before[0].body["detail"]
    assert (status_of(client, task), client.task(task["id"])["retry_count"]) == ("completed", 0)


def test_a_verdict_on_an_unknown_task_is_a_404(client: StackClient) -> None:
    unknown = {"id": "00000000-0000-4000-8000-000000000000"}
    answers = [
        post_action(client, unknown, "approve"),
        post_action(client, unknown, "reject", {"reason": "no"}),
    ]
    assert [answer.status for answer in answers] == [404, 404]


def test_a_verdict_needs_a_token(client: StackClient) -> None:
    task = run_action(client)
    path = f"/tasks/{task['id']}/approve"
    assert client.call("POST", path, token="wrong").status == 401
    assert status_of(client, task) == "pending_verification"


def test_a_reminder_cannot_be_verified(client: StackClient) -> None:
    body = {"type": "reminder", "description": "stretch", "in": "1m", "verify": True}
    answer = client.call("POST", "/tasks", body)
    assert (answer.status, [error["field"] for error in answer.body["errors"]]) == (422, ["verify"])


# In chat


def test_the_sender_approves_in_chat(client: StackClient) -> None:
    task = run_action(client)
    short = task["short_id"]
    client.say(f"/approve {short}")
    assert sent_texts(client)[-2:] == [
        *(f"Approved {short}: fix the build", "Done: fix the build\nMended the build."),
    ]
    assert status_of(client, task) == "completed"


def test_the_sender_rejects_in_chat_with_a_reason(client: StackClient) -> None:
    task = run_action(client)
    short = task["short_id"]
    client.say(f"/reject {short} the link is broken")
    answer, notification = sent_texts(client)[-2:]
    assert answer == f"Rejected {short}: fix the build\nStatus: pending"
    expected = f"Task {short} (fix the build) failed: rejected: the link is broken"
    assert notification.startswith(f"{expected}\nNext retry")
    assert client.task(task["id"])["guidance"][0] == "rejected: the link is broken"


@pytest.mark.parametrize("text", ["/approve {}", "/reject {} it is bad", "/resolve {} applied"])
def test_a_verdict_of_another_sender_finds_no_task(client: StackClient, text: str) -> None:
    task = run_action(client)
    unknown = "f" * 8
    reply = client.say(text.format(task["short_id"]), sender="eve")
    reply_to_unknown = client.say(text.format(unknown), sender="eve")
    assert reply.replace(task["short_id"], unknown) == reply_to_unknown
    assert reply == f"There is no task {task['short_id']}. /tasks lists yours."
    assert status_of(client, task) == "pending_verification"


@pytest.mark.parametrize("text", ["/reject", "/reject {}", "/reject {}   ", "/approve"])
def test_an_incomplete_verdict_gets_a_hint(client: StackClient, text: str) -> None:
    task = run_action(client)
    answer = client.say(text.format(task["short_id"]))
    assert answer.startswith("Which task")
    assert status_of(client, task) == "pending_verification"


def test_approve_in_chat_is_refused_unless_the_task_waits_for_it(client: StackClient) -> None:
    task = create_action(client, SUCCESS)
    answer = client.say(f"/approve {task['short_id']}")
    assert answer.endswith("is pending: only work to be verified can be approved.")


# By a second provider


def test_an_approving_verifier_completes_the_task_without_a_person(client: StackClient) -> None:
    task = run_action(client, SUCCESS, verifier=[APPROVAL])
    assert (status_of(client, task), count_provider_calls(client)) == ("completed", 2)
    assert sent_texts(client) == ["Done: fix the build\nMended the build."]
    assert history_of(client, task) == [
        *EVENTS_UNTIL_VERIFICATION,
        "task:approved",
        "task:completed",
    ]


def test_a_rejecting_verifier_retries_with_its_reason(client: StackClient) -> None:
    task = run_action(client, SUCCESS, verifier=[REJECTION])
    waiting = client.task(task["id"])
    assert (waiting["status"], waiting["retry_count"]) == ("pending", 1)
    assert waiting["guidance"][0] == "rejected: no tests"
    assert runs_of(client, task)[0]["mutation"]["status"] == "applied"
    client.advance("5m")
    assert len(runs_of(client, task)) == 2


def test_a_verifier_decides_on_work_without_an_outcome_marker(client: StackClient) -> None:
    assert status_of(client, run_action(client, UNSURE, verifier=[APPROVAL])) == "completed"


@pytest.mark.parametrize("answer", [UNDECIDED, DOWN])
def test_a_verifier_without_a_decision_after_three_calls_asks_a_person(
    client: StackClient, answer: dict[str, Any]
) -> None:
    task = run_action(client, SUCCESS, verifier=[answer])
    assert sent_texts(client) == []
    client.advance("1h")
    assert count_provider_calls(client) == 1 + 3
    assert (status_of(client, task), client.task(task["id"])["retry_count"]) == (
        *("pending_verification", 0),
    )
    [text] = sent_texts(client)
    assert text.startswith("Please check: fix the build")
    assert history_of(client, task) == [*EVENTS_UNTIL_VERIFICATION, "task:verification_requested"]
    assert post_action(client, task, "approve").body["status"] == "completed"


def test_a_failed_verifier_call_is_retried(client: StackClient) -> None:
    task = run_action(client, SUCCESS, verifier=[DOWN, APPROVAL])
    client.advance("10m")
    assert (status_of(client, task), count_provider_calls(client)) == ("completed", 3)


def test_a_person_may_approve_before_the_verifier_decides(client: StackClient) -> None:
    task = run_action(client, SUCCESS, verifier=[UNDECIDED])
    assert post_action(client, task, "approve").body["status"] == "completed"
    client.advance("1h")
    assert (status_of(client, task), count_provider_calls(client)) == ("completed", 2)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_during_the_verifier_call_does_not_repeat_the_work(
    client: StackClient, when: str
) -> None:
    client.add_fault(function="worker", call="provider.call", nth=2, when=when)
    task = run_action(client, SUCCESS, verifier=[APPROVAL])
    client.advance("20m")
    assert (status_of(client, task), len(runs_of(client, task))) == ("completed", 1)


@pytest.mark.parametrize(
    "verifier",
    ["scripted", [], {}, {"provider": "nobody"}, {"provider": "scripted", "script": []}],
)
def test_an_invalid_verifier_is_refused(client: StackClient, verifier: Any) -> None:
    payload = {"provider": "scripted", "script": [SUCCESS], "verifier": verifier}
    body = {"type": "action", "description": "x", "in": "1m", "verify": True, "payload": payload}
    answer = client.call("POST", "/tasks", body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, "payload")
    assert "verifier" in answer.body["errors"][0]["message"]


# Without a verdict


def test_without_a_verdict_the_task_fails_after_a_day(client: StackClient) -> None:
    task = run_action(client)
    client.advance("23h")
    waiting = status_of(client, task)
    client.advance("2h")
    after, [run] = client.task(task["id"]), runs_of(client, task)
    assert (waiting, after["status"]) == ("pending_verification", "failed")
    assert after["last_error"] == "nobody approved or rejected the work in time"
    assert (run["mutation"]["status"], run["mutation"]["result"]) == (
        *("applied", {"reply": SUCCESS["reply"]}),
    )
    assert history_of(client, task) == [*EVENTS_UNTIL_VERIFICATION, "task:failed"]
    assert "Gave up on task" in sent_texts(client)[-1]
    client.advance("5d")
    assert (count_provider_calls(client), len(runs_of(client, task))) == (1, 1)


def test_a_verdict_after_the_timeout_is_refused(client: StackClient) -> None:
    task = run_action(client)
    client.advance("25h")
    assert post_action(client, task, "approve").status == 409
    assert post_action(client, task, "reject", {"reason": "no"}).status == 409


def test_retry_after_the_timeout_asks_for_verification_again(client: StackClient) -> None:
    task = run_action(client)
    client.advance("25h")
    assert post_action(client, task, "retry").status == 200
    client.advance("1m")
    assert (status_of(client, task), count_provider_calls(client)) == ("pending_verification", 1)
    assert sent_texts(client)[-1].startswith("Please check: fix the build\nMended the build.")
    assert post_action(client, task, "approve").body["status"] == "completed"


def test_a_series_continues_after_a_verification_timeout(client: StackClient) -> None:
    task = run_action(client, repeat="weekly")
    client.advance("25h")
    after = client.task(task["id"])
    assert (after["status"], after["due_at"]) == ("pending", "2026-02-24T12:00:10.000Z")
    assert "Next occurrence: " in sent_texts(client)[-1]


# Work with an emit phase


def create_enrichment(client: StackClient) -> dict[str, Any]:
    payload = {
        "provider": "scripted",
        "script": [{"reply": '{"title": "Tides"}'}],
        "schema": {"type": "object"},
        "tell": True,
    }
    return client.create(type="enrich", payload=payload, verify=True, **{"in": "10s"})


def test_emit_runs_only_after_the_approval(client: StackClient) -> None:
    task = create_enrichment(client)
    client.advance("1m")
    assert not any("Tides" in text for text in sent_texts(client))
    assert post_action(client, task, "approve").body["status"] == "pending"
    client.advance("1m")
    assert (status_of(client, task), count_provider_calls(client)) == ("completed", 1)
    assert '"title": "Tides"' in sent_texts(client)[-1]
    first, second = runs_of(client, task)
    assert (first["status"], second["status"]) == ("paused:approval", "committed")
    assert (second["retry_of"], second["mutation"]) == (first["id"], first["mutation"])


def test_a_failed_emit_after_the_approval_is_in_the_history(client: StackClient) -> None:
    task = create_enrichment(client)
    client.advance("1m")
    client.add_fault(function="worker", call="channel.send", kind="error")
    post_action(client, task, "approve")
    client.advance("1h")
    history = history_of(client, task)
    assert history.count("task:approved") == history.count("task:retry_scheduled") == 1
    assert (status_of(client, task), count_provider_calls(client)) == ("completed", 1)
