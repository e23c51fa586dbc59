"""Derive the events of a task from two committed versions of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from duecourse.domain.journal.failure_events import (
    TypeAndDetail,
    action_of,
    error_detail,
    failure_reason,
    final_failure_events,
    last_error_detail,
    recovery_events,
    retry_events,
    review_detail,
    run_detail,
)
from duecourse.domain.lifecycle.blocked import blocked_timeout_reason, is_escalation
from duecourse.domain.lifecycle.correction import is_correction, is_late_report
from duecourse.domain.lifecycle.spec_review import is_reviewed
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.failure_kind import kind_to_json
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED
from duecourse.domain.tasks.skipped import SkippedOccurrences, describe_skip
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.tasks.wait_text import describe_wait
from duecourse.domain.time.dst import to_instant
from duecourse.domain.time.instant import to_text
from duecourse.domain.time.timezones import load_timezone

_EDITABLE_FIELDS = (
    "description",
    "due_at",
    "repeat",
    "timezone",
    "payload",
    "policy",
    "max_retries",
)


def events_between(old: Task | None, new: Task, *, at: datetime) -> list[Event]:
    """Return the events of the change from `old` to `new`, in order.

    `at` is the time of the write as the stream rounds it. Times stored on the task take precedence.
    """
    if old is None:
        return [created_event(new, first_due_at=new.due_at)]
    if is_late_report(old, new):
        return []  # the journal stores an event of its own for it
    moment = _event_time(old, new, at)
    return [Event(kind, new.id, moment, detail) for kind, detail in _change_events(old, new)]


def _event_time(old: Task, new: Task, at: datetime) -> datetime:
    run = ended_run(old, new)
    if run is not None and run.ended_at is not None and not is_amendment(run, old):
        return run.ended_at
    # The stream rounds `at` down, so it could precede the run that led to this write.
    known = [new.created_at, *([new.run.ended_or_started_at] if new.run else [])]
    return new.closed_at or max(at, *known)


def ended_run(old: Task | None, new: Task) -> Run | None:
    """Return the run that this write ended or amended, else None."""
    run = new.run
    if run is None or run.ended_at is None:
        return None
    return None if old is not None and old.run == run else run


def start_events(task_id: str, run: Run) -> list[Event]:
    detail = {"run_id": run.id, "attempt": run.attempt, "reason": str(run.reason)}
    events = [Event(EventType.TASK_STARTED, task_id, run.started_at, detail)]
    if run.retry_of is not None:
        events.append(Event(EventType.TASK_RETRY_EXECUTED, task_id, run.started_at, detail))
    return events


def created_event(task: Task, *, first_due_at: datetime) -> Event:
    by = {"by": task.created_by} if task.created_by else {}
    detail = {"due_at": to_text(first_due_at), "type": task.type, **by}
    return Event(EventType.TASK_CREATED, task.id, task.created_at, detail)


def first_due_at(task: Task) -> datetime:
    """Return when the task was first due, unless somebody moved it since.

    A retry or a deferral does not change `nominal_at`, an occurrence does not change `anchor`.
    """
    series = task.series
    if series is None:
        return task.nominal_at
    start = to_instant(task.anchor, load_timezone(task.timezone))
    return series.first_from(max(start, task.created_at)) or start


def _change_events(old: Task, new: Task) -> Iterator[TypeAndDetail]:
    run = ended_run(old, new)
    if run is not None and is_amendment(run, old):
        yield from _amendment_events(run, old, new)
    elif new.status is Status.CANCELLED:
        yield EventType.TASK_CANCELLED, {}
    elif run is not None:
        yield from _run_end_events(run, old, new)
    else:
        yield from _transition_events(old, new)
    if new.skipped is not None:
        yield EventType.TASK_SKIPPED, _skip_detail(new, new.skipped)


def _transition_events(old: Task, new: Task) -> Iterator[TypeAndDetail]:
    """Return the events of a change that ended no run."""
    if new.status is Status.PENDING_VERIFICATION:
        yield from _verification_events(old, new)
    elif old.status is Status.PENDING and new.status is Status.PENDING:
        yield from _edit_events(old, new)
    elif (reason := blocked_timeout_reason(old, new)) is not None:
        yield EventType.TASK_FAILED, {**last_error_detail(new), "reason": reason}
    elif is_escalation(old, new):
        yield from recovery_events(new)
        detail = {**last_error_detail(new), **review_detail(old), "reason": failure_reason(new)}
        yield EventType.TASK_ESCALATED, detail
    else:
        yield from _unblocked_events(old, new)


def _unblocked_events(old: Task, new: Task) -> Iterator[TypeAndDetail]:
    if new.status is Status.PENDING and old.status is not Status.PENDING:
        review = review_detail(old) if is_reviewed(new) else {}
        detail = {"from": str(old.status), "due_at": to_text(new.due_at), **review}
        yield EventType.TASK_UNBLOCKED, detail


def is_amendment(run: Run, old: Task) -> bool:
    """Return True if a run that had already ended was changed, by a person or a late report."""
    return old.run is not None and old.run.id == run.id and old.run.ended_at is not None


def _amendment_events(run: Run, old: Task, new: Task) -> Iterator[TypeAndDetail]:
    is_reclassified = old.run is not None and old.run.diagnosis != run.diagnosis
    if is_correction(old, new):
        yield from _correction_events(run, old, new)
    elif is_reclassified:
        yield from _reclassification_events(run, old, new)
    else:
        yield from _resolution_events(run, new)


def _correction_events(run: Run, old: Task, new: Task) -> Iterator[TypeAndDetail]:
    """Return the correction, and the events that follow if the task itself was settled by it."""
    detail = error_detail(run) if run.error is not None else run_detail(run)
    yield EventType.TASK_CORRECTED, {**detail, "mutation": run.mutation.status}
    if run.status is RunStatus.COMMITTED:
        yield (EventType.TASK_DELIVERED if new.is_reminder else EventType.TASK_COMPLETED), detail
    elif old.run is not None and old.run.diagnosis != run.diagnosis:
        yield from _redecided_events(run, old, new)


def _reclassification_events(run: Run, old: Task, new: Task) -> Iterator[TypeAndDetail]:
    """Return the reclassification event and the events that follow from the new decision."""
    former = (old.run and old.run.diagnosis) or NOT_DIAGNOSED
    detail = {
        "run_id": run.id,
        "from": old.last_error_category,
        "from_kind": kind_to_json(former.kind)["kind"],
        "category": run.category,
        **kind_to_json((run.diagnosis or NOT_DIAGNOSED).kind),
        "action": action_of(new),
    }
    yield EventType.TASK_RECLASSIFIED, detail
    yield from _redecided_events(run, old, new)


def _redecided_events(run: Run, old: Task, new: Task) -> Iterator[TypeAndDetail]:
    """Return the events of a failure that was decided again."""
    yield from _unblocked_events(old, new)
    if new.next_retry_at is not None:
        yield from retry_events(run, new, error_detail(run))
    elif new.status is Status.PENDING or _blocked_state(new) != _blocked_state(old):
        yield from final_failure_events(run, old, new, error_detail(run))


def _blocked_state(task: Task) -> tuple[Status, Action | None]:
    return task.status, task.recovery_action if task.status is Status.BLOCKED else None


def _resolution_events(run: Run, new: Task) -> Iterator[TypeAndDetail]:
    yield EventType.TASK_RESOLVED, {"run_id": run.id, "mutation": str(run.mutation.status)}
    if new.status is Status.COMPLETED:
        yield EventType.TASK_COMPLETED, {"run_id": run.id, "nominal_at": to_text(run.nominal_at)}
    elif new.status is Status.CANCELLED:
        yield EventType.TASK_CANCELLED, {}


def _verification_events(old: Task, new: Task) -> Iterator[TypeAndDetail]:
    if new.wait_reason is not old.wait_reason and new.run is not None:
        detail = {"run_id": new.run.id, **_reason_to_wait(new)}
        yield EventType.TASK_VERIFICATION_REQUESTED, detail


def _run_end_events(run: Run, old: Task, new: Task) -> Iterator[TypeAndDetail]:
    detail = run_detail(run)
    if old.status is Status.PENDING_VERIFICATION and run.error is None:
        yield EventType.TASK_APPROVED, {"run_id": run.id}
    elif run.status is RunStatus.COMMITTED:
        late = run.ended_or_started_at - old.due_at
        detail["late_ms"] = max(0, int(late.total_seconds() * 1000))
    if run.status is RunStatus.COMMITTED:
        yield (EventType.TASK_DELIVERED if new.is_reminder else EventType.TASK_COMPLETED), detail
    if run.error is None:
        return
    if new.next_retry_at is not None:
        yield from retry_events(run, new, error_detail(run))
    else:
        yield from final_failure_events(run, old, new, error_detail(run))


def _deferral_event(task: Task) -> TypeAndDetail:
    due_at = to_text(task.due_at)
    if task.wait_reason is WaitReason.REQUEUED:
        return EventType.TASK_UNDELIVERED, {"error": task.last_error, "due_at": due_at}
    return EventType.TASK_PARKED, {**_reason_to_wait(task), "until": due_at}


def _reason_to_wait(task: Task) -> dict[str, Any]:
    """Return the wait reason for programs, and its text for people."""
    return {"wait": task.wait_reason, "reason": describe_wait(task.wait)}


def _skip_detail(task: Task, skipped: SkippedOccurrences) -> dict[str, Any]:
    """Return the skip reason for programs, and its text for people."""
    waited_for = task.run.waited_for if task.run else None
    return {
        "count": skipped.count,
        "skip_reason": skipped.reason,
        "reason": describe_skip(skipped.reason, waited_for),
        "next_at": to_text(task.due_at),
    }


def _wait_state(task: Task) -> tuple[datetime, Wait | None]:
    return task.due_at, task.wait


def _edit_events(old: Task, new: Task) -> Iterator[TypeAndDetail]:
    if new.paused != old.paused:
        yield (EventType.TASK_PAUSED if new.paused else EventType.TASK_RESUMED), {}
    elif new.wait is not None and _wait_state(new) != _wait_state(old):
        yield _deferral_event(new)
        return
    changed = [name for name in _EDITABLE_FIELDS if getattr(old, name) != getattr(new, name)]
    if changed:
        was_due_at, is_due_at = first_due_at(old), first_due_at(new)
        moved = {"was_due_at": to_text(was_due_at)} if was_due_at != is_due_at else {}
        detail = {"fields": changed, "due_at": to_text(new.due_at), **moved}
        yield EventType.TASK_CHANGED, detail
