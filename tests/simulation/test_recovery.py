"""Recovery through the whole stack: reviews of specifications, and blocked tasks that time out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from duecourse.app import stores
from duecourse.domain.time.instant import from_text
from moto.dynamodb.models import dynamodb_backends

from local.runtime.stream_sources import _to_lambda_record
from local.runtime.template import ACCOUNT, REGION
from tests.simulation.test_actions import MODEL, asked, said
from tests.simulation.test_failures import SUCCESS, TYPE_ERROR, an_action
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

SPEC = "foo is exported by lib/foo.ts"
COMPILE = 'file.ts(45,12): error TS2304: Cannot find name "foo"'
TO_REVIEW = "8m"  # the third code error has come by then, and the review has run once
THRICE = (TYPE_ERROR,) * 3


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """Stands for the provider's API."""
    with Receiver() as found:
        yield found


def a_task(client: StackClient, *script: dict[str, Any], **payload: Any) -> dict[str, Any]:
    return an_action(client, *script, payload={"spec": SPEC, **payload})


def stuck(client: StackClient) -> tuple[dict[str, Any], dict[str, Any]]:
    """A task that waits for its review, which waits for its second attempt."""
    task = a_task(client, *THRICE, SUCCESS, review={"script": [TYPE_ERROR]})
    client.advance(TO_REVIEW)
    return client.task(task["id"]), review_of(client, task)


def reviews_of(client: StackClient, task: dict[str, Any]) -> list[dict[str, Any]]:
    begins = f"{task['short_id']}-SPEC-REVIEW: "
    return [one for one in client.items("/tasks") if one["description"].startswith(begins)]


def review_of(client: StackClient, task: dict[str, Any]) -> dict[str, Any]:
    [review] = reviews_of(client, task)
    return review


def history(client: StackClient, task: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    events = client.items(f"/tasks/{task['id']}/history")
    return [(event["type"], event["detail"]) for event in events]


def detail_of(client: StackClient, task: dict[str, Any], kind: str) -> dict[str, Any]:
    return [detail for found, detail in history(client, task) if found == kind][-1]


def told(client: StackClient, target: str = "ada") -> list[str]:
    return [sent["text"] for sent in client.outbox(target)]


def post(client: StackClient, task: dict[str, Any], move: str, body: Any = None) -> dict[str, Any]:
    answer = client.call("POST", f"/tasks/{task['id']}/{move}", body)
    assert answer.status == 200, answer.body
    return dict(answer.body)


def records() -> list[dict[str, Any]]:
    shard = dynamodb_backends[ACCOUNT][REGION].tables["TasksTable"].stream_shard
    return [_to_lambda_record(item.to_json()) for item in shard.items]


# The review and its answer


def test_the_provider_is_asked_about_the_specification_and_its_answer_is_used(
    client: StackClient, receiver: Receiver
) -> None:
    for _ in range(3):
        receiver.answer(200, said(f"I tried.\nACTION_OUTCOME: failed | {COMPILE}"))
    receiver.answer(200, said("Write which foo is meant.\nACTION_OUTCOME: success"))
    receiver.answer(200, said("Built.\nACTION_OUTCOME: success"))
    payload = {"provider": "openai", "endpoint": receiver.url("/v1"), "model": MODEL, "spec": SPEC}
    task = client.create(
        type="action", description="fix the build", payload=payload, **{"in": "10s"}
    )
    client.advance("10m")

    first, *_, review, last = (asked(receiver, n)["user"] for n in range(5))
    assert first == f"fix the build\n\nThe specification:\n{SPEC}"
    assert review.startswith(f"{task['short_id']}-SPEC-REVIEW: ")
    assert all(part in review for part in (COMPILE, "fix the build", SPEC, "code_error"))
    assert "| The specification was reviewed: Write which foo is meant." in last.splitlines()
    assert client.task(task["id"])["status"] == "completed"
    assert told(client)[-1].endswith("Built.")


def test_history_and_runs_tell_how_it_went(client: StackClient) -> None:
    task = a_task(client, *THRICE, SUCCESS)
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


def test_its_owner_hears_of_the_task_and_not_of_its_review(client: StackClient) -> None:
    task = a_task(client, *THRICE, SUCCESS, review={"script": [TYPE_ERROR, SUCCESS]})
    client.advance("1h")
    assert (review_of(client, task)["status"], client.task(task["id"])["status"]) == (
        *("completed", "completed"),
    )
    first, last = told(client)
    assert first.startswith(f"Task {task['short_id']} ")
    assert last.startswith("Done at the 4th attempt: ")


def test_the_task_is_blocked_by_the_write_that_makes_the_review(client: StackClient) -> None:
    task, review = stuck(client)
    assert (task["status"], task["recovery_action"]) == ("blocked", "retry_with_spec_refresh")
    assert (review["type"], review["policy"], review["sender_id"]) == ("action", "agent", "ada")
    assert review["created_at"] == review["nominal_at"]
    assert "spec" not in review["payload"]
    assert (review["review_of"], task["review_of"]) == (task["id"], None)
    assert "spec_review" not in review["payload"]
    order = [change["dynamodb"]["Keys"]["id"]["S"] for change in records()]
    made = order.index(review["id"])
    assert order[made - 1] == task["id"]


def test_a_review_may_be_another_providers_with_another_budget(client: StackClient) -> None:
    own = {"provider": "scripted", "script": [SUCCESS], "budget": "reviews"}
    task = a_task(client, *THRICE, SUCCESS, review=own)
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
def test_a_payload_that_would_make_no_review_is_refused(
    client: StackClient, payload: dict[str, Any], problem: str
) -> None:
    wanted = {"provider": "scripted", **payload}
    body = {"type": "action", "description": "x", "in": "1h", "payload": wanted}
    answer = client.call("POST", "/tasks", body)
    assert answer.status == 422
    [error] = answer.body["errors"]
    assert (error["field"], error["message"][: len(problem)]) == ("payload", problem)
    assert client.items("/tasks") == []


# A review that leads to nothing


def test_a_review_that_fails_escalates_the_task_to_owner_and_operators(
    client: StackClient,
) -> None:
    task, review = stuck(client)
    client.advance("1h")

    after = client.task(task["id"])
    assert (after["status"], after["recovery_action"]) == ("blocked", "escalate_to_human")
    reason = detail_of(client, task, "task:escalated")["reason"]
    assert reason.startswith("The review of its specification failed: file.ts")
    for target in ("ada", "operators"):
        [text] = [one for one in told(client, target) if "needs you" in one]
        assert task["short_id"] in text
        assert "The review of its specification failed" in text
    assert client.task(review["id"])["status"] == "cancelled"


def test_a_review_that_is_called_off_escalates_the_task(client: StackClient) -> None:
    task, review = stuck(client)
    client.say(f"/cancel {review['short_id']}")
    client.advance("1s")

    assert client.task(task["id"])["recovery_action"] == "escalate_to_human"
    assert "was called off" in told(client)[-1]


# The task does not wait for it


@pytest.mark.parametrize(
    ("move", "status"), [("cancel", "cancelled"), ("retry", "completed"), ("unblock", "completed")]
)
def test_a_task_that_waits_no_more_calls_its_review_off(
    client: StackClient, move: str, status: str
) -> None:
    task, review = stuck(client)
    post(client, task, move)
    client.advance("1m")

    assert client.task(task["id"])["status"] == status
    assert client.task(review["id"])["status"] == "cancelled"
    client.advance("2d")
    assert client.task(task["id"])["status"] == status


def test_another_reading_calls_the_review_off(client: StackClient) -> None:
    task, review = stuck(client)
    assert post(client, task, "reclassify", {"category": "transient"})["status"] == "pending"
    client.advance("1s")
    assert client.task(review["id"])["status"] == "cancelled"


def test_a_failure_said_to_be_a_code_error_is_reviewed(client: StackClient) -> None:
    odd = {"error": {"message": "the flux was misaligned"}}
    task = a_task(client, odd, odd, odd, SUCCESS)
    client.advance(TO_REVIEW)
    assert reviews_of(client, task) == []
    assert post(client, task, "reclassify", {"category": "code_error"})["status"] == "blocked"
    client.advance("10s")

    assert review_of(client, task)["status"] == "completed"
    assert client.task(task["id"])["status"] == "completed"


# Whatever dies


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("function", "call", "nth"),
    [
        ("failure", "dynamodb.TransactWriteItems", 1),  # the task and its review
        ("failure", "sqs.SendMessageBatch", 1),  # the review
        ("journal", "dynamodb.GetItem", 1),
        ("journal", "dynamodb.GetItem", 2),
        ("journal", "dynamodb.GetItem", 7),
        ("journal", "dynamodb.PutItem", 1),  # the task is taken up
        ("journal", "sqs.SendMessageBatch", 1),
        ("journal", "sqs.SendMessageBatch", 2),
        ("journal", "sqs.SendMessageBatch", 3),  # the task, after it is taken up
        ("journal", "sqs.SendMessageBatch", 4),
    ],
)
def test_one_review_is_made_and_its_answer_used_once(
    client: StackClient, function: str, call: str, nth: int, when: str
) -> None:
    task = a_task(client, *THRICE, SUCCESS)
    client.add_fault(function=function, call=call, nth=nth, when=when, kind="crash")
    client.advance("20m")

    after = client.task(task["id"])
    assert (after["status"], after["retry_count"]) == ("completed", 3)
    assert len(reviews_of(client, task)) == 1
    assert sum(one.startswith("The specification was reviewed") for one in after["guidance"]) == 1
    assert len(client.items(f"/tasks/{task['id']}/runs")) == 4


@pytest.mark.parametrize("kind", ["timeout", "throttle"])
def test_an_answer_that_is_lost_makes_no_second_review(client: StackClient, kind: str) -> None:
    task = a_task(client, *THRICE, SUCCESS)
    client.add_fault(
        function="failure", call="dynamodb.TransactWriteItems", when="after", kind=kind
    )
    client.advance("20m")

    assert client.task(task["id"])["status"] == "completed"
    assert len(reviews_of(client, task)) == 1


def test_all_that_happened_may_come_again(client: StackClient) -> None:
    """Every record of the stream, once more and in one go."""
    done = a_task(client, *THRICE, SUCCESS)
    task, review = stuck(client)
    client.advance("2m")
    ids = [one["id"] for one in (done, task, review)]
    before = [client.task(task_id) for task_id in ids]
    sent = len(client.outbox())

    assert client.stack.invoke("journal", {"Records": records()}) == {"batchItemFailures": []}
    client.advance("1s")
    assert [client.task(task_id) for task_id in ids] == before
    assert len(reviews_of(client, done)) == 1
    assert len(client.outbox()) >= sent


# Time passes


def test_a_jump_of_days_times_out_at_its_time(client: StackClient) -> None:
    task = an_action(client, {"error": {"message": "the flux was misaligned"}})
    client.advance("3d")

    runs = client.items(f"/tasks/{task['id']}/runs")
    events = client.items(f"/tasks/{task['id']}/history")
    assert (events[-1]["type"], client.task(task["id"])["status"]) == ("task:failed", "failed")
    waited = from_text(events[-1]["at"]) - from_text(runs[-1]["ended_at"])
    assert 0 <= waited.total_seconds() - 24 * 3600 <= 300
    assert events[-1]["detail"]["reason"] == "nobody answered for 24 hours"
    assert "nobody answered for 24 hours" in told(client)[-1]


def test_the_time_can_be_set(client: StackClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BLOCKED_TIMEOUT_HOURS", "2")
    stores.settings.cache_clear()  # every stack begins with settings of its own
    task = an_action(client, {"error": {"message": "the flux was misaligned"}})
    client.advance("1h")
    assert client.task(task["id"])["status"] == "blocked"
    client.advance("2h")

    assert client.task(task["id"])["status"] == "failed"
    assert detail_of(client, task, "task:failed")["reason"] == "nobody answered for 2 hours"


def test_a_task_that_timed_out_may_be_retried(client: StackClient) -> None:
    odd = {"error": {"message": "the flux was misaligned"}}
    task = an_action(client, odd, odd, odd, odd, SUCCESS)
    client.advance("26h")
    assert client.task(task["id"])["status"] == "failed"
    assert post(client, task, "retry")["retry_count"] == 0
    client.advance("10s")
    assert client.task(task["id"])["status"] == "completed"


def test_a_task_whose_review_takes_too_long_ends_with_it(client: StackClient) -> None:
    task, review = stuck(client)
    post(client, review, "pause")
    client.advance("25h")

    assert client.task(task["id"])["status"] == "failed"
    assert client.task(review["id"])["status"] == "cancelled"


def test_what_may_have_happened_waits_for_a_person_as_long_as_it_takes(
    client: StackClient,
) -> None:
    client.add_fault(function="worker", call="provider.call", kind="crash")
    task = an_action(client, SUCCESS)
    client.advance("7d")
    assert client.task(task["id"])["recovery_action"] == "ask_person"
    assert client.task(task["id"])["status"] == "blocked"
    assert post(client, task, "resolve", {"outcome": "applied"})["status"] == "completed"


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", ["dynamodb.GetItem", "dynamodb.PutItem"])
def test_a_sweep_that_dies_is_made_up_for(client: StackClient, call: str, when: str) -> None:
    task = an_action(client, {"error": {"message": "the flux was misaligned"}})
    client.advance("1h")
    client.add_fault(function="sweeper", call=call, when=when, kind="crash")
    client.advance("25h")

    assert client.task(task["id"])["status"] == "failed"
    assert [kind for kind, _ in history(client, task)].count("task:failed") == 1
