"""The shapes of what operators look after."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.dispatch.dead_letter import Cause, Queue
from duecourse.domain.limits.circuit_breaker import State
from duecourse.domain.validation.fields import Schema, object_schema

from .types import (
    ANY_OBJECT,
    COUNT,
    DAY,
    INSTANT,
    MAYBE_COUNT,
    MAYBE_INSTANT,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    NUMBER,
    TEXT,
    UUID,
    WHOLE,
    YES_OR_NO,
    about,
    closed,
    enum,
    list_of,
    one,
)

_LEFT = list_of(closed(id=TEXT, reason=TEXT))
_CARRIED_OUT = closed(
    text=about(TEXT, "One line for people."),
    run_id=TEXT,
    task_id=UUID,
    at=INSTANT,
    sender=TEXT,
    description=TEXT,
    outcome=TEXT,
    provider=TEXT,
    model=MAYBE_TEXT,
    duration_ms=MAYBE_COUNT,
    cost=about(MAYBE_NUMBER, "In dollars."),
)
_ALWAYS_OF_A_CHANGE: Mapping[str, Schema] = {
    "text": TEXT,
    "at": INSTANT,
    "token": TEXT,
    "method": TEXT,
    "path": TEXT,
    "status": WHOLE,
}
_CHANGED = object_schema(
    {
        **_ALWAYS_OF_A_CHANGE,
        "task_id": UUID,
        "detail": about(TEXT, "What was changed: names of fields, a limit, how many."),
    },
    required=_ALWAYS_OF_A_CHANGE,
)
_CHANGED_IN_CHAT = closed(
    text=TEXT,
    at=INSTANT,
    by=about(TEXT, "Who said it in the operators' chat, as channel:sender."),
    place=TEXT,
    command=TEXT,
    task_id=TEXT,
)
OPERATIONS: Mapping[str, Schema] = {
    "Now": closed(
        now=INSTANT,
        due_soon=about(list_of(one("Task")), "Soonest first; none that is paused, and no retry."),
        running=list_of(one("RunningTask")),
        retries=about(list_of(one("Retry")), "Soonest first."),
        needs_person=about(
            list_of(one("Task")), "Blocked, or done and waiting for a verdict; longest first."
        ),
        breakers=list_of(one("Breaker")),
        budgets=list_of(one("Budget")),
    ),
    "Budget": closed(
        name=TEXT,
        day=DAY,
        limit=NUMBER,
        spend=NUMBER,
        reserved=NUMBER,
        remaining=NUMBER,
        used_percent=about(NUMBER, "What is spent or held, of the limit."),
        calls=COUNT,
        resets_at=INSTANT,
    ),
    "Breaker": closed(
        provider=TEXT,
        state=enum(State),
        failures=COUNT,
        opened_at=MAYBE_INSTANT,
        until=MAYBE_INSTANT,
        admits_per_minute=MAYBE_COUNT,
    ),
    "BreakerEvent": closed(type=TEXT, at=INSTANT, detail=ANY_OBJECT),
    "DeadLetter": closed(
        id=TEXT,
        queue=enum(Queue),
        body=TEXT,
        sent_at=INSTANT,
        cause=enum(Cause),
        reason=MAYBE_TEXT,
        task_id=MAYBE_TEXT,
        was_cut=YES_OR_NO,
        can_be_redriven=YES_OR_NO,
        body_cut=YES_OR_NO,
    ),
    "Redriven": closed(redriven=list_of(TEXT), left=_LEFT),
    "Dropped": closed(dropped=list_of(TEXT), left=_LEFT),
    "AuditEntry": {"anyOf": [_CARRIED_OUT, _CHANGED, _CHANGED_IN_CHAT]},
}
