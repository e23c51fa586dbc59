"""Values for tests: each builder takes the fields that matter and fills in the rest."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from duecourse.adapters.policy_files import read_policies
from duecourse.domain import attempt, failed_attempt
from duecourse.domain.budget import next_reset
from duecourse.domain.chat.message import Message
from duecourse.domain.classify import diagnose
from duecourse.domain.decision import Situation, decide
from duecourse.domain.diagnosis import Diagnosis
from duecourse.domain.failure import Failure
from duecourse.domain.handler import Manner
from duecourse.domain.instant import from_text
from duecourse.domain.policy import Policy
from duecourse.domain.report import FailureReport
from duecourse.domain.request import Offer, new_task
from duecourse.domain.run import Mutation, Reason, Run
from duecourse.domain.run_diagnosis import RunDiagnosis
from duecourse.domain.subject import Subject
from duecourse.domain.task import Task
from duecourse.domain.task_edit import TaskEdit, Timing
from duecourse.domain.wait import Wait, WaitReason
from duecourse.domain.wallclock import to_wall, zone_named

NOW = datetime(2026, 2, 17, 12, 0, tzinfo=UTC)  # a Tuesday
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
MILLISECOND = timedelta(milliseconds=1)
LEASE = timedelta(seconds=90)
ID = "0a1b2c3d-0000-4000-8000-000000000000"
SOON: dict[str, Any] = {"in": "5m"}  # `in` is no name for a keyword argument
PLAIN = Manner()  # nothing to prepare, nobody to tell, and a repeat is harmless
BOOM = Failure.of("boom")
PROVIDER_DOWN = Wait(WaitReason.CIRCUIT_BREAKER, detail={"provider": "x"})
OFFER = Offer(
    types=frozenset({"reminder", "action"}),
    channels=frozenset({"console", "slack"}),
    policies={"omega": 3, "agent": 5, "enrichment": 3},
    default_channel="console",
)


def shipped_policies() -> Mapping[str, Policy]:
    return read_policies()


def at(text: str) -> datetime:
    return from_text(text)


def a_task(**fields: Any) -> Task:
    """Due now and once, unless told otherwise; its anchor fits its nominal time."""
    due_at = fields.setdefault("due_at", NOW)
    nominal_at = fields.setdefault("nominal_at", due_at)
    zone = zone_named(fields.get("timezone", "UTC"))
    defaults = {
        "id": ID,
        "type": "reminder",
        "channel": "console",
        "sender_id": "ada",
        "reply_target": "ada",
        "description": "stretch",
        "created_at": NOW - HOUR,
        "anchor": to_wall(nominal_at, zone),
    }
    return Task(**{**defaults, **fields})


def a_message(text: str = "/tasks", **fields: Any) -> Message:
    defaults = {"channel": "console", "sender_id": "ada", "reply_target": "ada"}
    return Message(**{**defaults, "key": "message-1", "at": NOW, **fields}, text=text)


def a_run(**fields: Any) -> Run:
    defaults = {
        "id": "run-1",
        "attempt": 1,
        "reason": Reason.FIRST,
        "mutation": Mutation(key=fields.get("id", "run-1")),
        "nominal_at": NOW,
        "started_at": NOW,
        "lease_expires_at": NOW + LEASE,
        "handler_version": "1",
    }
    return Run(**{**defaults, **fields})


def a_requested_task(*, now: datetime = NOW, **fields: Any) -> Task:
    """Made from a request, as callers send it."""
    raw = {"description": "stretch", **fields}
    return new_task(raw, task_id=ID, offer=OFFER, now=now)


def claimed(
    task: Task,
    owner: str = "run-1",
    *,
    at: datetime = NOW,
    manner: Manner = PLAIN,
    version: str = "1",
) -> Task:
    lease = attempt.Lease(owner=owner, expires_at=at + LEASE, handler_version=version)
    return attempt.claimed(task, lease, manner, at=at)


def another_time(due_at: datetime, **fields: Any) -> TaskEdit:
    """Once, in UTC, unless told otherwise."""
    kept = {"anchor": due_at.replace(tzinfo=None), "repeat": None, "timezone": "UTC"}
    return TaskEdit(timing=Timing(due_at, **{**kept, **fields}))


def quiet_until(end: str) -> Wait:
    """As the quiet hours that end then, in UTC, put off a task."""
    return Wait(WaitReason.QUIET_HOURS, detail={"end": end, "zone": "UTC"})


def run_of(task: Task) -> Run:
    assert task.run is not None
    return task.run


def a_subject(**fields: Any) -> Subject:
    return Subject(**{"id": "story-1", **fields})


def reported(task: Task, failure: Failure = BOOM, *, at: datetime = NOW) -> FailureReport:
    """By the worker that runs the task."""
    return FailureReport(task_id=task.id, run_id=run_of(task).id, failure=failure, failed_at=at)


def failed(task: Task, failure: Failure = BOOM, *, at: datetime = NOW) -> Task:
    """As its policy decides, for a task that runs."""
    return decided(task, reported(task, failure, at=at), at=at)


def crashed(task: Task, *, at: datetime) -> Task:
    return decided(task, failed_attempt.vanished(task), at=at)


def a_diagnosis(category: str = "unknown", **fields: Any) -> Diagnosis:
    defaults = {"confidence": 0.9, "pattern": "a-rule", "fix": "Mend it."}
    return Diagnosis(category=category, **{**defaults, **fields})


def diagnosis_of(task: Task) -> RunDiagnosis:
    """That of its latest run, which failed."""
    found = run_of(task).diagnosis
    assert found is not None
    return found


def decided(
    task: Task, report: FailureReport, *, at: datetime, diagnosis: Diagnosis | None = None
) -> Task:
    policy = shipped_policies()[task.policy]
    diagnosis = diagnosis or diagnose(report.failure, policy)
    situation = Situation(
        retry_count=task.retry_count,
        max_retries=task.max_retries,
        failed_at=report.failed_at,
        budget_resets_at=next_reset(at),
        salt=task.id,
        has_spec=bool(task.payload.get("spec")),
    )
    decision = decide(report.failure, diagnosis, policy, situation)
    return failed_attempt.failed(task, report, diagnosis, decision, at=at)


def failed_times(task: Task, times: int) -> Task:
    """Claimed and failed so often in a row, each attempt at its own due time."""
    for _ in range(times):
        running = claimed(task, f"run-{task.version}", at=task.due_at)
        task = failed(running, at=task.due_at)
    return task


def an_action(**fields: Any) -> Task:
    """Under the policy of actions, carried out by a provider."""
    defaults = {"type": "action", "policy": "agent", "max_retries": 5}
    return a_task(**{**defaults, "payload": {"provider": "scripted"}, **fields})
