"""The hash that tells a repeated request from another one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.requests.new_task import NewTask
from duecourse.domain.requests.request_hash import hash_json, hash_new_task
from duecourse.domain.requests.schedule import Schedule

from tests.support.builders.moments import HOUR, NOW

NEW_TASK = NewTask(description="stretch", schedule=Schedule(due_at=NOW), payload={"a": None})


@pytest.mark.parametrize(
    ("request_body", "stored"),
    [
        ({"description": "stretch", "in": "5m"}, "cee8edf960c88fda"),
        ({"in": "5m", "description": "stretch"}, "cee8edf960c88fda"),
        (
            {"description": "Café ☕", "in": 60, "payload": {"b": 1, "a": [None, 1.5]}},
            "bb8c60e785e60a19",
        ),
    ],
)
def test_hashes_that_earlier_versions_stored_stay_the_same(
    request_body: dict[str, Any], stored: str
) -> None:
    assert hash_json(request_body) == stored


def test_equal_tasks_have_the_same_hash() -> None:
    assert hash_new_task(replace(NEW_TASK)) == hash_new_task(NEW_TASK)


@pytest.mark.parametrize(
    "fields",
    [
        {"description": "walk"},
        {"schedule": Schedule(due_at=NOW + HOUR)},
        {"schedule": Schedule(due_at=NOW.replace(tzinfo=None))},
        {"schedule": Schedule(due_at=NOW, repeat="daily")},
        {"payload": {}},
        {"subject": "story-1"},
    ],
)
def test_another_task_has_another_hash(fields: dict[str, Any]) -> None:
    assert hash_new_task(replace(NEW_TASK, **fields)) != hash_new_task(NEW_TASK)
