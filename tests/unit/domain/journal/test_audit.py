"""Every execution of an action leaves one line, whatever came of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from duecourse.domain.journal.audit import AuditEntry, to_audit_entry
from duecourse.domain.lifecycle import run_transitions
from duecourse.domain.tasks.run import ProviderCall, Run
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import crash_task, fail_task
from tests.support.builders.moments import NOW
from tests.support.builders.runs import LEASE, run_of
from tests.support.builders.tasks import a_task, an_action, claim_task

CALL = ProviderCall(provider="openai", model="small-1", milliseconds=1_234, cost=5_678)


def done(task: Task, call: ProviderCall | None = CALL) -> Run:
    running = claim_task(task)
    committed = run_transitions.commit(
        replace(running, run=replace(run_of(running), call=call)), None, at=NOW
    )
    return run_of(committed)


def entry(task: Task, run: Run) -> AuditEntry:
    found = to_audit_entry(task, run)
    assert found is not None
    return found


def test_a_success_is_told_with_its_provider_model_duration_and_cost() -> None:
    task = an_action()
    assert entry(task, done(task)).text == (
        "[ACTION] provider=openai model=small-1 outcome=success duration=1234 ms cost=$0.005678 "
        f"task={task.id}"
    )


def test_a_failure_is_told_by_its_category() -> None:
    task = fail_task(claim_task(an_action()))
    assert entry(task, replace(run_of(task), call=CALL)).outcome == "unknown"


def test_a_worker_that_was_lost_in_its_call_is_told_with_what_is_known() -> None:
    task = crash_task(claim_task(an_action()), at=NOW + LEASE)
    assert "provider=scripted model=unknown" in entry(task, run_of(task)).text
    assert "duration=unknown cost=unknown" in entry(task, run_of(task)).text


def test_a_run_that_asked_nobody_is_not_told() -> None:
    task = an_action()
    assert to_audit_entry(task, done(task, call=None)) is None


@pytest.mark.parametrize("kind", ["reminder", "webhook", "enrich"])
def test_only_actions_are_audited(kind: str) -> None:
    task = a_task(type=kind)
    assert to_audit_entry(task, done(task)) is None


def test_who_asked_for_it_and_what_is_kept_short() -> None:
    task = an_action(description="x" * 4_000)
    told = entry(task, done(task)).to_json()
    assert (told["sender"], len(told["description"]) <= 200) == ("console:ada", True)
    assert (told["duration_ms"], told["cost"]) == (1_234, 0.005678)
