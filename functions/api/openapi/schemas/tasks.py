"""The shapes of tasks and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import MutationStatus, Phase, Reason, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.wait import WaitReason
from duecourse.domain.validation.fields import Schema, nullable, object_schema

from .types import (
    ANY_OBJECT,
    BOOLEAN,
    COUNT,
    INSTANT,
    NULLABLE_INSTANT,
    NULLABLE_TEXT,
    TEXT,
    UUID,
    enum,
    list_of,
    strict_object,
    with_description,
)

_CALL = object_schema(
    {
        "provider": TEXT,
        "model": TEXT,
        "milliseconds": COUNT,
        "cost": with_description(COUNT, "In millionths of a dollar."),
    },
    required=["provider"],
)
# The one list of a task's fields in the API: the example is made of the code, and a test compares
# this list with `domain.wire.PUBLIC_FIELDS`.
_TASK_FIELDS: Mapping[str, Schema] = {
    "id": UUID,
    "short_id": with_description(TEXT, "The first 8 characters of the id."),
    "type": TEXT,
    "channel": TEXT,
    "sender_id": TEXT,
    "reply_target": TEXT,
    "description": TEXT,
    "due_at": with_description(INSTANT, "When it runs next."),
    "nominal_at": with_description(INSTANT, "The occurrence's own time, untouched by retries."),
    "timezone": TEXT,
    "repeat": NULLABLE_TEXT,
    "status": enum(Status),
    "paused": BOOLEAN,
    "created_at": INSTANT,
    "created_by": with_description(
        NULLABLE_TEXT, "The token's name, where a program asked for it, or the operator's."
    ),
    "delivered_at": NULLABLE_INSTANT,
    "retry_count": COUNT,
    "max_retries": COUNT,
    "last_error": NULLABLE_TEXT,
    "last_error_category": NULLABLE_TEXT,
    "next_retry_at": NULLABLE_INSTANT,
    "recovery_action": nullable(enum(Action)),
    "guidance": list_of(TEXT),
    "policy": TEXT,
    "subject": NULLABLE_TEXT,
    "payload": ANY_OBJECT,
    "snooze_of": with_description(
        NULLABLE_TEXT, "The id of the reminder that this one rings again for."
    ),
    "review_of": with_description(
        NULLABLE_TEXT, "The id of the task whose specification this one reviews."
    ),
    "verify": BOOLEAN,
    "wait": with_description(nullable(enum(WaitReason)), "Why it does not run at its own time."),
    "wait_until": with_description(NULLABLE_INSTANT, "When that reason is expected to end."),
    "wait_detail": with_description(
        ANY_OBJECT, "The facts of it, such as the provider or the budget."
    ),
    "wait_text": with_description(NULLABLE_TEXT, "The reason as a sentence for people."),
    "run_id": NULLABLE_TEXT,
    "version": COUNT,
    "blocked_until": with_description(
        NULLABLE_INSTANT, "When it fails unless somebody answers; null where it has no such time."
    ),
}
TASKS: Mapping[str, Schema] = {
    "Task": strict_object(**_TASK_FIELDS),
    "RunningTask": strict_object(
        **_TASK_FIELDS, started_at=with_description(NULLABLE_INSTANT, "When this run of it began.")
    ),
    "Run": strict_object(
        id=TEXT,
        task_id=UUID,
        attempt=with_description(COUNT, "1 for the first."),
        retry_of=NULLABLE_TEXT,
        reason=enum(Reason),
        phase=enum(Phase),
        status=enum(RunStatus),
        prepare_result={},
        mutation=strict_object(status=nullable(enum(MutationStatus)), result={}, key=TEXT),
        error=NULLABLE_TEXT,
        category=NULLABLE_TEXT,
        handler_version=NULLABLE_TEXT,
        started_at=INSTANT,
        ended_at=NULLABLE_INSTANT,
        nominal_at=INSTANT,
        lease_expires_at=INSTANT,
        call=nullable(_CALL),
    ),
    "Event": strict_object(type=TEXT, task_id=UUID, at=INSTANT, detail=ANY_OBJECT),
}
