"""The events of a failed run, and the details that other events of a failure share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from duecourse.domain.lifecycle.awaited_task import awaited_task_id
from duecourse.domain.tasks.advice import visible_guidance
from duecourse.domain.tasks.event import EventType
from duecourse.domain.tasks.failure_kind import kind_to_json
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED, RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.quotation import unquote
from duecourse.domain.time.instant import to_text

TypeAndDetail = tuple[EventType, dict[str, Any]]
_BLOCKED_EVENT_BY_ACTION: dict[Action | None, EventType] = {
    Action.RETRY_WITH_SPEC_REFRESH: EventType.TASK_SPEC_REFRESH_REQUESTED,
    Action.ESCALATE_TO_HUMAN: EventType.TASK_ESCALATED,
}


def retry_events(run: Run, new: Task, detail: dict[str, Any]) -> Iterator[TypeAndDetail]:
    """Return the events of a failure that is retried."""
    if run.status is RunStatus.PAUSED_BUDGET:
        yield EventType.BUDGET_EXCEEDED, {"run_id": run.id, "budget": new.payload.get("budget")}
    next_retry_at = to_text(new.next_retry_at) if new.next_retry_at else None
    retry = {"next_retry_at": next_retry_at, "attempt": run.attempt + 1}
    yield EventType.TASK_RETRY_SCHEDULED, {**detail, **retry}
    yield from recovery_events(new)


def final_failure_events(
    run: Run, old: Task, new: Task, detail: dict[str, Any]
) -> Iterator[TypeAndDetail]:
    """Return the events of a failure after which the task is blocked or has failed."""
    if run.is_unsafe_to_repeat:
        yield EventType.TASK_INDETERMINATE, {**detail, "key": run.mutation.idempotency_key}
    if new.status is Status.BLOCKED:
        yield from recovery_events(new)
        if new.recovery_action is Action.ASK_PERSON:
            return
        if new.recovery_action is Action.MARK_AS_BLOCKED:
            yield from _exhausted_events(run, new, detail)
        kind = _BLOCKED_EVENT_BY_ACTION.get(new.recovery_action, EventType.TASK_PERMANENTLY_BLOCKED)
        yield kind, {**detail, **review_detail(new), "reason": failure_reason(new)}
        return
    yield from _exhausted_events(run, new, detail)
    yield EventType.TASK_FAILED, detail
    if new.paused and not old.paused:
        detail = {"reason": f"{new.failed_occurrences} occurrences failed in a row"}
        yield EventType.TASK_PAUSED, detail


def _exhausted_events(run: Run, new: Task, detail: dict[str, Any]) -> Iterator[TypeAndDetail]:
    if run.attempt > 1:
        exhausted = {**detail, "attempt": run.attempt, "reason": failure_reason(new)}
        yield EventType.TASK_RETRY_EXHAUSTED, exhausted


def recovery_events(task: Task) -> Iterator[TypeAndDetail]:
    """Return the event for the recovery action, if the task has guidance."""
    if task.guidance:
        detail = {"action": action_of(task), "guidance": unquote(visible_guidance(task)[-1])}
        run = {"run_id": task.run.id} if task.run else {}
        yield EventType.TASK_RECOVERY_ACTION, {**run, **detail}


def error_detail(run: Run) -> dict[str, Any]:
    note = run.diagnosis or NOT_DIAGNOSED
    error = {"error": run.error, "category": run.category, "run_status": str(run.status)}
    return {**run_detail(run), **error, **kind_to_json(note.kind), **_learned_of(note)}


def last_error_detail(task: Task) -> dict[str, Any]:
    return error_detail(task.run) if task.run else {"error": task.last_error}


def run_detail(run: Run) -> dict[str, Any]:
    return {"run_id": run.id, "nominal_at": to_text(run.nominal_at)}


def _learned_of(diagnosis: RunDiagnosis) -> dict[str, Any]:
    learned = {"learned": True} if diagnosis.learned else {}
    return {**learned, **({"adapted": diagnosis.adapted.to_json()} if diagnosis.adapted else {})}


def review_detail(task: Task) -> dict[str, Any]:
    review_id = awaited_task_id(task)
    return {"review_task_id": review_id} if review_id else {}


def failure_reason(task: Task) -> str | None:
    """Return the last guidance line, or the last error if there is none or a fix is awaited."""
    has_guidance = bool(task.guidance) and task.recovery_action is not Action.AWAIT_FIX
    return unquote(visible_guidance(task)[-1]) if has_guidance else task.last_error


def action_of(task: Task) -> str | None:
    return str(task.recovery_action) if task.recovery_action else None
