"""The shapes of tasks and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import MutationStatus, Phase, Reason, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.wait import WaitReason
from duecourse.domain.validation.fields import Schema, object_schema, or_null

from .types import (
    ANY_OBJECT,
    COUNT,
    INSTANT,
    MAYBE_INSTANT,
    MAYBE_TEXT,
    TEXT,
    UUID,
    YES_OR_NO,
    about,
    closed,
    enum,
    list_of,
)

_CALL = object_schema(
    {
        "provider": TEXT,
        "model": TEXT,
        "milliseconds": COUNT,
        "cost": about(COUNT, "In millionths of a dollar."),
    },
    required=["provider"],
)
# The one list of a task's fields in the API: the example is made of the code, and a test compares
# this list with `domain.wire.PUBLIC_FIELDS`.
_TASK: Mapping[str, Schema] = {
    "id": UUID,
    "short_id": about(TEXT, "The first 8 characters of the id."),
    "type": TEXT,
    "channel": TEXT,
    "sender_id": TEXT,
    "reply_target": TEXT,
    "description": TEXT,
    "due_at": about(INSTANT, "When it runs next."),
    "nominal_at": about(INSTANT, "The occurrence's own time, untouched by retries."),
    "timezone": TEXT,
    "repeat": MAYBE_TEXT,
    "status": enum(Status),
    "paused": YES_OR_NO,
    "created_at": INSTANT,
    "created_by": about(
        MAYBE_TEXT, "The token's name, where a program asked for it, or the operator's."
    ),
    "delivered_at": MAYBE_INSTANT,
    "retry_count": COUNT,
    "max_retries": COUNT,
    "last_error": MAYBE_TEXT,
    "last_error_category": MAYBE_TEXT,
    "next_retry_at": MAYBE_INSTANT,
    "recovery_action": or_null(enum(Action)),
    "guidance": list_of(TEXT),
    "policy": TEXT,
    "subject": MAYBE_TEXT,
    "payload": ANY_OBJECT,
    "snooze_of": about(MAYBE_TEXT, "The id of the reminder that this one rings again for."),
    "review_of": about(MAYBE_TEXT, "The id of the task whose specification this one reviews."),
    "verify": YES_OR_NO,
    "wait": about(or_null(enum(WaitReason)), "Why it does not run at its own time."),
    "wait_until": about(MAYBE_INSTANT, "When that reason is expected to end."),
    "wait_detail": about(ANY_OBJECT, "The facts of it, such as the provider or the budget."),
    "wait_text": about(MAYBE_TEXT, "The reason as a sentence for people."),
    "run_id": MAYBE_TEXT,
    "version": COUNT,
    "blocked_until": about(
        MAYBE_INSTANT, "When it fails unless somebody answers; null where it has no such time."
    ),
}
TASKS: Mapping[str, Schema] = {
    "Task": closed(**_TASK),
    "RunningTask": closed(**_TASK, started_at=about(MAYBE_INSTANT, "When this run of it began.")),
    "Run": closed(
        id=TEXT,
        task_id=UUID,
        attempt=about(COUNT, "1 for the first."),
        retry_of=MAYBE_TEXT,
        reason=enum(Reason),
        phase=enum(Phase),
        status=enum(RunStatus),
        prepare_result={},
        mutation=closed(status=or_null(enum(MutationStatus)), result={}, key=TEXT),
        error=MAYBE_TEXT,
        category=MAYBE_TEXT,
        handler_version=MAYBE_TEXT,
        started_at=INSTANT,
        ended_at=MAYBE_INSTANT,
        nominal_at=INSTANT,
        lease_expires_at=INSTANT,
        call=or_null(_CALL),
    ),
    "Event": closed(type=TEXT, task_id=UUID, at=INSTANT, detail=ANY_OBJECT),
}
