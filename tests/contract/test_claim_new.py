"""The claim of a reminder that never ran: one write, without a read before it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.lease import Lease
from duecourse.domain.lifecycle.run_transitions import claim, commit, defer, first_run
from duecourse.domain.tasks.handler import HandlerCapabilities
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.skipped import SkippedOccurrences, SkipReason
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.ports.tasks import TaskStore

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults
from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, NOW
from tests.support.builders.runs import LEASE
from tests.support.builders.tasks import ID, a_task, claim_task

CAPABILITIES = HandlerCapabilities()


def a_lease(run_id: str) -> Lease:
    return Lease(run_id=run_id, expires_at=NOW + LEASE, handler_version="1")


def a_first_run(task: Task, run_id: str = "run-1") -> Run:
    return first_run(a_lease(run_id), CAPABILITIES, nominal_at=task.due_at, at=NOW)


def claim_new(store: TaskStore, task: Task, run_id: str = "run-1") -> Task | None:
    return store.claim_new(task.id, a_first_run(task, run_id), due_at=task.due_at)


@pytest.mark.parametrize(
    "task",
    [
        a_task(),
        a_task(repeat="daily", timezone="Europe/Berlin"),
        a_task(skipped=SkippedOccurrences(2, SkipReason.PAUSED), repeat="daily"),
        a_task(created_by="ci", request_hash="abc", version=7),
    ],
    ids=["one-shot", "series", "resumed series", "edited"],
)
def test_it_writes_what_the_claim_of_a_loaded_task_would(store: TaskStore, task: Task) -> None:
    store.create(task)
    expected = claim(task, a_lease("run-1"), CAPABILITIES, at=NOW)
    assert claim_new(store, task) == expected
    assert store.get(ID) == expected


def test_the_claimed_task_can_be_committed(store: TaskStore) -> None:
    task = claim_new(store, store.create(a_task()))
    assert task is not None
    store.save(task, commit(task, None, at=NOW))
    assert store.get(ID).status is Status.DELIVERED


@pytest.mark.parametrize(
    "task",
    [
        a_task(type="action"),
        a_task(subject="story-1"),
        claim_task(a_task()),
        user_actions.pause(a_task()),
        user_actions.cancel(a_task(), at=NOW),
        defer(a_task(), until=NOW + DAY, wait=Wait(WaitReason.QUIET_HOURS)),
        replace(a_task(), wait=Wait(WaitReason.REQUEUED)),
        commit(claim_task(a_task(repeat="daily")), None, at=NOW),
        fail_repeatedly(a_task(), 1),
        user_actions.run_now(a_task(due_at=NOW + DAY), at=NOW),
        a_task(status=Status.FAILED),
    ],
    ids=[
        *("action", "with a subject", "claimed", "paused", "cancelled", "deferred", "requeued"),
        *("later occurrence", "retry", "run now", "failed"),
    ],
)
def test_another_task_is_left_unchanged(store: TaskStore, task: Task) -> None:
    store.create(task)
    assert claim_new(store, task, "run-9") is None
    assert store.get(ID) == task


def test_a_stale_message_claims_nothing(store: TaskStore) -> None:
    task = store.create(a_task(due_at=NOW + HOUR))
    run = a_first_run(a_task(due_at=NOW))
    assert store.claim_new(ID, run, due_at=NOW) is None
    assert store.get(ID) == task


def test_an_unknown_task_is_not_created(store: TaskStore) -> None:
    assert claim_new(store, a_task()) is None
    assert store.find(ID) == []


def test_one_of_two_claims_wins(store: TaskStore) -> None:
    task = store.create(a_task())
    assert claim_new(store, task, "one") is not None
    assert claim_new(store, task, "two") is None
    assert store.get(ID).run_id == "one"


def test_a_claim_with_a_lost_response_is_recognised(
    dynamo: DynamoTaskStore, faults: Faults, calls: CallInterceptor
) -> None:
    task = dynamo.create(a_task())
    faults.add(Fault("dynamodb.UpdateItem", function="worker", when="after", kind="timeout"))
    with attribute_calls_to("worker"):
        claimed = claim_new(dynamo, task)
    assert calls.counts["worker", "dynamodb.UpdateItem"] == 2
    assert claimed is not None
    assert claimed == dynamo.get(ID)


def test_a_claim_costs_one_call(dynamo: DynamoTaskStore, calls: CallInterceptor) -> None:
    task = dynamo.create(a_task())
    with attribute_calls_to("worker"):
        claim_new(dynamo, task)
    assert {call: n for (who, call), n in calls.counts.items() if who == "worker"} == {
        "dynamodb.UpdateItem": 1
    }


@pytest.mark.parametrize(
    "attributes",
    [{"schema_version": {"N": "99"}}, {"schema_version": None}],
    ids=["newer schema", "before schemas"],
)
def test_an_item_of_another_schema_is_left_to_the_code_that_reads_it(
    dynamo: DynamoTaskStore, attributes: dict[str, Any]
) -> None:
    task = a_task()
    stored = dynamo._to_item(task).serialize() | attributes
    item = {name: value for name, value in stored.items() if value is not None}
    boto3.client("dynamodb").put_item(TableName="TasksTable", Item=item)
    run = a_first_run(task)
    client = boto3.client("dynamodb")
    if "schema_version" in item:
        with pytest.raises(Exception, match="newer version"):
            dynamo.claim_new(ID, run, due_at=task.due_at)
    else:
        assert dynamo.claim_new(ID, run, due_at=task.due_at) is None
    key = {"short_id": {"S": ID[:8]}, "id": {"S": ID}}
    assert client.get_item(TableName="TasksTable", Key=key)["Item"] == item
