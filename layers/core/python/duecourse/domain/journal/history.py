"""Derive the events of a task from two committed versions of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from duecourse.domain.lifecycle.awaited_task import awaited_task_id
from duecourse.domain.lifecycle.blocked import blocked_timeout_reason, is_escalation
from duecourse.domain.lifecycle.spec_review import is_reviewed
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED, RunDiagnosis
from duecourse.domain.tasks.skipped import SkippedOccurrences, describe_skip
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.tasks.wait_text import describe_wait
from duecourse.domain.time.instant import to_text

_TypeAndDetail = tuple[EventType, dict[str, Any]]
_BLOCKED_EVENT_BY_ACTION: dict[Action | None, EventType] = {
    Action.RETRY_WITH_SPEC_REFRESH: EventType.TASK_SPEC_REFRESH_REQUESTED,
    Action.ESCALATE_TO_HUMAN: EventType.TASK_ESCALATED,
}
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
        return [
            Event(kind, new.id, new.created_at, detail) for kind, detail in _creation_events(new)
        ]
    moment = _event_time(old, new, at)
    return [Event(kind, new.id, moment, detail) for kind, detail in _change_events(old, new)]


def _event_time(old: Task, new: Task, at: datetime) -> datetime:
    run = ended_run(old, new)
    if run is not None and run.ended_at is not None and not _is_amendment(run, old):
        return run.ended_at
    # The stream rounds `at` down, so it could precede the run that led to this write.
    known = [new.created_at, *([new.run.ended_at or new.run.started_at] if new.run else [])]
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


def _creation_events(task: Task) -> Iterator[_TypeAndDetail]:
    by = {"by": task.created_by} if task.created_by else {}
    yield EventType.TASK_CREATED, {"due_at": to_text(task.due_at), "type": task.type, **by}


def _change_events(old: Task, new: Task) -> Iterator[_TypeAndDetail]:
    run = ended_run(old, new)
    if run is not None and _is_amendment(run, old):
        yield from _amendment_events(run, old, new)
    elif new.status is Status.CANCELLED:
        yield EventType.TASK_CANCELLED, {}
    elif run is not None:
        yield from _run_end_events(run, old, new)
    else:
        yield from _transition_events(old, new)
    if new.skipped is not None:
        yield EventType.TASK_SKIPPED, _skip_detail(new, new.skipped)


def _transition_events(old: Task, new: Task) -> Iterator[_TypeAndDetail]:
    """Return the events of a change that ended no run."""
    if new.status is Status.PENDING_VERIFICATION:
        yield from _verification_events(old, new)
    elif old.status is Status.PENDING and new.status is Status.PENDING:
        yield from _edit_events(old, new)
    elif (why := blocked_timeout_reason(old, new)) is not None:
        yield EventType.TASK_FAILED, {**_last_error_detail(new), "reason": why}
    elif is_escalation(old, new):
        yield from _recovery_events(new)
        detail = {**_last_error_detail(new), **_review_detail(old), "reason": _failure_reason(new)}
        yield EventType.TASK_ESCALATED, detail
    else:
        yield from _unblocked_events(old, new)


def _unblocked_events(old: Task, new: Task) -> Iterator[_TypeAndDetail]:
    if new.status is Status.PENDING and old.status is not Status.PENDING:
        review = _review_detail(old) if is_reviewed(new) else {}
        detail = {"from": str(old.status), "due_at": to_text(new.due_at), **review}
        yield EventType.TASK_UNBLOCKED, detail


def _is_amendment(run: Run, old: Task) -> bool:
    """Return True if a person corrected a run that had already ended."""
    return old.run is not None and old.run.id == run.id and old.run.ended_at is not None


def _amendment_events(run: Run, old: Task, new: Task) -> Iterator[_TypeAndDetail]:
    is_reclassified = old.run is not None and old.run.diagnosis != run.diagnosis
    yield from (
        _reclassification_events(run, old, new) if is_reclassified else _resolution_events(run, new)
    )


def _reclassification_events(run: Run, old: Task, new: Task) -> Iterator[_TypeAndDetail]:
    """Return the reclassification event and the events that follow from the new decision."""
    detail = {"run_id": run.id, "from": old.last_error_category, "category": run.category}
    yield EventType.TASK_RECLASSIFIED, {**detail, "action": _action_of(new)}
    yield from _unblocked_events(old, new)
    if new.next_retry_at is not None:
        yield from _retry_events(run, new, _error_detail(run))
    elif new.status is Status.PENDING or _blocked_state(new) != _blocked_state(old):
        yield from _final_failure_events(run, old, new, _error_detail(run))


def _action_of(task: Task) -> str | None:
    return str(task.recovery_action) if task.recovery_action else None


def _blocked_state(task: Task) -> tuple[Status, Action | None]:
    return task.status, task.recovery_action if task.status is Status.BLOCKED else None


def _resolution_events(run: Run, new: Task) -> Iterator[_TypeAndDetail]:
    yield EventType.TASK_RESOLVED, {"run_id": run.id, "mutation": str(run.mutation.status)}
    if new.status is Status.COMPLETED:
        yield EventType.TASK_COMPLETED, {"run_id": run.id, "nominal_at": to_text(run.nominal_at)}
    elif new.status is Status.CANCELLED:
        yield EventType.TASK_CANCELLED, {}


def _verification_events(old: Task, new: Task) -> Iterator[_TypeAndDetail]:
    if new.wait_reason is not old.wait_reason and new.run is not None:
        detail = {"run_id": new.run.id, **_reason_to_wait(new)}
        yield EventType.TASK_VERIFICATION_REQUESTED, detail


def _run_end_events(run: Run, old: Task, new: Task) -> Iterator[_TypeAndDetail]:
    detail = _run_detail(run)
    if old.status is Status.PENDING_VERIFICATION and run.error is None:
        yield EventType.TASK_APPROVED, {"run_id": run.id}
    elif run.status is RunStatus.COMMITTED:
        late = (run.ended_at or run.started_at) - old.due_at
        detail["late_ms"] = max(0, int(late.total_seconds() * 1000))
    if run.status is RunStatus.COMMITTED:
        yield (EventType.TASK_DELIVERED if new.is_reminder else EventType.TASK_COMPLETED), detail
    if run.error is None:
        return
    if new.next_retry_at is not None:
        yield from _retry_events(run, new, _error_detail(run))
    else:
        yield from _final_failure_events(run, old, new, _error_detail(run))


def _run_detail(run: Run) -> dict[str, Any]:
    return {"run_id": run.id, "nominal_at": to_text(run.nominal_at)}


def _error_detail(run: Run) -> dict[str, Any]:
    error = {"error": run.error, "category": run.category, "run_status": str(run.status)}
    return {**_run_detail(run), **error, **_learned_of(run.diagnosis or NOT_DIAGNOSED)}


def _learned_of(diagnosis: RunDiagnosis) -> dict[str, Any]:
    learned = {"learned": True} if diagnosis.learned else {}
    return {**learned, **({"adapted": diagnosis.adapted.to_json()} if diagnosis.adapted else {})}


def _retry_events(run: Run, new: Task, detail: dict[str, Any]) -> Iterator[_TypeAndDetail]:
    if run.status is RunStatus.PAUSED_BUDGET:
        yield EventType.BUDGET_EXCEEDED, {"run_id": run.id, "budget": new.payload.get("budget")}
    next_retry_at = to_text(new.next_retry_at) if new.next_retry_at else None
    retry = {"next_retry_at": next_retry_at, "attempt": run.attempt + 1}
    yield EventType.TASK_RETRY_SCHEDULED, {**detail, **retry}
    yield from _recovery_events(new)


def _final_failure_events(
    run: Run, old: Task, new: Task, detail: dict[str, Any]
) -> Iterator[_TypeAndDetail]:
    if run.is_unsafe_to_repeat:
        yield EventType.TASK_INDETERMINATE, {**detail, "key": run.mutation.idempotency_key}
    if new.status is Status.BLOCKED:
        yield from _recovery_events(new)
        if new.recovery_action is Action.ASK_PERSON:
            return
        if new.recovery_action is Action.MARK_AS_BLOCKED:
            yield from _exhausted_events(run, new, detail)
        kind = _BLOCKED_EVENT_BY_ACTION.get(new.recovery_action, EventType.TASK_PERMANENTLY_BLOCKED)
        yield kind, {**detail, **_review_detail(new), "reason": _failure_reason(new)}
        return
    yield from _exhausted_events(run, new, detail)
    yield EventType.TASK_FAILED, detail
    if new.paused and not old.paused:
        detail = {"reason": f"{new.failed_occurrences} occurrences failed in a row"}
        yield EventType.TASK_PAUSED, detail


def _exhausted_events(run: Run, new: Task, detail: dict[str, Any]) -> Iterator[_TypeAndDetail]:
    if run.attempt > 1:
        exhausted = {**detail, "attempt": run.attempt, "reason": _failure_reason(new)}
        yield EventType.TASK_RETRY_EXHAUSTED, exhausted


def _failure_reason(task: Task) -> str | None:
    """Return the last guidance line, or the last error if there is none or a fix is awaited."""
    is_said = bool(task.guidance) and task.recovery_action is not Action.AWAIT_FIX
    return task.guidance[-1] if is_said else task.last_error


def _review_detail(task: Task) -> dict[str, Any]:
    review_id = awaited_task_id(task)
    return {"review_task_id": review_id} if review_id else {}


def _last_error_detail(task: Task) -> dict[str, Any]:
    return _error_detail(task.run) if task.run else {"error": task.last_error}


def _recovery_events(task: Task) -> Iterator[_TypeAndDetail]:
    """Return the event for the recovery action, if the task has guidance."""
    if task.guidance:
        detail = {"action": _action_of(task), "guidance": task.guidance[-1]}
        run = {"run_id": task.run.id} if task.run else {}
        yield EventType.TASK_RECOVERY_ACTION, {**run, **detail}


def _deferral_event(task: Task) -> _TypeAndDetail:
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


def _edit_events(old: Task, new: Task) -> Iterator[_TypeAndDetail]:
    if new.paused != old.paused:
        yield (EventType.TASK_PAUSED if new.paused else EventType.TASK_RESUMED), {}
    elif new.wait is not None and _wait_state(new) != _wait_state(old):
        yield _deferral_event(new)
        return
    changed = [name for name in _EDITABLE_FIELDS if getattr(old, name) != getattr(new, name)]
    if changed:
        yield EventType.TASK_CHANGED, {"fields": changed, "due_at": to_text(new.due_at)}
