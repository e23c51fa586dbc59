"""The record of an ended run: the run, the events of its end and, if it failed, its error.

A task's history is derived from the task and its run records. Only what no run tells, such as an
edit, is stored as an event of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duecourse.domain.journal.error_log import LoggedError, provider_name
from duecourse.domain.journal.failure_events import error_detail, run_detail
from duecourse.domain.journal.history import ended_run, events_between, is_amendment
from duecourse.domain.tasks.advice import suggested_fix
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED
from duecourse.domain.tasks.task import Task


@dataclass(frozen=True, kw_only=True, slots=True)
class RunRecord:
    """`version`, `policy`, `subject`, `provider` and `next_retry_at`: of the task after the run.

    `events`: what the end of the run brought, in order; None for an amendment, which changes the
    run but not what happened when it ended. `former_category`: the one that an amendment replaced.
    `former_detail`: what the run told before an amendment; its events still tell that.
    `audit`: sender and description of an action, if its audit entry is derived from this record.
    """

    task_id: str
    version: int
    run: Run
    events: Sequence[Event] | None
    policy: str
    subject: str | None = None
    provider: str | None = None
    next_retry_at: datetime | None = None
    former_category: str | None = None
    former_detail: dict[str, Any] | None = None
    audit: tuple[str, str] | None = None

    @property
    def is_amendment(self) -> bool:
        return self.events is None


def to_run_record(old: Task | None, new: Task, *, at: datetime) -> RunRecord | None:
    """Return the record that this write brings, or None.

    None too if the closed task keeps its run and nothing needs to be recorded: `closing_events`
    derives the one event of a plain success.
    """
    run = ended_run(old, new)
    if run is None:
        return None
    is_amended = old is not None and is_amendment(run, old)
    events = None if is_amended else events_between(old, new, at=at)
    if not is_amended and events == closing_events(new):
        return None
    return RunRecord(
        task_id=new.id,
        version=new.version,
        run=run,
        events=events,
        policy=new.policy,
        subject=new.subject,
        provider=provider_name(new),
        next_retry_at=new.next_retry_at,
        former_category=_former_category(old, run) if is_amended else None,
        former_detail=error_detail(old.run) if is_amended and old and old.run else None,
    )


def _former_category(old: Task | None, run: Run) -> str | None:
    before = old.run if old else None
    is_changed = before is not None and before.is_failure and before.category != run.category
    return before.error_category if before is not None and is_changed else None


def closing_events(task: Task) -> list[Event]:
    """Return the events of the successful run that closed a task, or [] if none did."""
    run = task.run
    if task.is_open or run is None or run.status is not RunStatus.COMMITTED or run.ended_at is None:
        return []
    late_ms = max(0, int((run.ended_at - task.due_at).total_seconds() * 1000))
    kind = EventType.TASK_DELIVERED if task.is_reminder else EventType.TASK_COMPLETED
    return [Event(kind, task.id, run.ended_at, {**run_detail(run), "late_ms": late_ms})]


def events_to_stored(record: RunRecord) -> list[list[Any]]:
    """Return each event as its type, the part of its detail that the run tells, and the rest.

    Every stored kilobyte costs a write unit, and most of the details repeat the run.
    """
    return [_event_to_stored(event, record.run) for event in record.events or ()]


def events_from_stored(
    task_id: str,
    run: Run,
    stored: Sequence[Sequence[Any]],
    *,
    former_detail: dict[str, Any] | None = None,
) -> list[Event]:
    """Return the events. `former_detail` is what the run told at its end, if it was amended."""
    at = run.ended_or_started_at
    details = _known_detail(run) | ({"error": former_detail} if former_detail else {})
    return [
        Event(EventType(kind), task_id, at, {**details[known], **rest})
        for kind, known, rest in stored
    ]


def _event_to_stored(event: Event, run: Run) -> list[Any]:
    for known, detail in _known_detail(run).items():
        if detail.items() <= event.detail.items():
            rest = {name: event.detail[name] for name in event.detail if name not in detail}
            return [str(event.type), known, rest]
    raise AssertionError("the last known detail is empty")


def _known_detail(run: Run) -> dict[str, dict[str, Any]]:
    """Return what a run tells, by its stored name, the most first."""
    return {
        "error": error_detail(run),
        "run": run_detail(run),
        "id": {"run_id": run.id},
        "": {},
    }


def to_logged_error(record: RunRecord) -> LoggedError:
    """Return the error log entry of a failed run."""
    run, diagnosis = record.run, record.run.diagnosis or NOT_DIAGNOSED
    return LoggedError(
        id=run.id,
        task_id=record.task_id,
        subject=record.subject,
        at=run.ended_or_started_at,
        category=run.error_category,
        kind=diagnosis.kind,
        likely=diagnosis.likely,
        message=run.error or "",
        confidence=diagnosis.confidence,
        pattern=diagnosis.pattern,
        location=diagnosis.location,
        suggested_fix=suggested_fix(run) or None,
        type=diagnosis.type,
        code=diagnosis.code,
        status=diagnosis.status,
        phase=diagnosis.phase or str(run.phase),
        attempt=run.attempt,
        retry_count=diagnosis.retry_count or 0,
        counted=diagnosis.counted,
        action=diagnosis.action,
        next_retry_at=record.next_retry_at,
        policy=record.policy,
        provider=record.provider,
        fingerprint=diagnosis.fingerprint,
        learned=diagnosis.learned,
        rule_category=diagnosis.read_as.category if diagnosis.read_as else None,
        adapted=diagnosis.adapted,
    )
