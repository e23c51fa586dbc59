"""Tasks, runs, subjects and events as the JSON that people and programs outside rely on."""

from __future__ import annotations

from typing import Any

from duecourse.domain.history import Event
from duecourse.domain.instant import from_text, from_text_or_none, to_text, to_text_or_none
from duecourse.domain.run import Mutation, MutationStatus, Phase, Reason, Run, RunStatus
from duecourse.domain.subject import Subject
from duecourse.domain.task import Task


def task_to_json(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "short_id": task.short_id,
        "type": task.type,
        "channel": task.channel,
        "sender_id": task.sender_id,
        "reply_target": task.reply_target,
        "description": task.description,
        "due_at": to_text(task.due_at),
        "nominal_at": to_text(task.nominal_at),
        "timezone": task.timezone,
        "repeat": task.repeat,
        "status": str(task.status),
        "paused": task.paused,
        "created_at": to_text(task.created_at),
        "delivered_at": to_text_or_none(task.delivered_at),
        "retry_count": task.retry_count,
        "max_retries": task.max_retries,
        "last_error": task.last_error,
        "last_error_category": task.last_error_category,
        "next_retry_at": to_text_or_none(task.next_retry_at),
        "recovery_action": task.recovery_action,
        "guidance": list(task.guidance),
        "policy": task.policy,
        "subject": task.subject,
        "payload": dict(task.payload),
        "verify": task.verify,
        "waits_for": task.waits_for,
        "run_id": task.run.id if task.run else None,
        "version": task.version,
    }


def run_to_json(task_id: str, run: Run) -> dict[str, Any]:
    stored = run_to_stored(run)
    return {
        "id": run.id,
        "task_id": task_id,
        "attempt": run.attempt,
        "retry_of": run.retry_of,
        "reason": str(run.reason),
        "phase": str(run.phase),
        "status": str(run.status),
        "prepare_result": run.prepare_result,
        "mutation": {
            "status": stored.get("mutation"),
            "result": run.mutation.result,
            "key": run.mutation.key,
        },
        "error": run.error,
        "category": run.category,
        "handler_version": run.handler_version,
        "started_at": to_text(run.started_at),
        "ended_at": to_text_or_none(run.ended_at),
        "nominal_at": to_text(run.nominal_at),
        "lease_expires_at": to_text(run.lease_expires_at),
    }


def subject_to_json(subject: Subject) -> dict[str, Any]:
    return {
        "id": subject.id,
        "failure_count": subject.failure_count,
        "status": str(subject.status) if subject.status else None,
        "last_error_category": subject.last_error_category,
        "last_error_message": subject.last_error_message,
        "last_attempt_at": to_text_or_none(subject.last_attempt_at),
        "cooldown_until": to_text_or_none(subject.cooldown_until),
    }


def event_to_json(event: Event) -> dict[str, Any]:
    return {
        "type": event.type,
        "task_id": event.task_id,
        "at": to_text(event.at),
        "detail": event.detail,
    }


def run_to_stored(run: Run) -> dict[str, Any]:
    """As kept beside the task: nothing that is null, nothing twice. A kilobyte is a write unit."""
    stored = {
        "id": run.id,
        "attempt": run.attempt,
        "reason": str(run.reason),
        "phase": str(run.phase),
        "status": str(run.status),
        "nominal_at": to_text(run.nominal_at),
        "started_at": to_text(run.started_at),
        "lease_expires_at": to_text(run.lease_expires_at),
        "handler_version": run.handler_version,
        "key": None if run.mutation.key == run.id else run.mutation.key,
        "mutation": str(run.mutation.status) if run.mutation.status else None,
        "result": run.mutation.result,
        "retry_of": run.retry_of,
        "prepare_result": run.prepare_result,
        "error": run.error,
        "category": run.category,
        "diagnosis": dict(run.diagnosis) if run.diagnosis else None,
        "ended_at": to_text_or_none(run.ended_at),
    }
    return {name: value for name, value in stored.items() if value is not None}


def run_from_stored(stored: dict[str, Any]) -> Run:
    mutation = stored.get("mutation")
    return Run(
        id=stored["id"],
        attempt=stored["attempt"],
        reason=Reason(stored["reason"]),
        phase=Phase(stored["phase"]),
        status=RunStatus(stored["status"]),
        nominal_at=from_text(stored["nominal_at"]),
        started_at=from_text(stored["started_at"]),
        lease_expires_at=from_text(stored["lease_expires_at"]),
        handler_version=stored["handler_version"],
        mutation=Mutation(
            key=stored.get("key", stored["id"]),
            status=MutationStatus(mutation) if mutation else None,
            result=stored.get("result"),
        ),
        retry_of=stored.get("retry_of"),
        prepare_result=stored.get("prepare_result"),
        error=stored.get("error"),
        category=stored.get("category"),
        diagnosis=stored.get("diagnosis"),
        ended_at=from_text_or_none(stored.get("ended_at")),
    )
