"""A sweep reads and sends in batches, so that ten thousand overdue tasks fit into its time."""

from __future__ import annotations

from collections import Counter

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.adapters.aws.sqs import LaneWorkQueue, SqsFailureQueue, SqsWorkQueue
from duecourse.domain.dispatch.lanes import Lane, partition_of
from duecourse.domain.tasks.task import Task
from duecourse.usecases.runs.recover_expired_leases import SweepDeps, recover_expired_leases

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.runtime.template import Resolver
from tests.contract.conftest import SHARDS
from tests.support.builders.moments import HOUR, NOW
from tests.support.builders.tasks import a_task, claim_task
from tests.support.fakes.clock import ManualClock

COUNT = 250
TIME_OF_A_SWEEP = 240 - 20
SECONDS_PER_CALL = 0.03  # more than twice what a batch takes on AWS


@pytest.fixture
def deps(aws: Resolver, dynamo: DynamoTaskStore) -> SweepDeps:  # noqa: ARG001 - its region
    client = boto3.client("sqs")
    names = ("WorkQueue", "SlowWorkQueue", "FailuresQueue")
    work, slow, failures = (client.get_queue_url(QueueName=name)["QueueUrl"] for name in names)
    queue = LaneWorkQueue(SqsWorkQueue(client, work), SqsWorkQueue(client, slow))
    return SweepDeps(dynamo, queue, SqsFailureQueue(client, failures), ManualClock(NOW + HOUR))


def create_overdue(store: DynamoTaskStore, *, is_running: bool) -> None:
    for n in range(COUNT):
        task: Task = a_task(id=f"{SHARDS * n:08x}-0000-4000-8000-000000000000")
        store.create(claim_task(task) if is_running else task)


@pytest.mark.parametrize("is_running", [False, True], ids=["lost messages", "expired leases"])
def test_tasks_are_read_by_the_hundred_and_sent_by_the_ten(
    deps: SweepDeps, dynamo: DynamoTaskStore, calls: CallInterceptor, is_running: bool
) -> None:
    create_overdue(dynamo, is_running=is_running)
    with attribute_calls_to("sweeper"):
        result = recover_expired_leases(deps, [partition_of(Lane.NEW_REMINDER, 0, SHARDS)])
    made = Counter({call: n for (who, call), n in calls.counts.items() if who == "sweeper"})
    assert made == {
        "dynamodb.Query": 1,
        "dynamodb.BatchGetItem": 3,
        "sqs.SendMessageBatch": COUNT / 10,
    }
    counts = (0, COUNT) if not is_running else (COUNT, 0)
    assert (result.runs_recovered, result.overdue_tasks_requeued) == counts
    assert made.total() / COUNT * 10_000 * SECONDS_PER_CALL < TIME_OF_A_SWEEP
