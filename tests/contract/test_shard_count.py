"""The shard count can be raised and lowered: tasks stored under another count are still found."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.scan_cursors import MAX_SHARD_COUNT, DynamoScanCursors
from duecourse.adapters.aws.dynamodb.scanned_shards import CACHE_TTL, ScannedShards
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.adapters.runtime.thread_pool import ThreadedFanOut
from duecourse.domain.dispatch.timing import scan_horizon
from duecourse.domain.requests.task_filter import TaskFilter
from duecourse.domain.tasks.task import Task
from duecourse.usecases.dispatch.scan_due import ScanDeps, scan_due

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.runtime.template import load_template
from tests.contract.conftest import RETENTION
from tests.contract.test_list_soonest import a_numbered_task
from tests.contract.test_task_listings import list_all_pages
from tests.support.builders.moments import HOUR, MINUTE, NOW
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.queues import ListQueue


def store_with(shard_count: int, clock: ManualClock | None = None) -> DynamoTaskStore:
    """Return the store of a function with that shard count."""
    shards = ScannedShards(DynamoScanCursors(), clock or ManualClock(NOW))
    return DynamoTaskStore(shard_count=shard_count, retention=RETENTION, scanned_shards=shards)


def scan_with(shard_count: int) -> None:
    """Run the scanner once, after a deployment with that shard count."""
    deps = ScanDeps(store_with(shard_count), ListQueue(), ManualClock(NOW), ThreadedFanOut(1))
    scan_due(deps, DynamoScanCursors(), shard_count=shard_count)


def create_tasks(store: DynamoTaskStore, numbers: Sequence[int]) -> list[Task]:
    """Create tasks; a higher number is newer and due later."""
    return [
        store.create(
            a_numbered_task(
                n, created_at=NOW - HOUR + timedelta(seconds=n), due_at=NOW + n * MINUTE
            )
        )
        for n in numbers
    ]


@pytest.mark.parametrize("counts", [(8, 2), (2, 8), (8, 2, 8), (2, 8, 3)], ids=str)
def test_every_task_is_found_under_every_later_shard_count(counts: tuple[int, ...]) -> None:
    tasks: list[Task] = []
    for n, count in enumerate(counts):
        tasks += create_tasks(store_with(count), range(10 * n, 10 * (n + 1)))
        scan_with(count)
    store = store_with(counts[-1])

    for limit in (1, 3, 100):
        assert list_all_pages(store, limit=limit) == tasks[::-1], f"in pages of {limit}"
    assert store.list_soonest(100) == tasks
    assert store.list_soonest(5) == tasks[:5]


def test_paging_continues_across_a_change_of_the_shard_count() -> None:
    tasks = create_tasks(store_with(8), range(20))
    scan_with(8)
    first_page = store_with(8).list_page(TaskFilter(), limit=7, cursor=None, now=NOW)
    scan_with(2)
    second_page = store_with(2).list_page(
        TaskFilter(), limit=20, cursor=first_page.next_cursor, now=NOW
    )
    assert [*first_page.items, *second_page.items] == tasks[::-1]


@pytest.mark.parametrize(
    "attributes",
    [{"value": {"S": "{"}}, {"value": {"S": '{"7": "x"}'}}, {"schema_version": {"N": "2"}}],
    ids=["no JSON", "no instant", "newer schema"],
)
def test_every_task_is_found_after_the_cursors_became_unreadable(
    attributes: dict[str, Any],
) -> None:
    tasks = create_tasks(store_with(8), range(20))
    scan_with(8)
    scan_with(2)
    dynamodb = boto3.client("dynamodb")
    stored = {"key": {"S": "scanner"}, "value": {"S": "{}"}} | attributes
    dynamodb.put_item(TableName="StateTable", Item=stored)

    for _ in range(2):  # before and after the scanner replaced them
        assert list_all_pages(store_with(2), limit=100) == tasks[::-1]
        assert store_with(2).list_soonest(100) == tasks
        scan_with(2)
    assert {*range(8)} <= set(DynamoScanCursors().load())


def test_an_unreadable_cursor_does_not_stop_the_scanner_from_dispatching_every_shard() -> None:
    due_at = scan_horizon(NOW) - MINUTE / 2
    tasks = [store_with(8).create(a_numbered_task(n, due_at=due_at)) for n in range(8)]
    stored = {"key": {"S": "scanner"}, "value": {"S": "{"}}
    boto3.client("dynamodb").put_item(TableName="StateTable", Item=stored)
    queue = ListQueue()
    deps = ScanDeps(store_with(2), queue, ManualClock(NOW), ThreadedFanOut(1))

    scan_due(deps, DynamoScanCursors(), shard_count=2)

    assert {one.task_id for one in queue} == {task.id for task in tasks}


def test_no_deployment_has_more_shards_than_the_fallback() -> None:
    assert load_template()["Parameters"]["ShardCount"]["MaxValue"] == MAX_SHARD_COUNT


def test_the_shard_list_is_read_once_a_minute_and_only_for_listings(calls: CallInterceptor) -> None:
    clock = ManualClock(NOW)
    store = store_with(2, clock)
    with attribute_calls_to("api"):
        [task] = create_tasks(store, [0])
        store.save(task, task)
        store.get(task.id)
        assert calls.counts["api", "dynamodb.GetItem"] == 1
        for _ in range(3):
            store.list_page(TaskFilter(), limit=5, cursor=None, now=NOW)
            store.list_soonest(5)
        assert calls.counts["api", "dynamodb.GetItem"] == 2
        clock.at += CACHE_TTL
        store.list_soonest(5)
        assert calls.counts["api", "dynamodb.GetItem"] == 3
