"""Runs that the counters name."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from duecourse.domain.journal.counted_runs import counted_run_name, read_counted_runs, run_to_name
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.usecases.journal.project_change import ProjectionSettings, project_change

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import an_action, claim_task
from tests.support.notification_cases import commit_run, fail_run

SETTINGS = ProjectionSettings((), timedelta(minutes=1))


def names_of(old: Task, new: Task, *, is_redriven: bool = False) -> set[str]:
    counted_at = NOW if is_redriven else None
    projected = project_change(old, new, SETTINGS, at=NOW, counted_at=counted_at)
    return set(read_counted_runs(projected.increments))


def test_a_success_that_closes_its_task_is_named_and_a_recorded_run_only_if_redriven() -> None:
    running = claim_task(an_action())
    assert running.run is not None
    name = counted_run_name(running.run)
    done = commit_run(running, status=Status.COMPLETED)
    failed = fail_run(running, status=Status.FAILED)
    assert names_of(running, done) == {name}
    assert names_of(running, failed) == set()
    assert names_of(running, failed, is_redriven=True) == {name}
    assert names_of(an_action(), running) == set()


def test_an_amendment_is_counted_by_its_own_change_and_not_by_the_name_of_its_run() -> None:
    failed = fail_run(claim_task(an_action()), status=Status.FAILED)
    assert failed.run is not None
    amended = replace(failed, run=replace(failed.run, category="logic"), version=9)
    assert run_to_name(failed, amended) is None
    assert names_of(failed, amended, is_redriven=True) == set()
