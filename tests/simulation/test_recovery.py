"""Recovery through the whole stack: spec reviews, and blocked tasks that time out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from duecourse.app import stores
from duecourse.domain.time.instant import from_text

from tests.simulation.test_actions import MODEL, completion_of, prompt_of
from tests.simulation.test_failures import SUCCESS, TYPE_ERROR, create_action
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

SPEC = "foo is exported by lib/foo.ts"
COMPILE = 'file.ts(45,12): error TS2304: Cannot find name "foo"'
UNTIL_REVIEW = "8m"  # by then the third code error has happened and the review has run once
THREE_CODE_ERRORS = (TYPE_ERROR,) * 3


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Stand in for the provider's API."""
    with Receiver() as started:
        yield started


def create_task_with_spec(
    client: StackClient, *script: dict[str, Any], **payload: Any
) -> dict[str, Any]:
    return create_action(client, *script, payload={"spec": SPEC, **payload})


def create_waiting_task(client: StackClient) -> tuple[dict[str, Any], dict[str, Any]]:
    """Create a task that waits for its review, which waits for its second attempt."""
    task = create_task_with_spec(
        client, *THREE_CODE_ERRORS, SUCCESS, review={"script": [TYPE_ERROR]}
    )
    client.advance(UNTIL_REVIEW)
    return client.task(task["id"]), review_of(client, task)


def reviews_of(client: StackClient, task: dict[str, Any]) -> list[dict[str, Any]]:
    prefix = f"{task['short_id']}-SPEC-REVIEW: "
    return [review for review in client.items("/tasks") if review["description"].startswith(prefix)]


def review_of(client: StackClient, task: dict[str, Any]) -> dict[str, Any]:
    [review] = reviews_of(client, task)
    return review


def history(client: StackClient, task: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    events = client.items(f"/tasks/{task['id']}/history")
    return [(event["type"], event["detail"]) for event in events]


def detail_of(client: StackClient, task: dict[str, Any], kind: str) -> dict[str, Any]:
    return [detail for event_type, detail in history(client, task) if event_type == kind][-1]


def sent_texts(client: StackClient, target: str = "ada") -> list[str]:
    return [sent["text"] for sent in client.outbox(target)]


def post_action(
    client: StackClient, task: dict[str, Any], action: str, body: Any = None
) -> dict[str, Any]:
    answer = client.call("POST", f"/tasks/{task['id']}/{action}", body)
    assert answer.status == 200, answer.body
    return dict(answer.body)


def stream_records(client: StackClient) -> list[dict[str, Any]]:
    return list(client.stack.backend.stream_records("TasksTable"))


# The review and its result


def test_the_provider_reviews_the_spec_and_its_reply_is_used(
    client: StackClient, receiver: Receiver
) -> None:
    for _ in range(3):
        receiver.answer(200, completion_of(f"I tried.\nACTION_OUTCOME: failed | {COMPILE}"))
    receiver.answer(200, completion_of("Write which foo is meant.\nACTION_OUTCOME: success"))
    receiver.answer(200, completion_of("Built.\nACTION_OUTCOME: success"))
    payload = {"provider": "openai", "endpoint": receiver.url("/v1"), "model": MODEL, "spec": SPEC}
    task = client.create(
        type="action", description="fix the build", payload=payload, **{"in": "10s"}
    )
    client.advance("10m")

    first, *_, review, last = (prompt_of(receiver, n)["user"] for n in range(5))
    assert first == f"fix the build\n\nThe specification:\n{SPEC}"
    assert review.startswith(f"{task['short_id']}-SPEC-REVIEW: ")
    assert all(part in review for part in (COMPILE, "fix the build", SPEC, "code_error"))
    assert "| The specification was reviewed:\n| > Write which foo is meant.\n" in last
    answer = "The specification was reviewed: Write which foo is meant."
    assert answer in client.task(task["id"])["guidance"]
    assert client.task(task["id"])["status"] == "completed"
    assert sent_texts(client)[-1].endswith("Built.")


def test_history_and_runs_contain_the_review(client: StackClient) -> None:
    task = create_task_with_spec(client, *THREE_CODE_ERRORS, SUCCESS)
    client.advance("10m")
    review = review_of(client, task)

    kinds = [kind for kind, _ in history(client, task)]
    assert kinds[-6:] == [
        *("task:recovery_action", "task:spec_refresh_requested", "task:unblocked"),
        *("task:started", "task:retry_executed", "task:completed"),
    ]
    requested = detail_of(client, task, "task:spec_refresh_requested")
    assert (requested["review_task_id"], requested["category"]) == (review["id"], "code_error")
    assert detail_of(client, task, "task:unblocked")["review_task_id"] == review["id"]
    runs = client.items(f"/tasks/{task['id']}/runs")
    assert [run["reason"] for run in runs] == ["first", "transient", "transient", "transient"]
    assert client.task(task["id"])["retry_count"] == 3


def test_the_owner_is_notified_of_the_task_and_not_of_its_review(client: StackClient) -> None:
    task = create_task_with_spec(
        client, *THREE_CODE_ERRORS, SUCCESS, review={"script": [TYPE_ERROR, SUCCESS]}
    )
    client.advance("1h")
    assert (review_of(client, task)["status"], client.task(task["id"])["status"]) == (
        *("completed", "completed"),
    )
    first, last = sent_texts(client)
    assert first.startswith(f"Task {task['short_id']} ")
    assert last.startswith("Done on attempt 4: ")


def test_one_write_blocks_the_task_and_creates_the_review(client: StackClient) -> None:
    task, review = create_waiting_task(client)
    assert (task["status"], task["recovery_action"]) == ("blocked", "retry_with_spec_refresh")
    assert (review["type"], review["policy"], review["sender_id"]) == ("action", "agent", "ada")
    assert review["created_at"] == review["nominal_at"]
    assert "spec" not in review["payload"]
    assert (review["review_of"], task["review_of"]) == (task["id"], None)
    assert "spec_review" not in review["payload"]
    written_ids = [change["dynamodb"]["Keys"]["id"]["S"] for change in stream_records(client)]
    review_index = written_ids.index(review["id"])
    assert written_ids[review_index - 1] == task["id"]


def test_a_review_may_use_another_provider_and_budget(client: StackClient) -> None:
    review_payload = {"provider": "scripted", "script": [SUCCESS], "budget": "reviews"}
    task = create_task_with_spec(client, *THREE_CODE_ERRORS, SUCCESS, review=review_payload)
    client.advance("10m")

    assert client.task(task["id"])["status"] == "completed"
    assert client.call("GET", "/budgets/reviews").body["calls"] == 1


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        ({"spec_review": {"of": "x"}}, "spec_review: is set by"),
        ({"spec": "x", "review": "openai"}, "review: must be a JSON object"),
        ({"spec": "x", "review": {"provider": "nobody"}}, "review.provider: must be one of"),
        ({"spec": "x", "review": {"script": []}}, "review.script: must be"),
    ],
)
def test_a_payload_with_an_invalid_review_is_refused(
    client: StackClient, payload: dict[str, Any], problem: str
) -> None:
    full_payload = {"provider": "scripted", **payload}
    body = {"type": "action", "description": "x", "in": "1h", "payload": full_payload}
    answer = client.call("POST", "/tasks", body)
    assert answer.status == 422
    [error] = answer.body["errors"]
    assert (error["field"], error["message"][: len(problem)]) == ("payload", problem)
    assert client.items("/tasks") == []


# A review that fails


def test_a_failed_review_escalates_the_task_to_owner_and_operators(
    client: StackClient,
) -> None:
    task, review = create_waiting_task(client)
    client.advance("1h")

    after = client.task(task["id"])
    assert (after["status"], after["recovery_action"]) == ("blocked", "escalate_to_human")
    reason = detail_of(client, task, "task:escalated")["reason"]
    assert reason.startswith("The review of its specification failed: file.ts")
    for target in ("ada", "operators"):
        [text] = [text for text in sent_texts(client, target) if "needs you" in text]
        assert task["short_id"] in text
        assert "The review of its specification failed" in text
    assert client.task(review["id"])["status"] == "cancelled"


def test_a_cancelled_review_escalates_the_task(client: StackClient) -> None:
    task, review = create_waiting_task(client)
    client.say(f"/cancel {review['short_id']}")
    client.advance("1s")

    assert client.task(task["id"])["recovery_action"] == "escalate_to_human"
    assert "was cancelled" in sent_texts(client)[-1]


# A task that no longer waits for its review


@pytest.mark.parametrize(
    ("action", "status"),
    [("cancel", "cancelled"), ("retry", "completed"), ("unblock", "completed")],
)
def test_a_task_that_stops_waiting_cancels_its_review(
    client: StackClient, action: str, status: str
) -> None:
    task, review = create_waiting_task(client)
    post_action(client, task, action)
    client.advance("1m")

    assert client.task(task["id"])["status"] == status
    assert client.task(review["id"])["status"] == "cancelled"
    client.advance("2d")
    assert client.task(task["id"])["status"] == status


def test_reclassifying_the_task_cancels_its_review(client: StackClient) -> None:
    task, review = create_waiting_task(client)
    assert post_action(client, task, "reclassify", {"category": "transient"})["status"] == "pending"
    client.advance("1s")
    assert client.task(review["id"])["status"] == "cancelled"


def test_a_failure_reclassified_as_a_code_error_is_reviewed(client: StackClient) -> None:
    unknown_error = {"error": {"message": "the flux was misaligned"}}
    task = create_task_with_spec(client, unknown_error, unknown_error, unknown_error, SUCCESS)
    client.advance(UNTIL_REVIEW)
    assert reviews_of(client, task) == []
    assert (
        post_action(client, task, "reclassify", {"category": "code_error"})["status"] == "blocked"
    )
    client.advance("10s")

    assert review_of(client, task)["status"] == "completed"
    assert client.task(task["id"])["status"] == "completed"


# Crashes


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("function", "call", "nth"),
    [
        ("failure", "dynamodb.TransactWriteItems", 1),  # the task and its review
        ("failure", "sqs.SendMessageBatch", 1),  # the review
        ("journal", "dynamodb.GetItem", 1),
        ("journal", "dynamodb.GetItem", 2),
        ("journal", "dynamodb.GetItem", 7),
        ("journal", "dynamodb.PutItem", 1),  # unblocks the task
        ("journal", "sqs.SendMessageBatch", 1),
        ("journal", "sqs.SendMessageBatch", 2),
        ("journal", "sqs.SendMessageBatch", 3),  # the message of the unblocked task
    ],
)
def test_a_crash_creates_one_review_and_uses_its_result_once(
    client: StackClient, function: str, call: str, nth: int, when: str
) -> None:
    task = create_task_with_spec(client, *THREE_CODE_ERRORS, SUCCESS)
    client.add_fault(function=function, call=call, nth=nth, when=when, kind="crash")
    client.advance("20m")

    after = client.task(task["id"])
    assert (after["status"], after["retry_count"]) == ("completed", 3)
    assert len(reviews_of(client, task)) == 1
    assert sum(hint.startswith("The specification was reviewed") for hint in after["guidance"]) == 1
    assert len(client.items(f"/tasks/{task['id']}/runs")) == 4


@pytest.mark.parametrize("kind", ["timeout", "throttle"])
def test_a_lost_response_creates_no_second_review(client: StackClient, kind: str) -> None:
    task = create_task_with_spec(client, *THREE_CODE_ERRORS, SUCCESS)
    client.add_fault(
        function="failure", call="dynamodb.TransactWriteItems", when="after", kind=kind
    )
    client.advance("20m")

    assert client.task(task["id"])["status"] == "completed"
    assert len(reviews_of(client, task)) == 1


def test_replaying_the_stream_changes_nothing(client: StackClient) -> None:
    """Every record of the stream again, in one batch."""
    completed = create_task_with_spec(client, *THREE_CODE_ERRORS, SUCCESS)
    task, review = create_waiting_task(client)
    client.advance("2m")
    ids = [item["id"] for item in (completed, task, review)]
    before = [client.task(task_id) for task_id in ids]
    texts = {target: set(sent_texts(client, target)) for target in ("ada", "operators")}

    assert client.stack.invoke("journal", {"Records": stream_records(client)}) == {
        "batchItemFailures": []
    }
    client.advance("1s")
    assert [client.task(task_id) for task_id in ids] == before
    assert len(reviews_of(client, completed)) == 1
    # A notification may be repeated, but the replay adds no new one.
    assert {target: set(sent_texts(client, target)) for target in texts} == texts


# Timeouts


def test_a_blocked_task_times_out_on_time_during_a_long_advance(client: StackClient) -> None:
    task = create_action(client, {"error": {"message": "the flux was misaligned"}})
    client.advance("3d")

    runs = client.items(f"/tasks/{task['id']}/runs")
    events = client.items(f"/tasks/{task['id']}/history")
    assert (events[-1]["type"], client.task(task["id"])["status"]) == ("task:failed", "failed")
    waited = from_text(events[-1]["at"]) - from_text(runs[-1]["ended_at"])
    assert 0 <= waited.total_seconds() - 24 * 3600 <= 300
    assert events[-1]["detail"]["reason"] == "nobody answered for 24 hours"
    assert "nobody answered for 24 hours" in sent_texts(client)[-1]


def test_the_blocked_timeout_is_configurable(
    client: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLOCKED_TIMEOUT_HOURS", "2")
    stores.settings.cache_clear()  # every stack caches its settings
    task = create_action(client, {"error": {"message": "the flux was misaligned"}})
    client.advance("1h")
    assert client.task(task["id"])["status"] == "blocked"
    client.advance("2h")

    assert client.task(task["id"])["status"] == "failed"
    assert detail_of(client, task, "task:failed")["reason"] == "nobody answered for 2 hours"


def test_a_timed_out_task_may_be_retried(client: StackClient) -> None:
    unknown_error = {"error": {"message": "the flux was misaligned"}}
    task = create_action(
        client, unknown_error, unknown_error, unknown_error, unknown_error, SUCCESS
    )
    client.advance("26h")
    assert client.task(task["id"])["status"] == "failed"
    assert post_action(client, task, "retry")["retry_count"] == 0
    client.advance("10s")
    assert client.task(task["id"])["status"] == "completed"


def test_a_task_times_out_together_with_its_review(client: StackClient) -> None:
    task, review = create_waiting_task(client)
    post_action(client, review, "pause")
    client.advance("25h")

    assert client.task(task["id"])["status"] == "failed"
    assert client.task(review["id"])["status"] == "cancelled"


def test_an_indeterminate_task_never_times_out(
    client: StackClient,
) -> None:
    client.add_fault(function="worker", call="provider.call", kind="crash")
    task = create_action(client, SUCCESS)
    client.advance("7d")
    assert client.task(task["id"])["recovery_action"] == "ask_person"
    assert client.task(task["id"])["status"] == "blocked"
    assert post_action(client, task, "resolve", {"outcome": "applied"})["status"] == "completed"


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", ["dynamodb.GetItem", "dynamodb.PutItem"])
def test_a_crashed_sweep_is_made_up_by_the_next(client: StackClient, call: str, when: str) -> None:
    task = create_action(client, {"error": {"message": "the flux was misaligned"}})
    client.advance("1h")
    client.add_fault(function="sweeper", call=call, when=when, kind="crash")
    client.advance("25h")

    assert client.task(task["id"])["status"] == "failed"
    assert [kind for kind, _ in history(client, task)].count("task:failed") == 1
