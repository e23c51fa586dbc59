"""What failed by a bug of its handler is tried again once other code is deployed."""

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


def waiting(number: int = 0, *, version: str = "1", **fields: Any) -> Task:
    run = a_run(status=RunStatus.FAILED_LOGIC, handler_version=version, ended_at=NOW)
    blocked = {"status": Status.BLOCKED, "recovery_action": Action.AWAIT_FIX, "run": run}
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **blocked | fields)


# A task


def test_a_task_that_waits_for_mended_code_is_due_within_two_minutes() -> None:
    task = retry_after_deploy(waiting(), "2", at=NOW + DAY)
    assert task.status is Status.PENDING
    assert NOW + DAY <= task.due_at < NOW + DAY + REDEPLOY_RETRY_SPREAD


def test_many_that_are_mended_at_once_are_spread() -> None:
    moments = [retry_after_deploy(waiting(number), "2", at=NOW).due_at for number in range(1000)]
    a_second = [moment for moment in moments if moment < NOW + timedelta(seconds=1)]
    assert 0 < len(a_second) < 30


def test_the_next_run_says_that_the_code_was_mended() -> None:
    task = retry_after_deploy(waiting(), "2", at=NOW)
    run = run_of(claim_task(task, "run-2", at=task.due_at, version="2"))
    assert (run.reason, run.retry_of, run.attempt) == (Reason.LOGIC_FIX, "run-1", 2)


def test_what_failed_with_this_very_version_stays_as_it_is() -> None:
    task = waiting(version="2")
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
def test_what_does_not_wait_for_code_stays_as_it_is(fields: dict[str, Any]) -> None:
    task = waiting(**fields)
    assert not is_awaiting_fix(task)
    assert retry_after_deploy(task, "2", at=NOW) is task


def test_an_effect_that_happened_is_not_brought_about_again() -> None:
    run = a_run(status=RunStatus.FAILED_LOGIC, ended_at=NOW, has_emit=True).mark_applied({"id": 7})
    task = retry_after_deploy(waiting(run=run), "2", at=NOW)
    again = run_of(claim_task(task, "run-2", at=task.due_at, version="2"))
    assert (again.phase, again.mutation.status) == (Phase.EMITTING, MutationStatus.APPLIED)


# A sweep


class Sweep:
    def __init__(self, *tasks: Task, known: Deployment | None = None) -> None:
        self.store = MemoryStore(*tasks)
        self.deployments = MemoryDeployments(known)
        self.queue = ListQueue()
        self.clock = ManualClock(NOW)
        self.time_for = 1_000

    def __call__(self, version: str, *, at: datetime = NOW) -> int:
        self.clock.at = at
        time_for = iter(range(self.time_for))
        mender = RedeployDeps(
            self.store,
            self.deployments,
            self.queue,
            self.clock,
            has_time=lambda: next(time_for, None) is not None,
        )
        return retry_tasks_after_deploy(version, mender)

    def pending(self) -> int:
        return sum(task.status is Status.PENDING for task in self.store.tasks.values())


def done_with(version: str) -> Deployment:
    return Deployment(version=version, first_seen_at=NOW - DAY, is_rescan_done=True)


def test_a_new_version_takes_up_all_that_waited() -> None:
    sweep = Sweep(waiting(1), waiting(2), a_task(), known=done_with("1"))
    assert sweep("2") == 2
    assert sorted(sweep.queue) == sorted(
        Dispatch(task.due_at, task.id) for task in sweep.store.tasks.values() if task.run
    )


def test_the_same_version_takes_up_nothing() -> None:
    sweep = Sweep(waiting(version="1"), known=done_with("1"))
    assert (sweep("1"), sweep.pending()) == (0, 0)


def test_what_a_container_of_the_old_version_records_later_is_taken_up() -> None:
    sweep = Sweep(known=done_with("1"))
    sweep("2")
    sweep.store.create(waiting(version="1"))
    assert sweep("2", at=NOW + ROLLOUT_PERIOD - MILLISECOND) == 1


def test_the_first_look_after_the_change_over_is_the_last() -> None:
    sweep = Sweep(known=done_with("1"))
    sweep("2")
    sweep("2", at=NOW + ROLLOUT_PERIOD)
    sweep.store.create(waiting(version="1"))
    assert sweep("2", at=NOW + HOUR) == 0


def test_a_look_that_had_no_time_for_all_is_not_the_last() -> None:
    sweep = Sweep(*(waiting(number) for number in range(5)), known=done_with("1"))
    sweep.time_for = 2
    taken_up = [sweep("2", at=NOW + hours * HOUR) for hours in range(4)]
    assert (taken_up, sweep.pending()) == ([2, 2, 1, 0], 5)


def test_a_version_that_was_never_seen_before_begins_with_its_first_look() -> None:
    sweep = Sweep()
    sweep("1")
    assert sweep.deployments.deployment == Deployment(version="1", first_seen_at=NOW)


def test_going_back_to_an_older_version_takes_up_what_failed_with_the_newer() -> None:
    sweep = Sweep(waiting(version="2"), known=done_with("2"))
    assert sweep("1") == 1


def test_a_task_that_a_person_took_up_first_is_theirs() -> None:
    sweep = Sweep(waiting(1), waiting(2), known=done_with("1"))
    first = next(iter(sweep.store.tasks.values()))
    theirs = replace(first, closed_at=NOW).move_to(Status.CANCELLED)
    sweep.store.concurrent_writes = [lambda: sweep.store.tasks.update({first.id: theirs})]
    assert sweep("2") == 1
    assert sweep.store.get(first.id) == theirs


def test_a_task_that_aged_out_meanwhile_is_passed_over() -> None:
    sweep = Sweep(waiting(1), waiting(2), known=done_with("1"))
    found = list(sweep.store.list_awaiting_fix())
    sweep.store.list_awaiting_fix = lambda: iter(["gone", *found])  # type: ignore[method-assign]
    assert sweep("2", at=NOW + MINUTE) == 2
