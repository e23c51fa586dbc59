"""What a store finds: due tasks, a sender's open tasks, and all of them page by page."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from datetime import datetime
from random import Random
from typing import Any
from uuid import UUID

import pytest
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
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

ALL = TaskFilter()
ADA = Owner("console", "ada")
DUE = [NOW - MILLISECOND, NOW, NOW + HOUR - MILLISECOND, NOW + HOUR]


def numbered(number: int, **fields: Any) -> Task:
    """Ids spread over the shards by their number, and sort by it."""
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **fields)


def create(store: TaskStore, *tasks: Task) -> Sequence[Task]:
    return [store.create(task) for task in tasks]


# Due


def test_what_is_due_is_found_from_the_start_and_before_the_end(store: TaskStore) -> None:
    create(store, *(numbered(SHARDS * n, due_at=due_at) for n, due_at in enumerate(DUE)))
    found = [dispatch.due_at for dispatch in store.list_due(0, start=NOW, end=NOW + HOUR)]
    assert found == DUE[1:3]


def test_without_a_start_everything_before_the_end_is_found(store: TaskStore) -> None:
    create(store, *(numbered(SHARDS * n, due_at=due_at) for n, due_at in enumerate(DUE)))
    assert len(list(store.list_due(0, start=None, end=NOW + HOUR))) == 3


@pytest.mark.parametrize("end", [NOW, NOW - HOUR])
def test_an_empty_stretch_of_time_is_not_asked_about(
    dynamo: DynamoTaskStore, calls: CallInterceptor, end: datetime
) -> None:
    """DynamoDB refuses a range whose end comes before its start; moto does not mind."""
    with attribute_calls_to("me"):
        list(dynamo.list_due(0, start=NOW, end=end))
    assert calls.counts["me", "dynamodb.Query"] == 0


@pytest.mark.parametrize("end", [NOW, NOW - HOUR])
def test_between_a_moment_and_itself_or_earlier_nothing_is_due(
    store: TaskStore, end: datetime
) -> None:
    create(store, numbered(0, due_at=NOW))
    assert list(store.list_due(0, start=NOW, end=end)) == []


def test_the_soonest_comes_first(store: TaskStore) -> None:
    tasks = [numbered(SHARDS * n, due_at=NOW + MINUTE * (7 * n % 10)) for n in range(10)]
    create(store, *tasks)
    found = list(store.list_due(0, start=None, end=NOW + DAY))
    assert found == sorted(Dispatch(task.due_at, task.id) for task in tasks)


def test_each_task_is_in_the_shard_of_its_id(store: TaskStore) -> None:
    create(store, *(numbered(n) for n in range(8)))
    found = [list(store.list_due(shard, start=None, end=NOW + DAY)) for shard in range(SHARDS)]
    shards = [[shard_of(due.task_id, SHARDS) for due in dues] for dues in found]
    assert shards == [[0, 0], [1, 1], [2, 2], [3, 3]]


@pytest.mark.parametrize(
    ("task", "is_found"),
    [
        (numbered(0), True),
        (claim_task(numbered(0)), True),
        (fail_repeatedly(numbered(0), 1), True),
        (user_actions.pause(numbered(0)), False),
        (user_actions.cancel(numbered(0), at=NOW), False),
        (run_transitions.commit(claim_task(numbered(0)), None, at=NOW), False),
        (fail_repeatedly(numbered(0), 3), False),
        (numbered(0, status=Status.BLOCKED), False),
        (numbered(0, status=Status.PENDING_VERIFICATION), True),
    ],
    ids=[
        *("pending", "in progress", "retrying", "paused", "cancelled", "delivered", "failed"),
        *("blocked", "in verification"),
    ],
)
def test_only_what_waits_or_runs_is_due(store: TaskStore, task: Task, is_found: bool) -> None:
    before = store.create(numbered(0))
    if task != before:
        store.save(before, task)
    assert bool(list(store.list_due(0, start=None, end=NOW + DAY))) is is_found


# A sender's open tasks


def test_a_sender_sees_the_soonest_first(store: TaskStore) -> None:
    late, soon = create(store, numbered(1, due_at=NOW + HOUR), numbered(2, due_at=NOW))
    assert store.list_open(ADA) == [soon, late]


@pytest.mark.parametrize("other", [{"sender_id": "bob"}, {"channel": "slack"}])
def test_nobody_elses_tasks_are_seen(store: TaskStore, other: dict[str, str]) -> None:
    create(store, a_task(**other))
    assert store.list_open(ADA) == []


@pytest.mark.parametrize("status", Status)
def test_a_sender_sees_what_is_open(store: TaskStore, status: Status) -> None:
    task = store.create(a_task(status=status))
    assert store.list_open(ADA) == ([task] if task.is_open else [])


# Pages


def walked(store: TaskStore, wanted: TaskFilter = ALL, *, limit: int) -> list[Task]:
    """All pages one after the other."""
    page = store.list_page(wanted, limit=limit, cursor=None)
    found = [*page.items]
    while page.next_cursor:
        page = store.list_page(wanted, limit=limit, cursor=page.next_cursor)
        found += page.items
    return found


def test_the_newest_comes_first(store: TaskStore) -> None:
    create(store, *(numbered(n, created_at=NOW + MINUTE * (7 * n % 10)) for n in range(10)))
    created = [task.created_at for task in store.list_page(ALL, limit=50, cursor=None).items]
    assert created == sorted(created, reverse=True)
    assert len(created) == 10


def test_listed_tasks_are_spread_over_the_shards(dynamo: DynamoTaskStore) -> None:
    create(dynamo, *(numbered(n) for n in range(SHARDS)))
    assert {item.shard for item in TaskItem.scan()} == set(range(SHARDS))


def test_a_page_with_nothing_behind_it_has_no_cursor(store: TaskStore) -> None:
    create(store, a_task())
    assert store.list_page(ALL, limit=2, cursor=None).next_cursor is None


@pytest.mark.parametrize("limit", [3, 7, 60, 61])
def test_a_walk_meets_every_task_once_however_many_share_a_moment(
    store: TaskStore, limit: int
) -> None:
    rng = Random(limit)  # noqa: S311 - a seed, so that a failure can be repeated
    ids = [str(UUID(int=rng.getrandbits(128), version=4)) for _ in range(60)]
    tasks = [a_task(id=one, created_at=NOW + MILLISECOND * rng.randrange(4)) for one in ids]
    create(store, *tasks)
    expected = sorted(tasks, key=lambda task: (task.created_at, task.id), reverse=True)
    assert walked(store, limit=limit) == expected


def test_a_task_created_during_the_walk_does_not_disturb_it(store: TaskStore) -> None:
    old = create(store, *(numbered(n, created_at=NOW) for n in range(6)))
    first = store.list_page(ALL, limit=3, cursor=None)
    create(store, numbered(99, created_at=NOW + MINUTE))
    second = store.list_page(ALL, limit=50, cursor=first.next_cursor)
    assert [*first.items, *second.items] == [*reversed(old)]


@pytest.mark.parametrize(
    ("wanted", "numbers"),
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
def test_a_listing_shows_what_is_asked_for(
    store: TaskStore, wanted: TaskFilter, numbers: list[int]
) -> None:
    others: list[dict[str, Any]] = [{}, {"channel": "slack"}, {"sender_id": "bob"}]
    others += [{"status": Status.CANCELLED}, {"type": "action"}]
    told = [{"last_error_category": "transient"}, {"description": "Turn on the lights, Straße 7"}]
    others += [{"sender_id": "eve", **one} for one in [*told, {"subject": "Octo/Garden"}]]
    tasks = create(store, *(numbered(n, **fields) for n, fields in enumerate(others)))
    assert walked(store, wanted, limit=50) == [tasks[n] for n in numbers]


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_a_filtered_walk_meets_every_task_that_matches_once(store: TaskStore, limit: int) -> None:
    senders = ["ada", "bob", "bob", "ada", "bob", "bob", "bob", "ada"]
    tasks = create(store, *(numbered(n, sender_id=sender) for n, sender in enumerate(senders)))
    assert walked(store, TaskFilter(sender_id="ada"), limit=limit) == [tasks[7], tasks[3], tasks[0]]


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        *("", "x", "é", "\ud800", "====", encoded("{}"), encoded("null"), encoded("[1, 2]")),
        *(encoded(json.dumps(bad)) for bad in ("ab", ["soon", "x"], [], ["2026-02-17"], {"a": 1})),
        pytest.param(encoded("[" * 7000), id="nested deep"),
        pytest.param(encoded('["0001-01-01T00:00+23:59", "x"]'), id="before time"),
    ],
)
def test_a_cursor_that_we_did_not_give_is_refused(store: TaskStore, cursor: str) -> None:
    with pytest.raises(ValueError, match="is not a cursor of this listing"):
        store.list_page(ALL, limit=5, cursor=cursor)
