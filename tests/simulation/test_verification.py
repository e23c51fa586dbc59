"""Work that somebody looks at: asked for over HTTP, in chat, or of a second provider."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.api_response import ApiResponse
from tests.support.stack_client import StackClient

DONE = {"reply": "Mended the build.\nACTION_OUTCOME: success"}
UNSURE = {"reply": "I think it may work now."}
NOT_DONE = {"reply": "No luck.\nACTION_OUTCOME: failed | no key"}
YES = {"reply": "Looks right.\nACTION_OUTCOME: success"}
NO = {"reply": "It does not build.\nACTION_OUTCOME: failed | no tests"}
SAYS_NEITHER = {"reply": "Who can tell?"}
DOWN = {"error": {"message": "503 Service Unavailable", "status": 503}}
EVENTS_OF_WORK = ["task:created", "task:started", "task:verification_requested"]


def an_action(
    client: StackClient, *script: dict[str, Any], verifier: Any = None, **fields: Any
) -> dict[str, Any]:
    payload: dict[str, Any] = {"provider": "scripted", "script": list(script)}
    if verifier is not None:
        payload["verifier"] = {"provider": "scripted", "script": verifier}
    defaults: dict[str, Any] = {"type": "action", "description": "fix the build", "verify": True}
    return client.create(**{**defaults, "in": "10s", "payload": payload, **fields})


def done(client: StackClient, *script: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Carried out, and looked at by nobody yet."""
    task = an_action(client, *(script or (DONE,)), **fields)
    client.advance("30s")
    return task


def give(client: StackClient, task: dict[str, Any], verdict: str, body: Any = None) -> ApiResponse:
    return client.call("POST", f"/tasks/{task['id']}/{verdict}", body)


def status_of(client: StackClient, task: dict[str, Any]) -> str:
    return str(client.task(task["id"])["status"])


def runs_of(client: StackClient, task: dict[str, Any]) -> list[dict[str, Any]]:
    return client.items(f"/tasks/{task['id']}/runs")


def history_of(client: StackClient, task: dict[str, Any]) -> list[str]:
    return [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]


def told(client: StackClient, target: str = "ada") -> list[str]:
    return [sent["text"] for sent in client.outbox(target)]


def asked(client: StackClient) -> int:
    return client.stack.calls.counts["worker", "provider.call"]


# It waits


def test_work_that_is_done_waits_for_a_verdict(client: StackClient) -> None:
    task = done(client)
    after, [run] = client.task(task["id"]), runs_of(client, task)
    assert (after["status"], after["due_at"]) == (
        *("pending_verification", "2026-02-18T12:00:10.000Z"),
    )
    assert (after["wait"], after["wait_until"]) == ("verification", after["due_at"])
    assert (run["status"], run["phase"], run["ended_at"]) == ("paused:approval", "mutated", None)
    assert run["mutation"]["result"] == {"reply": DONE["reply"]}
    assert history_of(client, task) == EVENTS_OF_WORK


def test_its_sender_is_asked_to_look_once(client: StackClient) -> None:
    task = done(client)
    client.advance("6h")
    short = task["short_id"]
    assert told(client) == [
        "Please check: fix the build\nMended the build.\n"
        f"/approve {short} or /reject {short} <why>."
    ]


def test_work_without_an_outcome_waits_for_a_verdict_too(client: StackClient) -> None:
    task = done(client, UNSURE)
    assert (status_of(client, task), client.items(f"/tasks/{task['id']}/errors")) == (
        *("pending_verification", []),
    )


def test_work_that_says_it_failed_has_failed(client: StackClient) -> None:
    task = done(client, NOT_DONE)
    after = client.task(task["id"])
    assert (after["status"], after["last_error"], after["retry_count"]) == ("pending", "no key", 1)


def test_it_is_listed_by_its_status(client: StackClient) -> None:
    task = done(client)
    [found] = client.items("/tasks?status=pending_verification")
    assert found["id"] == task["id"]


@pytest.mark.parametrize("wish", ["pause", "resume", "run", "retry", "unblock"])
def test_nothing_but_a_verdict_moves_it(client: StackClient, wish: str) -> None:
    task = done(client)
    assert give(client, task, wish).status == 409
    assert status_of(client, task) == "pending_verification"


def test_it_can_be_called_off(client: StackClient) -> None:
    task = done(client)
    assert give(client, task, "cancel").body["status"] == "cancelled"
    client.advance("2d")
    assert [run["status"] for run in runs_of(client, task)] == ["cancelled"]
    assert history_of(client, task) == [*EVENTS_OF_WORK, "task:cancelled"]


# Over HTTP


def test_approved_work_is_completed(client: StackClient) -> None:
    task = done(client)
    answer = give(client, task, "approve")
    assert (answer.status, answer.body["status"]) == (200, "completed")
    client.advance("2d")
    assert [run["status"] for run in runs_of(client, task)] == ["committed"]
    assert (asked(client), told(client)[-1]) == (1, "Done: fix the build\nMended the build.")
    assert history_of(client, task) == [*EVENTS_OF_WORK, "task:approved", "task:completed"]


def test_an_approval_is_told_at_its_moment(client: StackClient) -> None:
    task = done(client)
    client.advance("3h")
    give(client, task, "approve")
    [run] = runs_of(client, task)
    assert client.task(task["id"])["delivered_at"] == run["ended_at"] == "2026-02-17T15:00:30.000Z"


def test_approved_work_of_a_series_goes_on_with_its_next_occurrence(client: StackClient) -> None:
    task = done(client, repeat="daily")
    assert give(client, task, "approve").body["due_at"] == "2026-02-18T12:00:10.000Z"
    client.advance("1d")
    assert status_of(client, task) == "pending_verification"
    assert [run["reason"] for run in runs_of(client, task)] == ["first", "recurrence"]
    assert give(client, task, "approve").body["due_at"] == "2026-02-19T12:00:10.000Z"


def test_rejected_work_is_done_again_by_its_policy_with_the_reason(client: StackClient) -> None:
    task = done(client, DONE, DONE)
    answer = give(client, task, "reject", {"reason": "the tests are red"})
    assert (answer.status, answer.body["status"]) == (200, "pending")
    waiting = client.task(task["id"])
    assert (waiting["retry_count"], waiting["last_error"]) == (1, "rejected: the tests are red")
    assert waiting["last_error_category"] == "unknown"
    assert waiting["guidance"][0] == "rejected: the tests are red"
    assert waiting["description"] == "fix the build"

    client.advance("5m")
    first, second = runs_of(client, task)
    assert (first["status"], first["mutation"]["status"]) == ("paused:transient", "failed")
    assert (second["status"], second["retry_of"]) == ("paused:approval", first["id"])
    assert (second["mutation"]["key"], asked(client)) == (second["id"], 2)
    assert history_of(client, task)[3:5] == ["task:retry_scheduled", "task:recovery_action"]
    assert give(client, task, "approve").body["status"] == "completed"


def test_a_rejection_is_in_the_error_log(client: StackClient) -> None:
    task = done(client)
    give(client, task, "reject", {"reason": "the tests are red"})
    client.advance("1s")
    [error] = client.items(f"/tasks/{task['id']}/errors")
    assert (error["message"], error["code"]) == ("rejected: the tests are red", "rejected")
    assert error["id"] == runs_of(client, task)[0]["id"]


def test_work_that_is_rejected_too_often_is_given_up(client: StackClient) -> None:
    task = an_action(client, DONE, policy="omega")
    for _ in range(3):
        client.advance("5m")
        assert give(client, task, "reject", {"reason": "no"}).status == 200
    assert status_of(client, task) == "failed"
    assert " failed for good after 3 attempts: rejected: no." in told(client)[-1]


def test_a_reason_that_quotes_a_secret_is_not_kept_with_it(client: StackClient) -> None:
    task = done(client)
    key = "sk-" + "a1B2" * 10
    give(client, task, "reject", {"reason": f"it leaked {key}"})
    client.advance("5m")
    told_anywhere = [client.task(task["id"]), *client.items(f"/tasks/{task['id']}/history")]
    assert key not in str(told_anywhere)


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
def test_a_rejection_says_why(client: StackClient, body: Any) -> None:
    task = done(client)
    answer = give(client, task, "reject", body)
    assert (answer.status, answer.headers["content-type"]) == (422, "application/problem+json")
    assert answer.body["errors"]
    assert status_of(client, task) == "pending_verification"


@pytest.mark.parametrize("body", [b"{", b"[]", b'"no"', b"\xff"])
def test_a_rejection_that_is_no_json_object_is_refused(client: StackClient, body: bytes) -> None:
    task = done(client)
    assert give(client, task, "reject", body).status == 422
    assert status_of(client, task) == "pending_verification"


def test_only_work_that_waits_for_a_verdict_gets_one(client: StackClient) -> None:
    task = an_action(client, DONE)
    before = [give(client, task, "approve"), give(client, task, "reject", {"reason": "no"})]
    client.advance("30s")
    give(client, task, "approve")
    after = [give(client, task, "approve"), give(client, task, "reject", {"reason": "no"})]
    assert [answer.status for answer in (*before, *after)] == [409] * 4
    assert "is pending: only work to be verified can be approved" in before[0].body["detail"]
    assert (status_of(client, task), client.task(task["id"])["retry_count"]) == ("completed", 0)


def test_an_unknown_task_is_not_found(client: StackClient) -> None:
    nobody = {"id": "00000000-0000-4000-8000-000000000000"}
    answers = [give(client, nobody, "approve"), give(client, nobody, "reject", {"reason": "no"})]
    assert [answer.status for answer in answers] == [404, 404]


def test_a_verdict_needs_a_token(client: StackClient) -> None:
    task = done(client)
    path = f"/tasks/{task['id']}/approve"
    assert client.call("POST", path, token="wrong").status == 401
    assert status_of(client, task) == "pending_verification"


def test_a_reminder_has_no_work_to_verify(client: StackClient) -> None:
    body = {"type": "reminder", "description": "stretch", "in": "1m", "verify": True}
    answer = client.call("POST", "/tasks", body)
    assert (answer.status, [one["field"] for one in answer.body["errors"]]) == (422, ["verify"])


# In chat


def test_its_sender_approves_it_in_chat(client: StackClient) -> None:
    task = done(client)
    short = task["short_id"]
    client.say(f"/approve {short}")
    assert told(client)[-2:] == [
        *(f"Approved {short}: fix the build", "Done: fix the build\nMended the build."),
    ]
    assert status_of(client, task) == "completed"


def test_its_sender_rejects_it_in_chat_and_says_why(client: StackClient) -> None:
    task = done(client)
    short = task["short_id"]
    client.say(f"/reject {short} the link is broken")
    answer, notice = told(client)[-2:]
    assert answer == f"Rejected {short}: fix the build (pending)"
    failed = f"Task {short} (fix the build) failed: rejected: the link is broken."
    assert notice.startswith(f"{failed} Next try: ")
    assert client.task(task["id"])["guidance"][0] == "rejected: the link is broken"


@pytest.mark.parametrize("text", ["/approve {}", "/reject {} it is bad", "/resolve {} applied"])
def test_another_sender_is_told_that_there_is_no_such_task(client: StackClient, text: str) -> None:
    task = done(client)
    unknown = "f" * 8
    theirs = client.say(text.format(task["short_id"]), sender="eve")
    nobodys = client.say(text.format(unknown), sender="eve")
    assert theirs.replace(task["short_id"], unknown) == nobodys
    assert theirs == f"There is no task {task['short_id']}. /tasks lists yours."
    assert status_of(client, task) == "pending_verification"


@pytest.mark.parametrize("text", ["/reject", "/reject {}", "/reject {}   ", "/approve"])
def test_half_a_verdict_is_answered_with_what_is_missing(client: StackClient, text: str) -> None:
    task = done(client)
    answer = client.say(text.format(task["short_id"]))
    assert answer.startswith("Which one")
    assert status_of(client, task) == "pending_verification"


def test_in_chat_what_waits_for_no_verdict_says_so(client: StackClient) -> None:
    task = an_action(client, DONE)
    answer = client.say(f"/approve {task['short_id']}")
    assert answer.endswith("is pending: only work to be verified can be approved.")


# By a second provider


def test_a_verifier_that_says_yes_completes_it_and_asks_nobody(client: StackClient) -> None:
    task = done(client, DONE, verifier=[YES])
    assert (status_of(client, task), asked(client)) == ("completed", 2)
    assert told(client) == ["Done: fix the build\nMended the build."]
    assert history_of(client, task) == [*EVENTS_OF_WORK, "task:approved", "task:completed"]


def test_a_verifier_that_says_no_has_it_done_again_with_its_reason(client: StackClient) -> None:
    task = done(client, DONE, verifier=[NO])
    waiting = client.task(task["id"])
    assert (waiting["status"], waiting["retry_count"]) == ("pending", 1)
    assert waiting["guidance"][0] == "rejected: no tests"
    assert runs_of(client, task)[0]["mutation"]["status"] == "failed"
    client.advance("5m")
    assert len(runs_of(client, task)) == 2


def test_a_verifier_judges_work_without_an_outcome(client: StackClient) -> None:
    assert status_of(client, done(client, UNSURE, verifier=[YES])) == "completed"


@pytest.mark.parametrize("answer", [SAYS_NEITHER, DOWN])
def test_a_verifier_that_decides_nothing_three_times_leaves_it_to_a_person(
    client: StackClient, answer: dict[str, Any]
) -> None:
    task = done(client, DONE, verifier=[answer])
    assert told(client) == []
    client.advance("1h")
    assert asked(client) == 1 + 3
    assert (status_of(client, task), client.task(task["id"])["retry_count"]) == (
        *("pending_verification", 0),
    )
    [text] = told(client)
    assert text.startswith("Please check: fix the build")
    assert history_of(client, task) == [*EVENTS_OF_WORK, "task:verification_requested"]
    assert give(client, task, "approve").body["status"] == "completed"


def test_a_verifier_is_asked_again_after_it_was_down(client: StackClient) -> None:
    task = done(client, DONE, verifier=[DOWN, YES])
    client.advance("10m")
    assert (status_of(client, task), asked(client)) == ("completed", 3)


def test_a_person_need_not_wait_for_the_verifier(client: StackClient) -> None:
    task = done(client, DONE, verifier=[SAYS_NEITHER])
    assert give(client, task, "approve").body["status"] == "completed"
    client.advance("1h")
    assert (status_of(client, task), asked(client)) == ("completed", 2)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_worker_that_dies_as_it_asks_the_verifier_leaves_the_work_alone(
    client: StackClient, when: str
) -> None:
    client.add_fault(function="worker", call="provider.call", nth=2, when=when)
    task = done(client, DONE, verifier=[YES])
    client.advance("20m")
    assert (status_of(client, task), len(runs_of(client, task))) == ("completed", 1)


@pytest.mark.parametrize(
    "verifier",
    ["scripted", [], {}, {"provider": "nobody"}, {"provider": "scripted", "script": []}],
)
def test_a_verifier_that_cannot_be_asked_is_refused_at_the_door(
    client: StackClient, verifier: Any
) -> None:
    payload = {"provider": "scripted", "script": [DONE], "verifier": verifier}
    body = {"type": "action", "description": "x", "in": "1m", "verify": True, "payload": payload}
    answer = client.call("POST", "/tasks", body)
    assert (answer.status, answer.body["errors"][0]["field"]) == (422, "payload")
    assert "verifier" in answer.body["errors"][0]["message"]


# By nobody


def test_where_nobody_says_anything_for_a_day_it_fails(client: StackClient) -> None:
    task = done(client)
    client.advance("23h")
    waiting = status_of(client, task)
    client.advance("2h")
    after, [run] = client.task(task["id"]), runs_of(client, task)
    assert (waiting, after["status"]) == ("pending_verification", "failed")
    assert after["last_error"] == "nobody approved or rejected the work in time"
    assert (run["mutation"]["status"], run["mutation"]["result"]) == (
        *("applied", {"reply": DONE["reply"]}),
    )
    assert history_of(client, task) == [*EVENTS_OF_WORK, "task:failed"]
    assert "failed for good" in told(client)[-1]
    client.advance("5d")
    assert (asked(client), len(runs_of(client, task))) == (1, 1)


def test_a_verdict_that_comes_too_late_is_refused(client: StackClient) -> None:
    task = done(client)
    client.advance("25h")
    assert give(client, task, "approve").status == 409
    assert give(client, task, "reject", {"reason": "no"}).status == 409


def test_what_nobody_looked_at_can_be_put_before_them_again(client: StackClient) -> None:
    task = done(client)
    client.advance("25h")
    assert give(client, task, "retry").status == 200
    client.advance("1m")
    assert (status_of(client, task), asked(client)) == ("pending_verification", 1)
    assert told(client)[-1].startswith("Please check: fix the build\nMended the build.")
    assert give(client, task, "approve").body["status"] == "completed"


def test_a_series_goes_on_when_nobody_looked(client: StackClient) -> None:
    task = done(client, repeat="weekly")
    client.advance("25h")
    after = client.task(task["id"])
    assert (after["status"], after["due_at"]) == ("pending", "2026-02-24T12:00:10.000Z")
    assert "The series goes on" in told(client)[-1]


# Work that others are told of


def an_enrichment(client: StackClient) -> dict[str, Any]:
    payload = {
        "provider": "scripted",
        "script": [{"reply": '{"title": "Tides"}'}],
        "schema": {"type": "object"},
        "tell": True,
    }
    return client.create(type="enrich", payload=payload, verify=True, **{"in": "10s"})


def test_nobody_is_told_the_answer_before_it_is_approved(client: StackClient) -> None:
    task = an_enrichment(client)
    client.advance("1m")
    assert not any("Tides" in text for text in told(client))
    assert give(client, task, "approve").body["status"] == "pending"
    client.advance("1m")
    assert (status_of(client, task), asked(client)) == ("completed", 1)
    assert '"title": "Tides"' in told(client)[-1]
    first, second = runs_of(client, task)
    assert (first["status"], second["status"]) == ("paused:approval", "committed")
    assert (second["retry_of"], second["mutation"]) == (first["id"], first["mutation"])


def test_a_failure_to_tell_approved_work_is_in_its_history(client: StackClient) -> None:
    task = an_enrichment(client)
    client.advance("1m")
    client.add_fault(function="worker", call="channel.send", kind="error")
    give(client, task, "approve")
    client.advance("1h")
    history = history_of(client, task)
    assert history.count("task:approved") == history.count("task:retry_scheduled") == 1
    assert (status_of(client, task), asked(client)) == ("completed", 1)
