"""The journal through outages: nothing is lost, nobody is notified twice, and the rest redriven."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.tracking_models import CounterItem
from duecourse.app import queues, stores
from duecourse.usecases.dead_letters import repair_lost

from functions.api.routes import dead_letters
from tests.simulation.test_failures import create_action
from tests.support.stack_client import StackClient, running_stack

REFUSED = {"error": {"message": "connect ECONNREFUSED 10.0.0.7:443", "code": "ECONNREFUSED"}}
SUCCESS = {"reply": "Built.\nACTION_OUTCOME: success"}
FOREVER = 1_000_000
WRITES = ("dynamodb.BatchWriteItem", "dynamodb.PutItem", "dynamodb.UpdateItem")
RECOVERED_HISTORY = [
    *("task:created", "task:started", "task:retry_scheduled", "task:recovery_action"),
    *("task:started", "task:retry_executed", "task:completed"),
]
RECORD_AGE = timedelta(hours=2)  # a day of retries, once a minute, is no different and takes long
# Only the first of the journal's writes is reached.
pytestmark = pytest.mark.fault_may_miss


@pytest.fixture
def forgetful() -> Iterator[StackClient]:
    with running_stack(record_age=RECORD_AGE) as started:
        yield started


def throttle_journal(client: StackClient, calls: Sequence[str] = WRITES) -> None:
    for call in calls:
        client.add_fault(function="journal", call=call, kind="throttle", times=FOREVER)


def lose_records(client: StackClient) -> None:
    client.add_fault(
        function="deadletter",
        call="dynamodbstreams.GetShardIterator",
        kind="error",
        error={"code": "TrimmedDataAccessException", "status": 400},
        times=FOREVER,
    )


def history_of(client: StackClient, task: dict[str, Any]) -> list[str]:
    return [event["type"] for event in client.items(f"/tasks/{task['id']}/history")]


def create_actions(client: StackClient, people: list[str]) -> dict[str, dict[str, Any]]:
    return {
        name: create_action(client, REFUSED, SUCCESS, sender_id=name, reply_target=name)
        for name in people
    }


def counts(client: StackClient) -> tuple[int, int, int]:
    stats = client.call("GET", "/stats").body
    failures = sum(one["count"] for one in stats["errors_by_category"])
    recovered = sum(one["recovered"] for one in stats["recovery_rate"])
    return failures, recovered, stats["lateness"]["count"]


def test_after_an_hour_of_throttling_every_history_is_complete_and_everybody_was_notified_once(
    client: StackClient,
) -> None:
    people = [f"person-{n}" for n in range(8)]
    throttle_journal(client)
    tasks = create_actions(client, people)
    client.advance("1h")
    assert all(client.task(task["id"])["status"] == "completed" for task in tasks.values())
    assert client.outbox() == []
    assert counts(client) == (0, 0, 0)

    assert client.call("DELETE", "/_local/faults").status == 200
    client.advance("2m")
    for name, task in tasks.items():
        assert history_of(client, task) == RECOVERED_HISTORY
        [done] = client.outbox(name)  # that it failed and is retried is no longer true
        assert done["text"].startswith("Done")
    assert counts(client) == (8, 8, 8)
    assert client.items("/dead-letters") == []


def test_after_an_outage_people_are_notified_of_what_is_still_true_and_of_every_end_once(
    client: StackClient,
) -> None:
    throttle_journal(client)
    ended = create_action(client, REFUSED, sender_id="ada", reply_target="ada")
    client.advance("50m")
    waiting = create_action(client, REFUSED, REFUSED, sender_id="bob", reply_target="bob")
    client.advance("5m")
    assert client.call("DELETE", "/_local/faults").status == 200
    recovered = create_action(client, REFUSED, SUCCESS, sender_id="cy", reply_target="cy")
    client.advance("2m")

    assert client.task(ended["id"])["status"] in ("blocked", "failed")
    [end] = client.outbox("ada")
    assert "Next retry" not in end["text"]
    assert client.task(waiting["id"])["status"] == "pending"
    assert all("Next retry" in one["text"] for one in client.outbox("bob"))
    assert client.task(recovered["id"])["status"] == "completed"
    assert len(client.outbox("cy")) == 2  # a change that is not old is notified as before


def test_changes_that_the_journal_could_not_process_in_time_can_be_redriven(
    forgetful: StackClient,
) -> None:
    client = forgetful
    throttle_journal(client)
    tasks = create_actions(client, ["ada", "bob"])
    client.advance("2h30m")
    letters = client.items("/dead-letters")
    assert {letter["task_id"] for letter in letters} == {task["id"] for task in tasks.values()}
    assert {letter["queue"] for letter in letters} == {"journal"}

    assert client.call("DELETE", "/_local/faults").status == 200
    client.advance("2m")
    assert client.outbox("ada") == client.outbox("bob") == []  # the stream has moved on
    for _ in range(2):
        reply = client.call("POST", "/dead-letters/redrive").body
        assert reply["left"] == []
        client.advance("1m")
    for name, task in tasks.items():
        assert history_of(client, task) == RECOVERED_HISTORY
        assert len(client.outbox(name)) == 1
    assert counts(client) == (2, 2, 2)
    assert client.items("/dead-letters") == []


@pytest.mark.parametrize("calls", [WRITES, ["dynamodb.PutItem"]], ids=["all", "only counting"])
def test_a_letter_whose_records_are_gone_repairs_the_tasks_from_their_items(
    forgetful: StackClient, calls: Sequence[str]
) -> None:
    client = forgetful
    throttle_journal(client, calls)
    failing = create_action(client, REFUSED, sender_id="ada", reply_target="ada")
    lose_records(client)
    client.advance("2h30m")
    letters = client.items("/dead-letters")
    assert letters
    assert all(letter["task_id"] is None for letter in letters)
    assert client.call("DELETE", "/_local/faults").status == 200
    client.advance("5m")

    sent_before = len(client.outbox("ada"))
    assert client.call("POST", "/dead-letters/redrive").body["left"] == []
    client.advance("1m")
    task = client.task(failing["id"])
    assert task["status"] in ("failed", "blocked")
    [*_, last] = client.items(f"/tasks/{failing['id']}/errors")
    assert last["id"] == task["run_id"]
    [newest, *_] = client.items(f"/errors?category={last['category']}")
    assert newest["id"] == task["run_id"]
    assert len(client.outbox("ada")) == sent_before + 1


def create_successes(client: StackClient, people: Sequence[str]) -> None:
    for name in people:
        create_action(client, SUCCESS, sender_id=name, reply_target=name)


def redrive_all(client: StackClient) -> list[dict[str, Any]]:
    """Redrive with a queue that remembers nothing, as in the container of another function."""
    queues.notification_queue.cache_clear()
    left = client.call("POST", "/dead-letters/redrive").body["left"]
    client.advance("1m")
    return list(left)


def lose_some_successes(client: StackClient, processed: Sequence[str], lost: Sequence[str]) -> None:
    """Complete the tasks of all people within a minute, those of `lost` without the journal.

    Another shard of the stream would lose its records like this.
    """
    create_successes(client, processed)
    client.advance("20s")
    throttle_journal(client)
    lose_records(client)
    create_successes(client, lost)
    client.advance("2h30m")
    assert client.call("DELETE", "/_local/faults").status == 200
    client.advance("2m")


def assert_notified_once(client: StackClient, people: Sequence[str]) -> None:
    for name in people:
        assert [one["text"].partition(":")[0] for one in client.outbox(name)] == ["Done"], name


def test_of_the_successes_only_those_that_were_lost_are_counted_and_notified(
    forgetful: StackClient,
) -> None:
    client = forgetful
    processed, lost = [f"p{n}" for n in range(4)], [f"l{n}" for n in range(4)]
    lose_some_successes(client, processed, lost)
    assert counts(client) == (0, 0, 4)
    letters = stores.dead_letters()
    [first, *_] = letters.list_letters()

    assert redrive_all(client) == []
    assert counts(client) == (0, 0, 8)
    assert_notified_once(client, [*processed, *lost])

    client.advance("26h")  # the day is summed up, and the hour of counting is another one
    letters.save(first)
    assert redrive_all(client) == []
    assert counts(client) == (0, 0, 8)
    assert_notified_once(client, [*processed, *lost])


def test_a_repair_goes_on_where_the_last_request_stopped(
    forgetful: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = forgetful
    monkeypatch.setattr(repair_lost, "MAX_REBUILT", 2)
    monkeypatch.setattr(repair_lost, "_PAGE_SIZE", 2)
    lost = [f"l{n}" for n in range(5)]
    lose_some_successes(client, [], lost)
    requests = 0
    while left := redrive_all(client):
        requests += 1
        assert counts(client) == (0, 0, 2 * requests)
        assert {one["reason"] for one in left} == {repair_lost.GOES_ON}
    assert requests == 2
    assert counts(client) == (0, 0, 5)
    assert_notified_once(client, lost)


def test_a_notification_that_a_repair_could_not_send_is_sent_by_the_next_one(
    forgetful: StackClient,
) -> None:
    client = forgetful
    lost = [f"l{n}" for n in range(3)]
    lose_some_successes(client, [], lost)
    client.add_fault(function="api", call="sqs.SendMessageBatch", kind="throttle", times=FOREVER)
    assert repair_lost.FAILED_AGAIN in {one["reason"] for one in redrive_all(client)}
    assert client.call("DELETE", "/_local/faults").status == 200
    client.advance("26h")  # what is counted from now on is in other pages
    assert counts(client) == (0, 0, 3)
    assert redrive_all(client) == []
    assert counts(client) == (0, 0, 3)
    assert_notified_once(client, lost)


def test_a_repair_stops_in_time_and_makes_progress_in_each_request(
    forgetful: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = forgetful
    lost = [f"l{n}" for n in range(4)]
    lose_some_successes(client, [], lost)
    for n in range(1, 4):
        has_time = iter([True])  # for the first letter of the request, and then no more
        monkeypatch.setattr(dead_letters, "_has_time", lambda left=has_time: next(left, False))
        assert redrive_all(client) != []
        assert counts(client) == (0, 0, n)
    monkeypatch.undo()
    assert redrive_all(client) == []
    assert counts(client) == (0, 0, 4)
    assert_notified_once(client, lost)


def test_a_success_that_older_code_may_have_counted_is_left_out(forgetful: StackClient) -> None:
    client = forgetful
    lose_some_successes(client, [], ["ada"])
    CounterItem("2026-02-17", "lateness").save()
    assert redrive_all(client) == []
    assert client.outbox("ada") == []
    assert counts(client) == (0, 0, 0)


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_a_repair_does_not_repeat_an_end_that_the_journal_has(
    forgetful: StackClient, is_cancelled: bool
) -> None:
    client = forgetful
    throttle_journal(client)
    lose_records(client)
    task = create_action(client, REFUSED, sender_id="ada", reply_target="ada")
    client.advance("3h")
    assert client.task(task["id"])["status"] == "blocked"
    assert client.call("DELETE", "/_local/faults").status == 200
    if is_cancelled:
        assert client.call("POST", f"/tasks/{task['id']}/cancel").status == 200
    client.advance("27h")  # nobody answers
    before = client.outbox("ada")

    assert redrive_all(client) == []
    end = "task:cancelled" if is_cancelled else "task:failed"
    assert history_of(client, task) == [
        *("task:created", "task:started", "task:retry_executed"),
        *("task:recovery_action", "task:escalated", end),
    ]
    assert client.outbox("ada") == before
    assert len(before) == (0 if is_cancelled else 1)
    assert counts(client)[0] == 1
