"""Builders of a task that waits for its spec review, and of that review."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duecourse.domain.lifecycle.spec_review import build_review
from duecourse.domain.tasks.task import Task

from tests.support.builders.failures import a_diagnosis, a_failure_report, apply_decision
from tests.support.builders.moments import NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import an_action, claim_task

SPEC = "foo is exported by lib/foo.ts"


def a_task_awaiting_review(spec: Any = SPEC, **fields: Any) -> Task:
    """Return an action that is blocked after its third code error."""
    payload = {"provider": "scripted", "model": "small", "spec": spec, **fields.pop("payload", {})}
    running = claim_task(an_action(retry_count=2, payload=payload, **fields), "run-3")
    running = replace(running, run=replace(run_of(running), attempt=3))
    return apply_decision(
        running, a_failure_report(running), at=NOW, diagnosis=a_diagnosis("code_error")
    )


def review_of(task: Task) -> Task:
    review = build_review(task)
    assert review is not None
    return review
