"""Tasks that failed by a handler bug are retried after a new version is deployed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.dispatch.deployment import ROLLOUT_PERIOD, Deployment
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.lifecycle.blocked import is_awaiting_fix
from duecourse.domain.lifecycle.retry_after_deploy import REDEPLOY_RETRY_SPREAD, retry_after_deploy
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import MutationStatus, Phase, Reason, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.dispatch.retry_after_deploy import RedeployDeps, retry_tasks_after_deploy

from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW
from tests.support.builders.runs import a_run, run_of
from tests.support.builders.tasks import a_task, claim_task
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.dispatch import MemoryDeployments
from tests.support.fakes.queues import ListQueue
from tests.support.fakes.tasks import MemoryStore


def a_task_awaiting_fix(number: int = 0, *, version: str = "1", **fields: Any) -> Task:
    run = a_run(status=RunStatus.FAILED_LOGIC, handler_version=version, ended_at=NOW)
    blocked = {"status": Status.BLOCKED, "recovery_action": Action.AWAIT_FIX, "run": run}
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **blocked | fields)


# A task


def test_a_task_awaiting_a_fix_is_due_within_two_minutes_of_the_deploy() -> None:
    task = retry_after_deploy(a_task_awaiting_fix(), "2", at=NOW + DAY)
    assert task.status is Status.PENDING
    assert NOW + DAY <= task.due_at < NOW + DAY + REDEPLOY_RETRY_SPREAD


def test_the_due_times_of_many_retried_tasks_are_spread() -> None:
    due_times = [
        retry_after_deploy(a_task_awaiting_fix(number), "2", at=NOW).due_at
        for number in range(1000)
    ]
    in_first_second = [due_at for due_at in due_times if due_at < NOW + timedelta(seconds=1)]
    assert 0 < len(in_first_second) < 30


def test_the_next_run_has_the_reason_logic_fix() -> None:
    task = retry_after_deploy(a_task_awaiting_fix(), "2", at=NOW)
    run = run_of(claim_task(task, "run-2", at=task.due_at, version="2"))
    assert (run.reason, run.retry_of, run.attempt) == (Reason.LOGIC_FIX, "run-1", 2)


def test_a_task_that_failed_with_the_current_version_is_unchanged() -> None:
    task = a_task_awaiting_fix(version="2")
    assert retry_after_deploy(task, "2", at=NOW) is task


@pytest.mark.parametrize(
    "fields",
    [
        {"recovery_action": Action.ASK_PERSON},
        {"recovery_action": None},
        {"status": Status.PENDING},
        {"status": Status.FAILED},
        {"status": Status.CANCELLED},
    ],
)
def test_a_task_that_does_not_await_a_fix_is_unchanged(fields: dict[str, Any]) -> None:
    task = a_task_awaiting_fix(**fields)
    assert not is_awaiting_fix(task)
    assert retry_after_deploy(task, "2", at=NOW) is task


def test_an_applied_mutation_is_not_repeated() -> None:
    run = a_run(status=RunStatus.FAILED_LOGIC, ended_at=NOW, has_emit=True).mark_applied({"id": 7})
    task = retry_after_deploy(a_task_awaiting_fix(run=run), "2", at=NOW)
    next_run = run_of(claim_task(task, "run-2", at=task.due_at, version="2"))
    assert (next_run.phase, next_run.mutation.status) == (Phase.EMITTING, MutationStatus.APPLIED)


# A sweep


class Sweep:
    def __init__(self, *tasks: Task, known: Deployment | None = None) -> None:
        self.store = MemoryStore(*tasks)
        self.deployments = MemoryDeployments(known)
        self.queue = ListQueue()
        self.clock = ManualClock(NOW)
        self.max_tasks = 1_000

    def __call__(self, version: str, *, at: datetime = NOW) -> int:
        self.clock.at = at
        remaining = iter(range(self.max_tasks))
        deps = RedeployDeps(
            self.store,
            self.deployments,
            self.queue,
            self.clock,
            has_time=lambda: next(remaining, None) is not None,
        )
        return retry_tasks_after_deploy(version, deps)

    def pending(self) -> int:
        return sum(task.status is Status.PENDING for task in self.store.tasks.values())


def finished_deployment(version: str) -> Deployment:
    return Deployment(version=version, first_seen_at=NOW - DAY, is_rescan_done=True)


def test_a_new_version_retries_all_tasks_awaiting_a_fix() -> None:
    sweep = Sweep(
        a_task_awaiting_fix(1), a_task_awaiting_fix(2), a_task(), known=finished_deployment("1")
    )
    assert sweep("2") == 2
    assert sorted(sweep.queue) == sorted(
        Dispatch(task.due_at, task.id) for task in sweep.store.tasks.values() if task.run
    )


def test_the_same_version_retries_nothing() -> None:
    sweep = Sweep(a_task_awaiting_fix(version="1"), known=finished_deployment("1"))
    assert (sweep("1"), sweep.pending()) == (0, 0)


def test_a_failure_recorded_by_an_old_container_during_rollout_is_retried() -> None:
    sweep = Sweep(known=finished_deployment("1"))
    sweep("2")
    sweep.store.create(a_task_awaiting_fix(version="1"))
    assert sweep("2", at=NOW + ROLLOUT_PERIOD - MILLISECOND) == 1


def test_the_first_sweep_after_the_rollout_period_is_the_last() -> None:
    sweep = Sweep(known=finished_deployment("1"))
    sweep("2")
    sweep("2", at=NOW + ROLLOUT_PERIOD)
    sweep.store.create(a_task_awaiting_fix(version="1"))
    assert sweep("2", at=NOW + HOUR) == 0


def test_a_sweep_that_ran_out_of_time_is_followed_by_another() -> None:
    sweep = Sweep(
        *(a_task_awaiting_fix(number) for number in range(5)), known=finished_deployment("1")
    )
    sweep.max_tasks = 2
    retried_counts = [sweep("2", at=NOW + hours * HOUR) for hours in range(4)]
    assert (retried_counts, sweep.pending()) == ([2, 2, 1, 0], 5)


def test_a_first_sweep_stores_the_deployment() -> None:
    sweep = Sweep()
    sweep("1")
    assert sweep.deployments.deployment == Deployment(version="1", first_seen_at=NOW)


def test_a_rollback_retries_tasks_that_failed_with_the_newer_version() -> None:
    sweep = Sweep(a_task_awaiting_fix(version="2"), known=finished_deployment("2"))
    assert sweep("1") == 1


def test_a_task_changed_concurrently_is_not_retried() -> None:
    sweep = Sweep(a_task_awaiting_fix(1), a_task_awaiting_fix(2), known=finished_deployment("1"))
    first = next(iter(sweep.store.tasks.values()))
    cancelled = replace(first, closed_at=NOW).move_to(Status.CANCELLED)
    sweep.store.concurrent_writes = [lambda: sweep.store.tasks.update({first.id: cancelled})]
    assert sweep("2") == 1
    assert sweep.store.get(first.id) == cancelled


def test_a_task_deleted_meanwhile_is_skipped() -> None:
    sweep = Sweep(a_task_awaiting_fix(1), a_task_awaiting_fix(2), known=finished_deployment("1"))
    waiting_ids = list(sweep.store.list_awaiting_fix())
    sweep.store.list_awaiting_fix = lambda: iter(["gone", *waiting_ids])  # type: ignore[method-assign]
    assert sweep("2", at=NOW + MINUTE) == 2
