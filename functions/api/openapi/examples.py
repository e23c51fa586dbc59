"""Example responses by the name of their schema.

The example of a task is built by the API's own code, so a new field appears in it at once.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from duecourse.domain.requests.capabilities import Capabilities
from duecourse.domain.requests.new_task import build_task, parse_new_task
from duecourse.domain.tasks.event import EventType
from duecourse.domain.tasks.task import DEFAULT_MAX_RETRIES, REMINDER
from duecourse.domain.time.instant import from_text
from duecourse.version import __version__

from ..http.task_response import show_task
from .task_examples import CREATE_EXAMPLES

_TASK_ID = "7f1c2d34-5b6a-4c8d-9e0f-a1b2c3d4e5f6"
_RUN_ID = "0818834b-8725-4950-9444-67f27a334526"
_FINGERPRINT = "3f0c9a1d5e7b2468"
_RATE_LIMIT_MESSAGE = "Rate limit exceeded, please slow down"
_SUGGESTED_FIX = "Retry without changes: the service or the network was unavailable."


def _example_task() -> dict[str, Any]:
    """Return the response to the first example of a new task."""
    capabilities = Capabilities(
        types=frozenset({REMINDER}),
        channels=frozenset({"console"}),
        policies={"omega": DEFAULT_MAX_RETRIES},
    )
    request = next(iter(CREATE_EXAMPLES.values()))
    now = from_text("2026-02-17T12:00:00Z")
    new_task = parse_new_task(request, capabilities=capabilities, now=now)
    task = build_task(new_task, task_id=_TASK_ID, capabilities=capabilities, now=now)
    return show_task(replace(task, created_by="local"), blocked_for=timedelta(0))


EXAMPLES: dict[str, dict[str, Any]] = {
    "Task": _example_task(),
    "Run": {
        "id": _RUN_ID,
        "task_id": _TASK_ID,
        "attempt": 1,
        "retry_of": None,
        "reason": "first",
        "phase": "mutating",
        "status": "paused:transient",
        "prepare_result": None,
        "mutation": {"status": "failed", "result": None, "key": _RUN_ID},
        "error": _RATE_LIMIT_MESSAGE,
        "category": "transient",
        "kind": "rate_limit",
        "clears_by": "waiting",
        "likely": None,
        "handler_version": "0.1.0+b784d1fffdae",
        "started_at": "2026-02-17T12:00:01.000Z",
        "ended_at": "2026-02-17T12:00:03.125Z",
        "nominal_at": "2026-02-17T12:00:01.000Z",
        "lease_expires_at": "2026-02-17T12:01:31.000Z",
        "call": {"provider": "anthropic", "milliseconds": 2118},
    },
    "Event": {
        "type": str(EventType.TASK_STARTED),
        "task_id": _TASK_ID,
        "at": "2026-02-17T12:00:01.000Z",
        "detail": {"run_id": _RUN_ID, "attempt": 1, "reason": "first"},
    },
    "Error": {
        "id": _RUN_ID,
        "task_id": _TASK_ID,
        "subject": "octo/garden",
        "at": "2026-02-17T12:00:03.125Z",
        "category": "transient",
        "kind": "rate_limit",
        "clears_by": "waiting",
        "likely": None,
        "message": _RATE_LIMIT_MESSAGE,
        "confidence": 0.95,
        "pattern": "rate-limit-words",
        "location": None,
        "suggested_fix": _SUGGESTED_FIX,
        "type": None,
        "code": None,
        "status": 429,
        "phase": "mutating",
        "attempt": 1,
        "retry_count": 1,
        "counted": True,
        "action": "retry_with_guidance",
        "next_retry_at": "2026-02-17T12:00:34.460Z",
        "policy": "agent",
        "provider": "anthropic",
        "fingerprint": _FINGERPRINT,
        "learned": None,
        "read_as": None,
        "adapted": None,
    },
    "Pattern": {
        "policy": "agent",
        "fingerprint": _FINGERPRINT,
        "category": "resource_exhaustion",
        "kind": "capacity",
        "clears_by": "waiting",
        "read_as": "transient",
        "example": _RATE_LIMIT_MESSAGE,
        "count": 41,
        "tried": 37,
        "worked": 35,
        "success_percent": 94.6,
        "last_seen": "2026-02-17T12:00:03.125Z",
        "said_by_person": True,
        "said_by": "local",
        "said_at": "2026-02-16T09:30:00.000Z",
    },
    "Delays": {
        "adapting": True,
        "items": [
            {
                "policy": "agent",
                "category": "transient",
                "delay_seconds": 30,
                "tried": 37,
                "worked": 35,
                "success_percent": 94.6,
            }
        ],
    },
    "Retry": {
        "id": _TASK_ID,
        "short_id": _TASK_ID[:8],
        "description": "summarise the news",
        "next_retry_at": "2026-02-17T12:00:34.460Z",
        "category": "transient",
        "kind": "rate_limit",
        "clears_by": "waiting",
        "attempt": 2,
        "retry_count": 1,
        "policy": "agent",
        "subject": "octo/garden",
        "last_error": _RATE_LIMIT_MESSAGE,
    },
    "Subject": {
        "id": "octo/garden",
        "failure_count": 1,
        "status": "pending",
        "last_error_category": "transient",
        "last_error_kind": "rate_limit",
        "last_error_clears_by": "waiting",
        "last_error_message": _RATE_LIMIT_MESSAGE,
        "last_attempt_at": "2026-02-17T12:00:03.125Z",
        "cooldown_until": None,
    },
    "Explained": {
        "policy": "agent",
        "category": "transient",
        "kind": "rate_limit",
        "clears_by": "waiting",
        "likely": None,
        "confidence": 0.99,
        "pattern": "rate-limit-words",
        "location": None,
        "suggested_fix": _SUGGESTED_FIX,
        "counts": True,
        "action": "retry_with_guidance",
        "status": "pending",
        "delay_seconds": 30,
        "retry_count": 1,
        "max_retries": 5,
        "guidance": _SUGGESTED_FIX,
    },
    "Budget": {
        "name": "default",
        "day": "2026-02-17",
        "limit": 5.25,
        "spend": 0.0,
        "reserved": 0.0,
        "remaining": 5.25,
        "used_percent": 0.0,
        "calls": 0,
        "resets_at": "2026-02-18T00:00:00.000Z",
    },
    "Breaker": {
        "provider": "anthropic",
        "state": "open",
        "key_refused": False,
        "failures": 10,
        "opened_at": "2026-02-17T12:00:03.125Z",
        "until": "2026-02-17T12:01:03.125Z",
        "admits_per_minute": 0,
    },
    "BreakerEvent": {
        "type": str(EventType.BREAKER_OPENED),
        "at": "2026-02-17T12:00:03.125Z",
        "detail": {"provider": "anthropic"},
    },
    "DeadLetter": {
        "id": "4c1f2a9e-77a0-4b4c-9d53-0a6c1d1f8f10",
        "queue": "failures",
        "body": '{"task_id": "00000000-0000-4000-8000-000000000000"}',
        "sent_at": "2026-02-17T12:00:03.125Z",
        "cause": "unknown",
        "reason": "there is no task 00000000-0000-4000-8000-000000000000",
        "task_id": "00000000-0000-4000-8000-000000000000",
        "was_cut": False,
        "can_be_redriven": True,
        "body_cut": False,
    },
    "AuditEntry": {
        "text": f"[API] token=local POST /tasks/{_TASK_ID[:8]}/cancel 200 task={_TASK_ID}",
        "at": "2026-02-17T12:00:03.125Z",
        "token": "local",
        "method": "POST",
        "path": f"/tasks/{_TASK_ID[:8]}/cancel",
        "status": 200,
        "task_id": _TASK_ID,
    },
    "Health": {"status": "ok", "version": __version__},
    "Problem": {
        "type": "about:blank",
        "title": "Unprocessable Entity",
        "status": 422,
        "detail": "colour: unknown field",
        "errors": [{"field": "colour", "message": "unknown field"}],
    },
}
EXAMPLES["RunningTask"] = {
    **EXAMPLES["Task"],
    "status": "in_progress",
    "run_id": _RUN_ID,
    "version": 2,
    "started_at": "2026-02-17T14:30:00.120Z",
}
