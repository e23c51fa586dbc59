"""Tasks in the form of older releases are read as the tasks that they were."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.task_mapper import from_stored, to_stored
from duecourse.domain.tasks.task import ReviewLink, Task
from duecourse.domain.tasks.wait import Wait, WaitReason

from local.simulate.item_versions import to_older, without_defaults
from tests.support.builders.tasks import a_task, claim_task

OTHER_ID = "ffffffff-0000-4000-8000-000000000000"
TASKS = [
    a_task(),
    a_task(type="webhook", payload={"url": "https://a.example", "body": {"text": "long " * 300}}),
    a_task(repeat="daily", timezone="Europe/Berlin"),
    a_task(snooze_of=OTHER_ID),
    a_task(type="action", payload={"provider": "a"}, review=ReviewLink(OTHER_ID, 3, None)),
]


def store(task: Task) -> dict[str, Any]:
    return to_stored(task, shard_count=4, retention=timedelta(days=1))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.type)
def test_version_0_1_stores_the_same_task(task: Task) -> None:
    older = to_older(store(task), is_new=True)
    assert older is not None
    assert not older.keys() & {"schema_version", "packed", "snooze_of", "review"}
    assert int(older["due_shard"]["N"]) < 4
    assert from_stored(older) == task


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.type)
def test_code_before_it_stores_the_same_task_without_a_version(task: Task) -> None:
    older = to_older(store(task), is_new=True)
    assert older is not None
    oldest = without_defaults(older, is_new=True)
    assert not oldest.keys() & {"version", "nominal_at"}
    assert from_stored(oldest) == replace(task, version=0)


@pytest.mark.parametrize(
    "task", [claim_task(a_task()), a_task(paused=True), a_task(wait=Wait(WaitReason.REQUEUED))]
)
def test_what_older_code_would_lose_stays_as_it_is(task: Task) -> None:
    assert to_older(store(task), is_new=True) is None


def test_a_changed_task_keeps_its_version() -> None:
    older = to_older(store(a_task()), is_new=False)
    assert older is not None
    assert "version" in without_defaults(older, is_new=False)
