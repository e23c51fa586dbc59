"""A person's answers: whether work was done well, whether a lost effect has happened, and what a
failure really was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.json_body import read_event
from duecourse.app import services, stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.lifecycle.user_actions import Resolution, resolved
from duecourse.domain.validation.fields import Fields, one_of, text
from duecourse.usecases.failures.reclassify_task import reclassify_task
from duecourse.usecases.runs.approve_reject import approve_task, reject_task
from duecourse.usecases.tasks.get_task import find_task
from duecourse.usecases.tasks.update_task import change_task

from ..http.query import require_no_fields
from ..http.responses import json_reply
from ..http.task_response import task_shown
from ..middleware.auth import asker_of
from ..openapi.operation import Body, Operation, Tag, describes, ok, with_all
from ..openapi.schemas.types import one

REASON = text(1_000)
CATEGORY = text(200)
OUTCOME = one_of(list(Resolution))
TASK = ok(one("Task"))
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.post("/tasks/<task_id>/approve")
@describes(Operation(tag=Tag.ANSWERS, scope=Scope.WRITE, answers=TASK))
def approve(task_id: str) -> Response[str]:
    """Approve work that waits for a verdict."""
    require_no_fields(router.current_event.raw_event)
    task = find_task(task_id, store=stores.task_store())
    after = approve_task(task, services.verdict_book(), at=stores.clock().now())
    return json_reply(task_shown(after))


@router.post("/tasks/<task_id>/reject")
@describes(
    Operation(
        tag=Tag.ANSWERS,
        scope=Scope.WRITE,
        body=Body(with_all(reason=REASON), {"a reason": {"reason": "the link is missing"}}),
        answers=TASK,
    )
)
def reject(task_id: str) -> Response[str]:
    """Reject work that waits for a verdict.

    It is a failure like any other: with the reason as guidance, it is tried again.
    """
    reason = _only("reason", REASON)
    task = find_task(task_id, store=stores.task_store())
    after = reject_task(task, reason, services.recorder(), at=stores.clock().now())
    return json_reply(task_shown(after))


@router.post("/tasks/<task_id>/reclassify")
@describes(
    Operation(
        tag=Tag.ANSWERS,
        scope=Scope.WRITE,
        body=Body(with_all(category=CATEGORY), {"a category": {"category": "transient"}}),
        answers=TASK,
    )
)
def reclassify(task_id: str) -> Response[str]:
    """Say what a failure really was.

    A category of the task's policy: what follows from it is decided anew. It is remembered, and
    the next failure of this kind is read so.
    """
    category = _only("category", CATEGORY)
    task = find_task(task_id, store=stores.task_store())
    asker = asker_of(router.current_event.raw_event)
    by = asker.name if asker else None
    return json_reply(task_shown(reclassify_task(task, category, services.recorder(), by=by)))


@router.post("/tasks/<task_id>/resolve")
@describes(
    Operation(
        tag=Tag.ANSWERS,
        scope=Scope.WRITE,
        body=Body(with_all(outcome=OUTCOME), {"it happened": {"outcome": "applied"}}),
        answers=TASK,
    )
)
def resolve(task_id: str) -> Response[str]:
    """Say whether a lost effect has happened."""
    outcome = Resolution(_only("outcome", OUTCOME))
    now = stores.clock().now()
    task = change_task(
        find_task(task_id, store=stores.task_store()),
        lambda task: resolved(task, outcome, at=now),
        store=stores.task_store(),
        queue=stores.work_queue(),
        now=now,
    )
    return json_reply(task_shown(task))


def _only(name: str, parse: Callable[[Any], str]) -> str:
    """The one field of the request's body. Raises InvalidFieldsError."""
    raw = read_event(router.current_event.raw_event)
    fields = Fields(raw, known={name})
    if not fields.has(name):
        fields.refuse(name, "is required")
    value = fields.read(name, parse, "")
    fields.check()
    return value
