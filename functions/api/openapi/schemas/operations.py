"""Schemas of the overview, budgets, breakers, dead letters and the audit log."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.dispatch.dead_letter import Cause, Queue
from duecourse.domain.limits.circuit_breaker import CircuitState
from duecourse.domain.validation.fields import Schema, object_schema

from .types import (
    ANY_OBJECT,
    BOOLEAN,
    COUNT,
    DAY,
    INSTANT,
    INTEGER,
    NULLABLE_COUNT,
    NULLABLE_INSTANT,
    NULLABLE_NUMBER,
    NULLABLE_TEXT,
    NUMBER,
    TEXT,
    UUID,
    enum,
    list_of,
    ref,
    strict_object,
    with_description,
)

_SKIPPED = list_of(strict_object(id=TEXT, reason=TEXT))
_EXECUTION = strict_object(
    text=with_description(TEXT, "One line for people."),
    run_id=TEXT,
    task_id=UUID,
    at=INSTANT,
    sender=TEXT,
    description=TEXT,
    outcome=TEXT,
    provider=TEXT,
    model=NULLABLE_TEXT,
    duration_ms=NULLABLE_COUNT,
    cost=with_description(NULLABLE_NUMBER, "In dollars."),
)
_API_CHANGE_FIELDS: Mapping[str, Schema] = {
    "text": TEXT,
    "at": INSTANT,
    "token": TEXT,
    "method": TEXT,
    "path": TEXT,
    "status": INTEGER,
}
_API_CHANGE = object_schema(
    {
        **_API_CHANGE_FIELDS,
        "task_id": UUID,
        "detail": with_description(TEXT, "What was changed: names of fields, a limit, how many."),
    },
    required=_API_CHANGE_FIELDS,
)
_CHAT_CHANGE = strict_object(
    text=TEXT,
    at=INSTANT,
    by=with_description(TEXT, "Who said it in the operators' chat, as channel:sender."),
    place=TEXT,
    command=TEXT,
    task_id=TEXT,
)
OPERATIONS: Mapping[str, Schema] = {
    "Now": strict_object(
        now=INSTANT,
        due_soon=with_description(
            list_of(ref("Task")), "Soonest first; none that is paused, and no retry."
        ),
        running=list_of(ref("RunningTask")),
        retries=with_description(list_of(ref("Retry")), "Soonest first."),
        needs_person=with_description(
            list_of(ref("Task")), "Blocked, or done and waiting for a verdict; longest first."
        ),
        breakers=list_of(ref("Breaker")),
        budgets=list_of(ref("Budget")),
    ),
    "Budget": strict_object(
        name=TEXT,
        day=DAY,
        limit=NUMBER,
        spend=NUMBER,
        reserved=NUMBER,
        remaining=NUMBER,
        used_percent=with_description(NUMBER, "What is spent or held, of the limit."),
        calls=COUNT,
        resets_at=INSTANT,
    ),
    "Breaker": strict_object(
        provider=TEXT,
        state=enum(CircuitState),
        failures=COUNT,
        opened_at=NULLABLE_INSTANT,
        until=NULLABLE_INSTANT,
        admits_per_minute=NULLABLE_COUNT,
    ),
    "BreakerEvent": strict_object(type=TEXT, at=INSTANT, detail=ANY_OBJECT),
    "DeadLetter": strict_object(
        id=TEXT,
        queue=enum(Queue),
        body=TEXT,
        sent_at=INSTANT,
        cause=enum(Cause),
        reason=NULLABLE_TEXT,
        task_id=NULLABLE_TEXT,
        was_cut=BOOLEAN,
        can_be_redriven=BOOLEAN,
        body_cut=BOOLEAN,
    ),
    "Redriven": strict_object(redriven=list_of(TEXT), left=_SKIPPED),
    "Dropped": strict_object(dropped=list_of(TEXT), left=_SKIPPED),
    "AuditEntry": {"anyOf": [_EXECUTION, _API_CHANGE, _CHAT_CHANGE]},
}
