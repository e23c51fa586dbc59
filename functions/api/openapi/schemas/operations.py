"""Schemas of the overview, budgets, breakers, dead letters and the audit log."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.access.scope import Scope
from duecourse.domain.dispatch.dead_letter import Cause, Queue
from duecourse.domain.limits.circuit_breaker import CircuitState
from duecourse.domain.validation.fields import Schema, object_schema

from .types import (
    ANY_OBJECT,
    BOOLEAN,
    CLEARS_BY,
    COUNT,
    DAY,
    INSTANT,
    INTEGER,
    KIND,
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

_SKIPPED = with_description(
    list_of(strict_object(id=TEXT, reason=TEXT)), "The ones that stay, each with the reason."
)
_EXECUTION = strict_object(
    text=with_description(TEXT, "One line for people."),
    run_id=TEXT,
    task_id=UUID,
    at=INSTANT,
    sender=with_description(TEXT, "The task's owner, as channel:sender."),
    description=TEXT,
    outcome=with_description(TEXT, "`success`, `cancelled`, or the category of the failure."),
    kind=KIND,
    clears_by=CLEARS_BY,
    provider=TEXT,
    model=NULLABLE_TEXT,
    duration_ms=NULLABLE_COUNT,
    cost=with_description(NULLABLE_NUMBER, "In dollars."),
)
_API_CHANGE_FIELDS: Mapping[str, Schema] = {
    "text": with_description(TEXT, "One line for people."),
    "at": INSTANT,
    "token": with_description(TEXT, "The name of the token."),
    "method": TEXT,
    "path": TEXT,
    "status": INTEGER,
}
_API_CHANGE = object_schema(
    {
        **_API_CHANGE_FIELDS,
        "task_id": UUID,
        "detail": with_description(TEXT, "What changed: names of fields, a limit, or counts."),
    },
    required=_API_CHANGE_FIELDS,
)
_CHAT_CHANGE = strict_object(
    text=with_description(TEXT, "One line for people."),
    at=INSTANT,
    by=with_description(TEXT, "Who sent the command, as channel:sender."),
    place=with_description(TEXT, "The operators' chat."),
    command=TEXT,
    task_id=TEXT,
)
OPERATIONS: Mapping[str, Schema] = {
    "Now": strict_object(
        now=with_description(INSTANT, "The server's time."),
        due_soon=with_description(
            list_of(ref("Task")),
            "Tasks that wait for their time, soonest first, without paused tasks and retries.",
        ),
        running=list_of(ref("RunningTask")),
        retries=with_description(list_of(ref("Retry")), "Pending retries, soonest first."),
        needs_person=with_description(
            list_of(ref("Task")),
            "Tasks that are blocked or wait for verification by a person, longest waiting first.",
        ),
        breakers=list_of(ref("Breaker")),
        budgets=list_of(ref("Budget")),
    ),
    "DeletedTask": strict_object(id=TEXT, deleted=BOOLEAN),
    "ForgottenSender": strict_object(
        deleted_tasks=with_description(COUNT, "Tasks that this request deleted."),
        deleted_settings=with_description(
            BOOLEAN, "Whether this request deleted settings, which it does after the last task."
        ),
        deleted_dead_letters=with_description(
            COUNT, "Dead letters of the sender and of the tasks that this request deleted."
        ),
        complete=with_description(
            BOOLEAN, "False if there are more tasks or dead letters: request it again."
        ),
    ),
    "CurrentToken": strict_object(
        name=with_description(TEXT, "The token's name, as in the audit log."),
        scope=with_description(enum(Scope), "Each scope includes those before it."),
    ),
    "Budget": strict_object(
        name=TEXT,
        day=with_description(DAY, "The UTC day of these figures."),
        limit=with_description(NUMBER, "Dollars per day."),
        spend=with_description(NUMBER, "Dollars spent on this day."),
        reserved=with_description(NUMBER, "Dollars reserved for calls that have not ended."),
        remaining=with_description(NUMBER, "Dollars neither spent nor reserved."),
        used_percent=with_description(NUMBER, "The share of the limit that is spent or reserved."),
        calls=with_description(COUNT, "Calls to providers on this day."),
        resets_at=with_description(INSTANT, "The end of this UTC day."),
    ),
    "Breaker": strict_object(
        provider=TEXT,
        state=with_description(
            enum(CircuitState),
            "`closed`: calls are allowed. `open`: tasks are deferred. `half_open`: one task probes "
            "the provider. `returning`: the number of calls per minute grows.",
        ),
        key_refused=with_description(
            BOOLEAN, "Whether the provider refused its key, and has accepted no call since."
        ),
        failures=with_description(COUNT, "Consecutive while closed, else total of the outage."),
        opened_at=with_description(NULLABLE_INSTANT, "When the outage began."),
        until=with_description(NULLABLE_INSTANT, "When this state ends, if nothing happens."),
        admits_per_minute=with_description(
            NULLABLE_COUNT, "How many runs may start per minute; null for no limit."
        ),
    ),
    "BreakerEvent": strict_object(type=TEXT, at=INSTANT, detail=ANY_OBJECT),
    "DeadLetter": strict_object(
        id=TEXT,
        queue=with_description(enum(Queue), "The queue that the message came from."),
        body=with_description(TEXT, "The message, at most its first 2,000 characters."),
        sent_at=INSTANT,
        cause=with_description(enum(Cause), "How processing failed, if Lambda reported it."),
        reason=with_description(NULLABLE_TEXT, "Why the message is kept here."),
        task_id=with_description(NULLABLE_TEXT, "The missing task, if that is the reason."),
        was_cut=with_description(BOOLEAN, "Whether the stored body is incomplete."),
        can_be_redriven=BOOLEAN,
        body_cut=with_description(BOOLEAN, "Whether `body` is incomplete."),
    ),
    "Redriven": strict_object(
        redriven=with_description(list_of(TEXT), "The ids of those sent back."), left=_SKIPPED
    ),
    "Dropped": strict_object(
        dropped=with_description(list_of(TEXT), "The ids of those deleted."), left=_SKIPPED
    ),
    "AuditEntry": {"anyOf": [_EXECUTION, _API_CHANGE, _CHAT_CHANGE]},
}
