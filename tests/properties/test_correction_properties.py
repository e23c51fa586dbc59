"""A late report leaves the task as a report in time would have, apart from the moments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.lifecycle.correct_run import amend, can_settle, is_late
from duecourse.domain.lifecycle.correction import is_correction
from duecourse.domain.lifecycle.resolve_indeterminate import Resolution, resolve_indeterminate
from duecourse.domain.lifecycle.run_transitions import commit
from duecourse.domain.lifecycle.user_actions import cancel
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.tasks.handler import HandlerCapabilities
from duecourse.domain.tasks.run import IndeterminatePolicy
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.builders.failures import (
    a_failure_report,
    apply_decision,
    correct_task,
    crash_task,
)
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import an_action, claim_task

SWEPT_AT, REPORTED_AT = NOW + 5 * MINUTE, NOW + 8 * MINUTE
texts = st.sampled_from(["boom", "connect ECONNREFUSED", "SyntaxError: x", "HTTP 429", "timeout"])
origins = st.sampled_from([Origin.WORK, Origin.ANSWER, Origin.NOT_ATTEMPTED, Origin.LOGIC])
RUN_FIELDS = ("id", "attempt", "phase", "status", "error", "category", "mutation", "diagnosis")
TASK_FIELDS = ("status", "retry_count", "recovery_action", "guidance", "last_error", "paused")


@st.composite
def running_tasks(draw: st.DrawFn) -> Task:
    policy = draw(st.sampled_from(["agent", "enrichment", "omega"]))
    repeat = draw(st.sampled_from([None, "weekly"]))  # longer than the longest wait for a retry
    guidance = draw(st.lists(st.sampled_from(["a", "b"]), max_size=2))
    task = an_action(
        policy=policy,
        max_retries=5 if policy == "agent" else 3,
        retry_count=draw(st.integers(0, 5)),
        repeat=repeat,
        guidance=() if repeat else tuple(guidance),  # a series that goes on forgets its guidance
    )
    capabilities = HandlerCapabilities(
        has_prepare=draw(st.booleans()),
        indeterminate_policy=draw(st.sampled_from(IndeterminatePolicy)),
    )
    running = claim_task(task, capabilities=capabilities)
    is_in_flight = draw(st.booleans())
    return replace(running, run=run_of(running).mark_in_flight()) if is_in_flight else running


@st.composite
def reports(draw: st.DrawFn, task: Task) -> FailureReport:
    report = a_failure_report(task, Failure.create(draw(texts)), at=NOW + MINUTE)
    effect = draw(st.sampled_from([Effect.NONE, Effect.UNKNOWN, Effect.APPLIED]))
    result = {"done": True} if effect is Effect.APPLIED else None
    return replace(report, origin=draw(origins), effect=effect, result=result)


def compared(task: Task) -> dict[str, Any]:
    run = run_of(task)
    note = run.diagnosis and replace(run.diagnosis, delay=None)
    of_run = {f"run.{name}": getattr(run, name) for name in RUN_FIELDS}
    return {**{name: getattr(task, name) for name in TASK_FIELDS}, **of_run, "run.diagnosis": note}


@given(st.data())
def test_a_late_failure_leaves_the_task_as_one_in_time(data: st.DataObject) -> None:
    running = data.draw(running_tasks())
    report = data.draw(reports(running))
    crashed = crash_task(running, at=SWEPT_AT)
    assume(can_settle(crashed, report))
    in_time = apply_decision(running, report, at=NOW + MINUTE)

    late = correct_task(crashed, report, at=REPORTED_AT)

    assert compared(late) == compared(in_time)
    assert (late.version, run_of(late).ended_at) == (crashed.version + 1, SWEPT_AT)
    assert late.next_retry_at is None or late.next_retry_at >= REPORTED_AT
    assert (late.next_retry_at is None) == (in_time.next_retry_at is None)
    assert is_correction(crashed, late)
    assert not is_late(late, report), "the same report changes nothing twice"


@given(st.data())
def test_a_late_success_leaves_the_task_as_a_commit_in_time(data: st.DataObject) -> None:
    running = data.draw(running_tasks())
    crashed = crash_task(running, at=SWEPT_AT)
    report = replace(
        a_failure_report(running, at=NOW + 7 * MINUTE),
        effect=Effect.APPLIED,
        result={"done": True},
        is_finished=True,
    )
    assume(can_settle(crashed, report))
    in_time = commit(running, {"done": True}, at=NOW + MINUTE)

    late = correct_task(crashed, report, at=REPORTED_AT)

    names = ("status", "due_at", "nominal_at", "next_retry_at", "failed_occurrences", "paused")
    assert [getattr(late, name) for name in names] == [getattr(in_time, name) for name in names]
    of_run = ("status", "phase", "mutation", "error", "category", "diagnosis")
    assert [getattr(run_of(late), n) for n in of_run] == [
        getattr(run_of(in_time), n) for n in of_run
    ]
    assert late.delivered_at == report.failed_at
    assert not is_late(late, report)


@given(st.data())
def test_a_persons_decision_stands(data: st.DataObject) -> None:
    running = data.draw(running_tasks())
    report = data.draw(reports(running))
    crashed = crash_task(running, at=SWEPT_AT)
    decided = cancel(crashed, at=SWEPT_AT) if crashed.status is not Status.FAILED else None
    if run_of(crashed).is_unsafe_to_repeat and crashed.status is Status.BLOCKED:
        resolution = data.draw(st.sampled_from(Resolution))
        decided = resolve_indeterminate(crashed, resolution, at=SWEPT_AT + MINUTE)
    assume(decided is not None)
    assert decided is not None

    assert is_late(decided, report)
    assert not can_settle(decided, report)
    after = amend(decided, report)

    assert replace(after, run=decided.run, version=decided.version, skipped=decided.skipped) == (
        decided
    )
    assert run_of(after).error == report.failure.summary
    assert run_of(after).status is run_of(decided).status
    if decided.is_open:
        assert run_of(after).mutation == run_of(decided).mutation
    assert amend(after, report) is after, "the same report changes nothing twice"
