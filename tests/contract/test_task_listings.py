"""Listings of a store: due tasks, open tasks of a sender, and all tasks page by page."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import Any
from uuid import UUID

import pytest
from duecourse.adapters.aws.dynamodb import task_listings
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.dispatch.lanes import DUE_LANES, Lane, partition_of, partitions_of
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.lifecycle import run_transitions, user_actions
from duecourse.domain.requests.task_filter import TaskFilter
from duecourse.domain.tasks.ids import shard_of
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.ports.tasks import TaskStore

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from tests.contract.conftest import SHARDS
from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.tasks import a_task, claim_task

ANY_TASK = TaskFilter()
ADA = Owner("console", "ada")
DUE = [NOW - MILLISECOND, NOW, NOW + HOUR - MILLISECOND, NOW + HOUR]


def a_numbered_task(number: int, **fields: Any) -> Task:
    """Return a task whose id sorts by the number and is spread over the shards by it."""
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **fields)


def create(store: TaskStore, *tasks: Task) -> Sequence[Task]:
    return [store.create(task) for task in tasks]


# Due


def test_due_tasks_are_listed_from_the_start_to_before_the_end(store: TaskStore) -> None:
    create(store, *(a_numbered_task(SHARDS * n, due_at=due_at) for n, due_at in enumerate(DUE)))
    due_times = [dispatch.due_at for dispatch in store.list_due(0, start=NOW, end=NOW + HOUR)]
    assert due_times == DUE[1:3]


def test_without_a_start_all_tasks_due_before_the_end_are_listed(store: TaskStore) -> None:
    create(store, *(a_numbered_task(SHARDS * n, due_at=due_at) for n, due_at in enumerate(DUE)))
    assert len(list(store.list_due(0, start=None, end=NOW + HOUR))) == 3


@pytest.mark.parametrize("end", [NOW, NOW - HOUR])
def test_an_empty_time_range_is_not_queried(
    dynamo: DynamoTaskStore, calls: CallInterceptor, end: datetime
) -> None:
    """DynamoDB refuses a range that ends before it starts; moto accepts it."""
    with attribute_calls_to("me"):
        list(dynamo.list_due(0, start=NOW, end=end))
    assert calls.counts["me", "dynamodb.Query"] == 0


@pytest.mark.parametrize("end", [NOW, NOW - HOUR])
def test_an_empty_time_range_has_no_due_tasks(store: TaskStore, end: datetime) -> None:
    create(store, a_numbered_task(0, due_at=NOW))
    assert list(store.list_due(0, start=NOW, end=end)) == []


def test_due_tasks_are_listed_soonest_first(store: TaskStore) -> None:
    tasks = [a_numbered_task(SHARDS * n, due_at=NOW + MINUTE * (7 * n % 10)) for n in range(10)]
    create(store, *tasks)
    dispatches = list(store.list_due(0, start=None, end=NOW + DAY))
    assert dispatches == sorted(Dispatch(task.due_at, task.id) for task in tasks)


def test_each_task_is_in_the_shard_of_its_id(store: TaskStore) -> None:
    create(store, *(a_numbered_task(n) for n in range(8)))
    by_shard = [list(store.list_due(shard, start=None, end=NOW + DAY)) for shard in range(SHARDS)]
    shards = [[shard_of(due.task_id, SHARDS) for due in dues] for dues in by_shard]
    assert shards == [[0, 0], [1, 1], [2, 2], [3, 3]]


@pytest.mark.parametrize(
    ("task", "is_listed"),
    [
        (a_numbered_task(0), True),
        (claim_task(a_numbered_task(0)), True),
        (fail_repeatedly(a_numbered_task(0), 1), True),
        (user_actions.pause(a_numbered_task(0)), False),
        (user_actions.cancel(a_numbered_task(0), at=NOW), False),
        (run_transitions.commit(claim_task(a_numbered_task(0)), None, at=NOW), False),
        (fail_repeatedly(a_numbered_task(0), 3), False),
        (a_numbered_task(0, status=Status.BLOCKED), False),
        (a_numbered_task(0, status=Status.PENDING_VERIFICATION), True),
    ],
    ids=[
        *("pending", "in progress", "retrying", "paused", "cancelled", "delivered", "failed"),
        *("blocked", "in verification"),
    ],
)
def test_only_scheduled_and_running_tasks_are_due(
    store: TaskStore, task: Task, is_listed: bool
) -> None:
    before = store.create(a_numbered_task(0))
    if task != before:
        store.save(before, task)
    assert bool(list_all_due(store, end=NOW + DAY)) is is_listed


def list_all_due(store: TaskStore, *, end: datetime) -> list[Dispatch]:
    partitions = partitions_of(DUE_LANES, SHARDS)
    return [one for number in partitions for one in store.list_due(number, start=None, end=end)]


@pytest.mark.parametrize(
    ("task", "lane"),
    [
        (a_numbered_task(5), Lane.NEW_REMINDER),
        (a_numbered_task(5, type="action"), Lane.SLOW),
        (fail_repeatedly(a_numbered_task(5, type="action"), 1), Lane.SLOW_RETRY),
    ],
)
def test_a_dispatch_names_the_lane_of_its_task(store: TaskStore, task: Task, lane: Lane) -> None:
    store.create(task)
    [dispatch] = store.list_due(partition_of(lane, 1, SHARDS), start=None, end=NOW + DAY)
    assert (dispatch.task_id, dispatch.lane) == (task.id, lane)


def test_a_claim_leaves_the_index_entry_where_it_is(dynamo: DynamoTaskStore) -> None:
    retry = dynamo.create(fail_repeatedly(a_numbered_task(5, type="action"), 1))
    before = TaskItem.get("00000005", retry.id).due_shard
    dynamo.save(retry, claim_task(retry))
    assert TaskItem.get("00000005", retry.id).due_shard == before


def test_a_failed_task_stays_in_the_index_without_being_due(dynamo: DynamoTaskStore) -> None:
    dynamo.create(fail_repeatedly(a_numbered_task(5), 3))
    assert [item.id for item in TaskItem.due_index.query(partition_of(Lane.FAILED, 1, SHARDS))]
    assert list_all_due(dynamo, end=NOW + DAY) == []


# A sender's open tasks


def test_open_tasks_are_listed_soonest_first(store: TaskStore) -> None:
    later, sooner = create(
        store, a_numbered_task(1, due_at=NOW + HOUR), a_numbered_task(2, due_at=NOW)
    )
    assert store.list_open(ADA) == [sooner, later]


@pytest.mark.parametrize("fields_of_other", [{"sender_id": "bob"}, {"channel": "slack"}])
def test_open_tasks_of_other_owners_are_not_listed(
    store: TaskStore, fields_of_other: dict[str, str]
) -> None:
    create(store, a_task(**fields_of_other))
    assert store.list_open(ADA) == []


def test_closed_tasks_do_not_hide_open_ones(dynamo: DynamoTaskStore, monkeypatch: Any) -> None:
    """The newest and the oldest tasks are looked at: recent tasks, and series of long ago."""
    monkeypatch.setattr(task_listings, "MAX_SENDER_TASKS", 3)
    open_numbers = (0, 5, 9)
    for n in range(10):
        times = {"created_at": NOW + n * MINUTE, "due_at": NOW + n * HOUR}
        status = Status.PENDING if n in open_numbers else Status.DELIVERED
        create(dynamo, a_numbered_task(n, status=status, **times))
    assert [task.due_at for task in dynamo.list_open(ADA)] == [NOW, NOW + 9 * HOUR]


def test_one_query_reads_the_tasks_of_a_sender_with_few(
    dynamo: DynamoTaskStore, calls: CallInterceptor
) -> None:
    create(dynamo, *(a_numbered_task(n) for n in range(9)))
    with attribute_calls_to("me"):
        assert len(dynamo.list_open(ADA)) == 9
    counts = calls.counts
    assert (counts["me", "dynamodb.Query"], counts["me", "dynamodb.BatchGetItem"]) == (1, 1)


@pytest.mark.parametrize("status", Status)
def test_only_open_tasks_are_listed_for_a_sender(store: TaskStore, status: Status) -> None:
    task = store.create(a_task(status=status))
    assert store.list_open(ADA) == ([task] if task.is_open else [])


# Pages


def list_all_pages(
    store: TaskStore, task_filter: TaskFilter = ANY_TASK, *, limit: int
) -> list[Task]:
    """Return the tasks of all pages, in order."""
    page = store.list_page(task_filter, limit=limit, cursor=None, now=NOW)
    tasks = [*page.items]
    while page.next_cursor:
        page = store.list_page(task_filter, limit=limit, cursor=page.next_cursor, now=NOW)
        tasks += page.items
    return tasks


def test_a_page_lists_the_newest_first(store: TaskStore) -> None:
    create(store, *(a_numbered_task(n, created_at=NOW + MINUTE * (7 * n % 10)) for n in range(10)))
    created = [
        task.created_at for task in store.list_page(ANY_TASK, limit=50, cursor=None, now=NOW).items
    ]
    assert created == sorted(created, reverse=True)
    assert len(created) == 10


def test_listed_tasks_are_spread_over_the_shards(dynamo: DynamoTaskStore) -> None:
    create(dynamo, *(a_numbered_task(n) for n in range(SHARDS)))
    assert {item.shard for item in TaskItem.scan()} == set(range(SHARDS))


def test_the_last_page_has_no_cursor(store: TaskStore) -> None:
    create(store, a_task())
    assert store.list_page(ANY_TASK, limit=2, cursor=None, now=NOW).next_cursor is None


@pytest.mark.parametrize("limit", [3, 7, 60, 61])
def test_paging_lists_every_task_once_even_with_equal_creation_times(
    store: TaskStore, limit: int
) -> None:
    rng = Random(limit)  # noqa: S311 - a seed, so that a failure can be repeated
    ids = [str(UUID(int=rng.getrandbits(128), version=4)) for _ in range(60)]
    tasks = [a_task(id=task_id, created_at=NOW + MILLISECOND * rng.randrange(4)) for task_id in ids]
    create(store, *tasks)
    expected = sorted(tasks, key=lambda task: (task.created_at, task.id), reverse=True)
    assert list_all_pages(store, limit=limit) == expected


def test_a_task_created_during_paging_does_not_change_later_pages(store: TaskStore) -> None:
    old = create(store, *(a_numbered_task(n, created_at=NOW) for n in range(6)))
    first_page = store.list_page(ANY_TASK, limit=3, cursor=None, now=NOW)
    create(store, a_numbered_task(99, created_at=NOW + MINUTE))
    second_page = store.list_page(ANY_TASK, limit=50, cursor=first_page.next_cursor, now=NOW)
    assert [*first_page.items, *second_page.items] == [*reversed(old)]


@pytest.mark.parametrize(
    ("task_filter", "numbers"),
    [
        (TaskFilter(channel="slack"), [1]),
        (TaskFilter(sender_id="bob"), [2]),
        (TaskFilter(status="cancelled"), [3]),
        (TaskFilter(type="action"), [4]),
        (TaskFilter(channel="console", sender_id="ada", status="pending"), [4, 0]),
        (TaskFilter(channel="slack", sender_id="bob"), []),
        (TaskFilter(channel="ada", sender_id="ada"), []),
        (TaskFilter(category="transient"), [5]),
        (TaskFilter(category="transient", status="cancelled"), []),
        (TaskFilter(search="00000002"), [2]),
        (TaskFilter(search=" TURN on "), [6]),
        (TaskFilter(search="octo/"), [7]),
        (TaskFilter(search="garden"), []),
        (TaskFilter(search="STRASSE"), [6]),
        (TaskFilter(search="turn on", sender_id="bob"), []),
    ],
)
def test_a_filtered_listing_returns_only_matching_tasks(
    store: TaskStore, task_filter: TaskFilter, numbers: list[int]
) -> None:
    field_sets: list[dict[str, Any]] = [{}, {"channel": "slack"}, {"sender_id": "bob"}]
    field_sets += [{"status": Status.CANCELLED}, {"type": "action"}]
    searchable = [
        {"last_error_category": "transient"},
        {"description": "Turn on the lights, Straße 7"},
    ]
    field_sets += [{"sender_id": "eve", **one} for one in [*searchable, {"subject": "Octo/Garden"}]]
    tasks = create(store, *(a_numbered_task(n, **fields) for n, fields in enumerate(field_sets)))
    assert list_all_pages(store, task_filter, limit=50) == [tasks[n] for n in numbers]


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_filtered_paging_lists_every_matching_task_once(store: TaskStore, limit: int) -> None:
    senders = ["ada", "bob", "bob", "ada", "bob", "bob", "bob", "ada"]
    tasks = create(
        store, *(a_numbered_task(n, sender_id=sender) for n, sender in enumerate(senders))
    )
    assert list_all_pages(store, TaskFilter(sender_id="ada"), limit=limit) == [
        tasks[7],
        tasks[3],
        tasks[0],
    ]


def encode_cursor(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        *(
            "",
            "x",
            "é",
            "\ud800",
            "====",
            encode_cursor("{}"),
            encode_cursor("null"),
            encode_cursor("[1, 2]"),
        ),
        *(
            encode_cursor(json.dumps(bad))
            for bad in ("ab", ["soon", "x"], [], ["2026-02-17"], {"a": 1})
        ),
        pytest.param(encode_cursor("[" * 7000), id="nested deep"),
        pytest.param(encode_cursor('["0001-01-01T00:00+23:59", "x"]'), id="before time"),
    ],
)
def test_a_malformed_cursor_is_refused(store: TaskStore, cursor: str) -> None:
    with pytest.raises(ValueError, match="is not a cursor of this listing"):
        store.list_page(ANY_TASK, limit=5, cursor=cursor, now=NOW)
