"""A person's answers: whether work was done well, and whether a lost effect has happened."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import parts, wiring
from duecourse.adapters.http.json_body import read_event
from duecourse.domain.change import Resolution, resolved
from duecourse.domain.fields import Fields, one_of, text
from duecourse.domain.wire import task_to_json
from duecourse.usecases.change_task import change_task
from duecourse.usecases.find_task import find_task
from duecourse.usecases.give_verdict import approve_task, reject_task

from .query import require_no_fields
from .reply import json_reply

REASON_LIMIT = 1_000
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.post("/tasks/<task_id>/approve")
def approve(task_id: str) -> Response[str]:
    require_no_fields(router.current_event.raw_event)
    task = find_task(task_id, store=parts.task_store())
    after = approve_task(task, wiring.verdict_book(), at=parts.clock().now())
    return json_reply(task_to_json(after))


@router.post("/tasks/<task_id>/reject")
def reject(task_id: str) -> Response[str]:
    reason = _only("reason", text(REASON_LIMIT))
    task = find_task(task_id, store=parts.task_store())
    after = reject_task(task, reason, wiring.recorder(), at=parts.clock().now())
    return json_reply(task_to_json(after))


@router.post("/tasks/<task_id>/resolve")
def resolve(task_id: str) -> Response[str]:
    outcome = Resolution(_only("outcome", one_of(list(Resolution))))
    now = parts.clock().now()
    task = change_task(
        find_task(task_id, store=parts.task_store()),
        lambda task: resolved(task, outcome, at=now),
        store=parts.task_store(),
        queue=parts.work_queue(),
        now=now,
    )
    return json_reply(task_to_json(task))


def _only(name: str, parse: Callable[[Any], str]) -> str:
    """The one field of the request's body. Raises InvalidFieldsError."""
    raw = read_event(router.current_event.raw_event)
    fields = Fields(raw, known={name})
    if not fields.has(name):
        fields.refuse(name, "is required")
    value = fields.read(name, parse, "")
    fields.check()
    return value
