"""Creating a task: what is refused, what a repeat gives, and what is enqueued."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from duecourse.domain.errors import IdempotencyConflictError, InvalidFieldsError
from duecourse.domain.requests.new_task import NewTask
from duecourse.domain.requests.schedule import Schedule
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import WaitReason
from duecourse.usecases.tasks.create_task import (
    CreateResult,
    CreateTaskDeps,
    NewTaskId,
    create_task,
)

from tests.support.builders.moments import DAY, HOUR, MILLISECOND, NOW
from tests.support.builders.tasks import ID, STACK_CAPABILITIES, a_task
from tests.support.fakes.limits import MemoryBudgets
from tests.support.fakes.queues import ListQueue
from tests.support.fakes.tasks import MemoryStore

IN_AN_HOUR = Schedule(due_at=NOW + HOUR)
KEYED = NewTaskId(ID, "hash-1")
PAID = {"provider": "scripted", "budget": "agents"}


class CreateHarness:
    def __init__(self, *tasks: Task) -> None:
        self.store, self.queue, self.budgets = MemoryStore(*tasks), ListQueue(), MemoryBudgets()
        self.deps = CreateTaskDeps(self.store, self.queue, self.budgets, STACK_CAPABILITIES)

    def create(
        self, *, task_id: NewTaskId = KEYED, now: datetime = NOW, **fields: Any
    ) -> CreateResult:
        new_task = NewTask(**{"description": "stretch", "schedule": IN_AN_HOUR, **fields})
        return create_task(new_task, self.deps, task_id=task_id, now=now)


def test_a_task_is_stored_with_the_hash_of_its_request() -> None:
    harness = CreateHarness()
    created = harness.create()
    assert created.is_new
    assert harness.store.get(ID) == created.task
    assert (created.task.due_at, created.task.request_hash) == (NOW + HOUR, "hash-1")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"description": "x" * 4_001}, "description: must be at most 4,000 characters, not 4,001"),
        ({"description": "\ud800"}, "description: must be valid Unicode, without lone surrogates"),
        ({"type": "sms"}, "type: must be one of: action, reminder"),
        ({"channel": "pigeon"}, "channel: must be one of: console, slack"),
        ({"policy": "none"}, "policy: must be one of: agent, enrichment, omega"),
        ({"max_retries": 101}, "max_retries: must be a whole number from 1 to 100"),
        ({"payload": {"snooze_of": ID}}, "payload: snooze_of: is set by Duecourse"),
        ({"schedule": Schedule(due_at=NOW - MILLISECOND)}, "due_at: is in the past"),
        ({"schedule": Schedule(due_at=NOW + 36_526 * DAY)}, "due_at: must be within 100 years"),
        ({"schedule": Schedule(delay=36_526 * DAY)}, "in: must be within 100 years"),
        ({"schedule": Schedule(delay=-MILLISECOND)}, "in: is in the past"),
        ({"schedule": Schedule()}, "due_at: is required: give due_at or in"),
        ({"schedule": replace(IN_AN_HOUR, timezone="Mars")}, "timezone: There is no time zone"),
        ({"schedule": replace(IN_AN_HOUR, repeat="hourly")}, "repeat: The rule 'hourly'"),
        (
            {"schedule": replace(IN_AN_HOUR, repeat="FREQ=DAILY;UNTIL=20260101")},
            "repeat: has no occurrence from that time on",
        ),
    ],
)
def test_a_task_built_in_code_is_checked_like_one_from_json(
    fields: dict[str, Any], error: str
) -> None:
    harness = CreateHarness()
    with pytest.raises(InvalidFieldsError) as raised:
        harness.create(**fields)
    assert str(raised.value).startswith(error)
    assert len(raised.value.errors) == 1
    assert harness.store.tasks == {}


def test_a_repeated_request_returns_the_same_task() -> None:
    harness = CreateHarness()
    first = harness.create()
    again = harness.create(now=NOW + MILLISECOND)
    assert (again.task, again.is_new) == (first.task, False)


def test_an_accepted_request_stays_accepted_after_its_due_time() -> None:
    harness = CreateHarness()
    first = harness.create()
    again = harness.create(now=NOW + 2 * HOUR)
    assert (again.task, again.is_new) == (first.task, False)
    assert [dispatch.task_id for dispatch in harness.queue] == [ID]


@pytest.mark.parametrize("now", [NOW, NOW + 2 * HOUR])
def test_the_same_id_for_another_request_raises(now: datetime) -> None:
    harness = CreateHarness()
    first = harness.create()
    with pytest.raises((IdempotencyConflictError, InvalidFieldsError)):
        harness.create(task_id=NewTaskId(ID, "hash-2"), description="walk", now=now)
    assert harness.store.get(ID) == first.task


def test_a_random_id_is_new_even_if_the_response_to_its_write_was_lost() -> None:
    harness = CreateHarness(a_task())
    assert harness.create(task_id=NewTaskId(ID)).is_new


def test_a_task_that_exceeds_todays_budget_records_its_wait_reason() -> None:
    harness = CreateHarness()
    harness.budgets.set_limit("agents", 0, now=NOW)
    task = harness.create(type="action", payload=PAID).task
    assert task.wait_reason is WaitReason.BUDGET


def test_a_task_due_after_the_budget_reset_does_not_wait_for_the_budget() -> None:
    harness = CreateHarness()
    harness.budgets.set_limit("agents", 0, now=NOW)
    tomorrow = Schedule(due_at=NOW + DAY)
    assert harness.create(type="action", payload=PAID, schedule=tomorrow).task.wait is None
