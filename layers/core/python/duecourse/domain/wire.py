"""Tasks, runs, subjects and events as the JSON that people and programs outside rely on."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from duecourse.domain.event import Event
from duecourse.domain.instant import from_text, from_text_or_none, to_text, to_text_or_none
from duecourse.domain.run import (
    Call,
    Followed,
    InDoubt,
    Mutation,
    MutationStatus,
    Phase,
    Reason,
    Run,
    RunStatus,
)
from duecourse.domain.run_diagnosis import RunDiagnosis
from duecourse.domain.subject import Subject
from duecourse.domain.task import Task
from duecourse.domain.wait import Wait
from duecourse.domain.wait_text import describe_wait

SMALL_RESULT = 16 * 1024


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
        "created_by": task.created_by,
        "delivered_at": to_text_or_none(task.delivered_at),
        "retry_count": task.retry_count,
        "max_retries": task.max_retries,
        "last_error": task.last_error,
        "last_error_category": task.last_error_category,
        "next_retry_at": to_text_or_none(task.next_retry_at),
        "recovery_action": str(task.recovery_action) if task.recovery_action else None,
        "guidance": list(task.guidance),
        "policy": task.policy,
        "subject": task.subject,
        "payload": dict(task.payload),
        "snooze_of": task.snooze_of,
        "review_of": task.review.of if task.review else None,
        "verify": task.verify,
        **_wait_to_json(task.wait),
        "run_id": task.run.id if task.run else None,
        "version": task.version,
    }


def _wait_to_json(wait: Wait | None) -> dict[str, Any]:
    return {
        "wait": str(wait.reason) if wait else None,
        "wait_until": to_text_or_none(wait.until) if wait else None,
        "wait_detail": dict(wait.detail) if wait else {},
        "wait_text": describe_wait(wait),
    }


def run_to_json(task_id: str, run: Run, *, in_full: bool = True) -> dict[str, Any]:
    """Not in full, large results are left out: a long chain of them would be no answer."""
    stored = run_to_stored(run)
    shown = _as_it_is if in_full else _if_small
    return {
        "id": run.id,
        "task_id": task_id,
        "attempt": run.attempt,
        "retry_of": run.retry_of,
        "reason": str(run.reason),
        "phase": str(run.phase),
        "status": str(run.status),
        "prepare_result": shown(run.prepare_result),
        "mutation": {
            "status": stored.get("mutation"),
            "result": shown(run.mutation.result),
            "key": run.mutation.key,
        },
        "error": run.error,
        "category": run.category,
        "handler_version": run.handler_version,
        "started_at": to_text(run.started_at),
        "ended_at": to_text_or_none(run.ended_at),
        "nominal_at": to_text(run.nominal_at),
        "lease_expires_at": to_text(run.lease_expires_at),
        "call": call_to_json(run.call),
    }


def _as_it_is(result: Any) -> Any:
    return result


def _if_small(result: Any) -> Any:
    size = len(json.dumps(result))
    return result if size <= SMALL_RESULT else {"left_out": f"{size:,} bytes"}


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
        "type": str(event.type),
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
        "diagnosis": run.diagnosis.to_stored() if run.diagnosis else None,
        "ended_at": to_text_or_none(run.ended_at),
        "in_doubt": None if run.in_doubt is InDoubt.REPEAT else str(run.in_doubt),
        "emits": run.emits or None,
        "is_early": run.is_early or None,
        "call": call_to_json(run.call),
        "verify_by": to_text_or_none(run.verify_by),
        "asked_verifier": run.asked_verifier or None,
        "is_verified": run.is_verified or None,
        "follows": _followed_to_stored(run.follows),
        "waited_for": run.waited_for.to_json() if run.waited_for else None,
        "late_since": to_text_or_none(run.late_since),
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
        diagnosis=_diagnosis_from_stored(stored.get("diagnosis")),
        ended_at=from_text_or_none(stored.get("ended_at")),
        in_doubt=InDoubt(stored.get("in_doubt", InDoubt.REPEAT)),
        emits=stored.get("emits", False),
        is_early=stored.get("is_early", False),
        call=Call(**stored["call"]) if stored.get("call") else None,
        verify_by=from_text_or_none(stored.get("verify_by")),
        asked_verifier=stored.get("asked_verifier", 0),
        is_verified=stored.get("is_verified", False),
        follows=_followed_from_stored(stored.get("follows")),
        waited_for=Wait.from_json(stored["waited_for"]) if stored.get("waited_for") else None,
        late_since=from_text_or_none(stored.get("late_since")),
    )


def _diagnosis_from_stored(stored: Any) -> RunDiagnosis | None:
    return RunDiagnosis.from_stored(stored) if stored is not None else None


def _followed_to_stored(follows: Followed | None) -> list[Any] | None:
    """Without names: it is kept with every retry."""
    return [follows.category, follows.fingerprint, follows.waited] if follows else None


def _followed_from_stored(stored: list[Any] | None) -> Followed | None:
    if not stored:
        return None
    category, fingerprint, waited = stored
    return Followed(category=category, fingerprint=fingerprint, waited=waited)


def call_to_json(call: Call | None) -> dict[str, Any] | None:
    return None if call is None else {n: v for n, v in asdict(call).items() if v is not None}
