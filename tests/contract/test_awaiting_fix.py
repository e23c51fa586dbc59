"""Tasks that wait for fixed code: which of them a store lists, and that they are not due."""

from __future__ import annotations

import pytest
from duecourse.adapters.aws.dynamodb.deployments import DynamoDeployments
from duecourse.domain.dispatch.deployment import Deployment
from duecourse.domain.dispatch.lanes import DUE_LANES, partitions_of
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.retry_after_deploy import retry_after_deploy
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.ports.dispatch import Deployments
from duecourse.ports.tasks import TaskStore

from tests.contract.conftest import SHARDS
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, NOW
from tests.support.builders.tasks import a_task, claim_task
from tests.support.fakes.dispatch import MemoryDeployments
from tests.unit.usecases.dispatch.test_retry_after_deploy import a_task_awaiting_fix


def test_a_task_that_never_failed_is_not_listed(store: TaskStore) -> None:
    store.create(a_task())
    assert list(store.list_awaiting_fix()) == []


def test_every_task_that_awaits_a_fix_is_listed(store: TaskStore) -> None:
    tasks = [store.create(a_task_awaiting_fix(number)) for number in range(30)]
    assert sorted(store.list_awaiting_fix()) == [task.id for task in tasks]


def test_a_task_that_waits_for_a_person_is_not_listed(store: TaskStore) -> None:
    store.create(a_task_awaiting_fix(recovery_action=Action.ASK_PERSON))
    assert list(store.list_awaiting_fix()) == []


def test_a_task_retried_after_a_deployment_is_not_listed(store: TaskStore) -> None:
    task = store.create(a_task_awaiting_fix())
    store.save(task, retry_after_deploy(task, "2", at=NOW))
    assert list(store.list_awaiting_fix()) == []


def test_a_cancelled_task_is_not_listed(store: TaskStore) -> None:
    task = store.create(a_task_awaiting_fix())
    store.save(task, user_actions.cancel(task, at=NOW))
    assert list(store.list_awaiting_fix()) == []


def test_a_task_that_awaits_a_fix_is_not_due(store: TaskStore) -> None:
    store.create(a_task_awaiting_fix())
    due = [
        dispatch
        for shard in range(SHARDS)
        for dispatch in store.list_due(shard, start=None, end=NOW + DAY)
    ]
    assert due == []


def test_a_task_retried_after_a_deployment_is_due(store: TaskStore) -> None:
    task = store.create(a_task_awaiting_fix())
    after = retry_after_deploy(task, "2", at=NOW)
    store.save(task, after)
    end = after.due_at + MILLISECOND
    due = [
        dispatch.task_id
        for n in partitions_of(DUE_LANES, SHARDS)
        for dispatch in store.list_due(n, start=None, end=end)
    ]
    assert (due, store.get(task.id)) == ([task.id], after)


def test_a_running_task_is_not_listed(store: TaskStore) -> None:
    task = store.create(a_task(recovery_action=Action.AWAIT_FIX))
    store.save(task, claim_task(task))
    assert store.get(task.id).status is Status.IN_PROGRESS
    assert list(store.list_awaiting_fix()) == []


@pytest.fixture(params=[DynamoDeployments, MemoryDeployments])
def deployments(request: pytest.FixtureRequest) -> Deployments:
    deployments: Deployments = request.param()
    return deployments


def test_no_deployment_is_stored_before_the_first_sweep(deployments: Deployments) -> None:
    assert deployments.load() is None


@pytest.mark.parametrize("is_done", [True, False])
def test_the_last_saved_deployment_is_loaded(deployments: Deployments, is_done: bool) -> None:
    deployments.save(Deployment(version="0.1.0+1", first_seen_at=NOW))
    newest = Deployment(version="0.1.0+2", first_seen_at=NOW + HOUR, is_rescan_done=is_done)
    deployments.save(newest)
    assert deployments.load() == newest
