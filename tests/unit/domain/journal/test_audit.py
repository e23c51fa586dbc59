"""Every run of an action writes one audit entry, whatever its outcome."""

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


def committed_run(task: Task, call: ProviderCall | None = CALL) -> Run:
    running = claim_task(task)
    committed = run_transitions.commit(
        replace(running, run=replace(run_of(running), call=call)), None, at=NOW
    )
    return run_of(committed)


def audit_entry_of(task: Task, run: Run) -> AuditEntry:
    entry = to_audit_entry(task, run)
    assert entry is not None
    return entry


def test_a_success_entry_has_provider_model_duration_and_cost() -> None:
    task = an_action()
    assert audit_entry_of(task, committed_run(task)).text == (
        "[ACTION] provider=openai model=small-1 outcome=success duration=1234 ms cost=$0.005678 "
        f"task={task.id}"
    )


def test_a_failure_entry_has_its_category_as_outcome() -> None:
    task = fail_task(claim_task(an_action()))
    assert audit_entry_of(task, replace(run_of(task), call=CALL)).outcome == "unknown"


def test_a_crashed_run_has_an_entry_with_unknown_duration_and_cost() -> None:
    task = crash_task(claim_task(an_action()), at=NOW + LEASE)
    assert "provider=scripted model=unknown" in audit_entry_of(task, run_of(task)).text
    assert "duration=unknown cost=unknown" in audit_entry_of(task, run_of(task)).text


def test_a_run_without_a_provider_call_has_no_entry() -> None:
    task = an_action()
    assert to_audit_entry(task, committed_run(task, call=None)) is None


@pytest.mark.parametrize("task_type", ["reminder", "webhook", "enrich"])
def test_only_actions_are_audited(task_type: str) -> None:
    task = a_task(type=task_type)
    assert to_audit_entry(task, committed_run(task)) is None


def test_an_entry_has_the_sender_and_a_truncated_description() -> None:
    task = an_action(description="x" * 4_000)
    entry = audit_entry_of(task, committed_run(task)).to_json()
    assert (entry["sender"], len(entry["description"]) <= 200) == ("console:ada", True)
    assert (entry["duration_ms"], entry["cost"]) == (1_234, 0.005678)
