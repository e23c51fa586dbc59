"""Listings by status and by sender: their order, their pages, and what they cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb import task_pages
from duecourse.adapters.aws.dynamodb.list_cursor import ListCursor
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.requests.task_filter import TaskFilter
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text
from duecourse.ports.tasks import TaskStore

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from tests.contract.conftest import SHARDS
from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.tasks import a_task, claim_task


def a_numbered_task(number: int, **fields: Any) -> Task:
    """Return a task whose id sorts by the number; with it, it is due later and created earlier."""
    times = {"due_at": NOW + number * MINUTE, "created_at": NOW - HOUR - number * MINUTE}
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **times | fields)


def list_all(store: TaskStore, *, limit: int, **filters: str) -> list[Task]:
    task_filter, cursor = TaskFilter(**filters), None
    tasks: list[Task] = []
    while True:
        page = store.list_page(task_filter, limit=limit, cursor=cursor, now=NOW + DAY)
        tasks += page.items
        cursor = page.next_cursor
        if cursor is None:
            return tasks


BY_STATUS: dict[Status, Callable[[Task], Task]] = {
    Status.PENDING: lambda task: task,
    Status.IN_PROGRESS: claim_task,
    Status.PENDING_VERIFICATION: lambda task: replace(task, status=Status.PENDING_VERIFICATION),
    Status.BLOCKED: lambda task: replace(task, status=Status.BLOCKED),
    Status.FAILED: lambda task: replace(task, status=Status.FAILED),
    Status.CANCELLED: lambda task: user_actions.cancel(task, at=NOW),
}


@pytest.fixture
def mixed(store: TaskStore) -> dict[Status, list[Task]]:
    """Create seven tasks of each status and return them, soonest due first."""
    made: dict[Status, list[Task]] = {status: [] for status in BY_STATUS}
    for n in range(7 * len(BY_STATUS)):
        status = list(BY_STATUS)[n % len(BY_STATUS)]
        made[status].append(store.create(BY_STATUS[status](a_numbered_task(n))))
    return made


@pytest.mark.parametrize("limit", [1, 3, 100])
@pytest.mark.parametrize("status", BY_STATUS)
def test_a_status_is_listed_completely_and_in_its_order(
    store: TaskStore, mixed: dict[Status, list[Task]], status: Status, limit: int
) -> None:
    """Open tasks: soonest due first; failed: latest due first; cancelled: newest first."""
    expected = mixed[status][::-1] if status is Status.FAILED else mixed[status]
    assert list_all(store, status=status, limit=limit) == expected


def test_pending_tasks_of_every_kind_are_listed(store: TaskStore) -> None:
    tasks = [
        a_numbered_task(0),
        a_numbered_task(1, type="action"),
        user_actions.pause(a_numbered_task(2)),
        fail_repeatedly(a_numbered_task(3), 1),
        fail_repeatedly(a_numbered_task(4, type="action"), 1),
    ]
    for task in tasks:
        store.create(task)
    found = list_all(store, status="pending", limit=2)
    assert found == sorted(tasks, key=lambda task: task.due_at)


@pytest.mark.parametrize("action", [Action.AWAIT_FIX, Action.ASK_PERSON, Action.ESCALATE_TO_HUMAN])
def test_blocked_tasks_of_every_kind_are_listed(store: TaskStore, action: Action) -> None:
    task = store.create(a_numbered_task(0, status=Status.BLOCKED, recovery_action=action))
    assert list_all(store, status="blocked", limit=2) == [task]


def test_other_filters_apply_too(store: TaskStore) -> None:
    one, _ = (
        store.create(a_numbered_task(n, status=Status.FAILED, type=kind))
        for n, kind in enumerate(("action", "webhook"))
    )
    assert list_all(store, status="failed", type="action", limit=1) == [one]


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_a_sender_is_listed_newest_first_with_closed_tasks(
    store: TaskStore, mixed: dict[Status, list[Task]], limit: int
) -> None:
    store.create(a_numbered_task(99, sender_id="bob"))
    mine = sorted(chain(*mixed.values()), key=lambda task: task.created_at, reverse=True)
    assert list_all(store, channel="console", sender_id="ada", limit=limit) == mine
    failed = [task for task in mine if task.status is Status.FAILED]
    by_both = list_all(store, channel="console", sender_id="ada", status="failed", limit=limit)
    assert by_both == failed


@pytest.mark.parametrize("limit", [2, 3, 10])
def test_tasks_due_at_the_same_time_are_neither_skipped_nor_repeated(
    store: TaskStore, limit: int
) -> None:
    tasks = [store.create(a_numbered_task(n, due_at=NOW, status=Status.FAILED)) for n in range(10)]
    assert list_all(store, status="failed", limit=limit) == tasks[::-1]


def test_a_walk_begun_in_another_order_continues_in_it(dynamo: DynamoTaskStore) -> None:
    """Older code listed every status newest first."""
    tasks = [dynamo.create(a_numbered_task(n, status=Status.FAILED)) for n in range(5)]
    cursor = ListCursor((to_text(tasks[1].created_at), tasks[1].id)).encode()
    page = dynamo.list_page(TaskFilter(status="failed"), limit=9, cursor=cursor, now=NOW)
    assert (page.items, page.next_cursor) == (tasks[2:], None)


# Cost


def calls_of(calls: CallInterceptor, list_one: Callable[[], Any]) -> dict[str, int]:
    with attribute_calls_to("api"):
        list_one()
    return {call: n for (who, call), n in calls.counts.items() if who == "api"}


@pytest.mark.parametrize(
    ("filters", "queries"),
    [
        ({"status": "failed"}, SHARDS),
        ({"status": "blocked"}, 3),
        ({"status": "pending_verification"}, 1),
        ({"channel": "console", "sender_id": "bob"}, 1),
        ({"channel": "console", "sender_id": "bob", "status": "failed"}, 1),
    ],
)
def test_finding_nothing_among_many_tasks_costs_a_few_queries(
    dynamo: DynamoTaskStore, calls: CallInterceptor, filters: dict[str, str], queries: int
) -> None:
    for n in range(60):
        dynamo.create(a_numbered_task(n))

    def list_one() -> None:
        page = dynamo.list_page(TaskFilter(**filters), limit=5, cursor=None, now=NOW)
        assert (page.items, page.next_cursor) == ([], None)

    assert calls_of(calls, list_one) == {"dynamodb.Query": queries}


def test_running_tasks_are_not_searched_among_future_ones(
    dynamo: DynamoTaskStore, calls: CallInterceptor
) -> None:
    for n in range(60):
        dynamo.create(a_numbered_task(n, due_at=NOW + HOUR + n * MINUTE))
    running = dynamo.create(claim_task(a_numbered_task(99, due_at=NOW)))

    def list_one() -> None:
        page = dynamo.list_page(TaskFilter(status="in_progress"), limit=5, cursor=None, now=NOW)
        assert (page.items, page.next_cursor) == ([running], None)

    assert calls_of(calls, list_one)["dynamodb.BatchGetItem"] == 1


@pytest.mark.parametrize(("limit", "tasks_read"), [(2, 40), (10, 60), (50, 60)])
def test_a_page_reads_a_bounded_number_of_tasks(
    dynamo: DynamoTaskStore,
    calls: CallInterceptor,
    monkeypatch: pytest.MonkeyPatch,
    limit: int,
    tasks_read: int,
) -> None:
    """At most twenty times the limit, and at most MAX_TASKS_READ rounded up to whole rounds."""
    monkeypatch.setattr(task_pages, "MAX_TASKS_READ", 60)
    for n in range(120):
        dynamo.create(a_numbered_task(n))
    read: list[int] = []
    calls.on_aws_call = lambda call: (
        read.append(len(call.body["RequestItems"]["TasksTable"]["Keys"]))
        if call.operation == "BatchGetItem"
        else None
    )
    with attribute_calls_to("api"):
        task_filter = TaskFilter(search="nowhere")
        page = dynamo.list_page(task_filter, limit=limit, cursor=None, now=NOW)
    assert page.next_cursor is not None
    assert tasks_read <= sum(read) < tasks_read + limit
