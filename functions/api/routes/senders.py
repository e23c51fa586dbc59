"""Routes of senders: delete everything that is stored about one."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.json_body import parse_event_body
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.requests.task_fields import NAME_FIELD
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.validation.fields import Fields
from duecourse.usecases.chat.forget_sender import ForgetDeps, forget_sender

from ..http.responses import json_response
from ..openapi.operation import (
    Body,
    Operation,
    Tag,
    describe_operation,
    ok_response,
    required_fields_schema,
)
from ..openapi.schemas.types import ref

MAX_TASKS = 200  # of one request, well within the function's timeout
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.post("/senders/forget")
@describe_operation(
    Operation(
        tag=Tag.CHAT,
        scope=Scope.ADMIN,
        body=Body(
            required_fields_schema(channel=NAME_FIELD, sender_id=NAME_FIELD),
            {"a sender": {"channel": "telegram", "sender_id": "4711"}},
        ),
        responses=ok_response(ref("ForgottenSender")),
    )
)
def forget() -> Response[str]:
    """Delete everything about a sender.

    Deletes up to 200 of their dead letters and of their tasks, open ones too, and then their
    settings. Call it again while `complete` is false. History and the text in the audit log are
    erased within minutes. The sender is in the body, because the audit log keeps the paths of
    requests.
    """
    owner = _parse_owner(parse_event_body(router.current_event.raw_event))
    deps = ForgetDeps(
        stores.task_store(), stores.profiles(), stores.quiet_hours(), stores.dead_letters()
    )
    result = forget_sender(owner, deps, limit=MAX_TASKS, now=stores.clock().now())
    return json_response(
        {
            "deleted_tasks": result.deleted_tasks,
            "deleted_settings": result.deleted_settings,
            "deleted_dead_letters": result.deleted_dead_letters,
            "complete": result.is_complete,
        }
    )


def _parse_owner(body: dict[str, Any]) -> Owner:
    fields = Fields(body, allowed={"channel", "sender_id"})
    for name in ("channel", "sender_id"):
        if not fields.has(name):
            fields.add_error(name, "is required")
    owner = Owner(fields.read("channel", NAME_FIELD, ""), fields.read("sender_id", NAME_FIELD, ""))
    fields.raise_if_invalid()
    return owner
