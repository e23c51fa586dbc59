"""Routes for a person's decisions: approve, reject, resolve an unknown effect, reclassify."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.json_body import parse_event_body
from duecourse.app import queues, services, stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.lifecycle.reclassification import CategoryOrKind
from duecourse.domain.lifecycle.resolve_indeterminate import Resolution, resolve_indeterminate
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.validation.fields import Fields, choice_field, text_field
from duecourse.usecases.failures.reclassify_task import reclassify_task
from duecourse.usecases.runs.approve_reject import approve_task, reject_task
from duecourse.usecases.tasks.get_task import get_task
from duecourse.usecases.tasks.update_task import update_task

from ..http.query import require_empty_body
from ..http.responses import json_response
from ..http.task_response import task_to_response
from ..middleware.auth import caller_from_event
from ..openapi.operation import (
    Body,
    Operation,
    Tag,
    describe_operation,
    ok_response,
    one_of_fields_schema,
    required_fields_schema,
)
from ..openapi.schemas.types import ref

REASON = text_field(1_000)
CATEGORY = text_field(200)
KIND = choice_field(list(Kind))
OUTCOME = choice_field(list(Resolution))
TASK_RESPONSE = ok_response(ref("Task"))
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.post("/tasks/<task_id>/approve")
@describe_operation(Operation(tag=Tag.DECISIONS, scope=Scope.WRITE, responses=TASK_RESPONSE))
def approve(task_id: str) -> Response[str]:
    """Approve work that waits for verification.

    The task completes, and a recurring task continues with its next occurrence.
    """
    require_empty_body(router.current_event.raw_event)
    task = get_task(task_id, store=stores.task_store())
    after = approve_task(task, services.approval_deps(), at=stores.clock().now())
    return json_response(task_to_response(after))


@router.post("/tasks/<task_id>/reject")
@describe_operation(
    Operation(
        tag=Tag.DECISIONS,
        scope=Scope.WRITE,
        body=Body(
            required_fields_schema(reason=REASON),
            {"with a reason": {"reason": "the link is missing"}},
        ),
        responses=TASK_RESPONSE,
    )
)
def reject(task_id: str) -> Response[str]:
    """Reject work that waits for verification.

    A rejection is handled like any other failure. If the policy allows a retry, the next attempt
    gets the reason as guidance.
    """
    reason = _read_single_field("reason", REASON)
    task = get_task(task_id, store=stores.task_store())
    after = reject_task(task, reason, services.failure_deps(), at=stores.clock().now())
    return json_response(task_to_response(after))


@router.post("/tasks/<task_id>/reclassify")
@describe_operation(
    Operation(
        tag=Tag.DECISIONS,
        scope=Scope.WRITE,
        body=Body(
            one_of_fields_schema(category=CATEGORY, kind=KIND),
            {"by category": {"category": "transient"}, "by kind": {"kind": "permission"}},
        ),
        responses=TASK_RESPONSE,
    )
)
def reclassify(task_id: str) -> Response[str]:
    """Correct the category or the kind of a task's last failure.

    Give one of them. A kind gives the category of the task's policy that holds it, or the
    fallback. The policy decides again, as if the failure had been classified like that. The
    correction also applies to later failures with the same fingerprint.
    """
    corrected_to = _read_category_or_kind()
    task = get_task(task_id, store=stores.task_store())
    caller = caller_from_event(router.current_event.raw_event)
    requested_by = caller.name if caller else None
    return json_response(
        task_to_response(
            reclassify_task(task, corrected_to, services.failure_deps(), requested_by=requested_by)
        )
    )


@router.post("/tasks/<task_id>/resolve")
@describe_operation(
    Operation(
        tag=Tag.DECISIONS,
        scope=Scope.WRITE,
        body=Body(
            required_fields_schema(outcome=OUTCOME),
            {"the side effect happened": {"outcome": "applied"}},
        ),
        responses=TASK_RESPONSE,
    )
)
def resolve(task_id: str) -> Response[str]:
    """Resolve an unknown outcome.

    Use this if nobody can tell whether the task's side effect happened. `applied`: it happened; the
    run continues after it. `not_applied`: it did not happen; the task runs now. `skip`: leave it;
    the task is cancelled, and a recurring task continues with its next occurrence.
    """
    outcome = Resolution(_read_single_field("outcome", OUTCOME))
    now = stores.clock().now()
    task = update_task(
        get_task(task_id, store=stores.task_store()),
        lambda task: resolve_indeterminate(task, outcome, at=now),
        store=stores.task_store(),
        queue=queues.work_queue(),
        now=now,
    )
    return json_response(task_to_response(task))


def _read_category_or_kind() -> CategoryOrKind:
    """Return the category or the kind of the request body. Raises InvalidFieldsError."""
    raw = parse_event_body(router.current_event.raw_event)
    fields = Fields(raw, allowed={"category", "kind"})
    if fields.has("category") == fields.has("kind"):
        fields.add_error("category", "give either category or kind")
    category = fields.read("category", CATEGORY, "")
    kind = fields.read("kind", KIND, None)
    fields.raise_if_invalid()
    return category if kind is None else Kind(kind)


def _read_single_field(name: str, parse: Callable[[Any], str]) -> str:
    """Return the only field of the request body. Raises InvalidFieldsError."""
    raw = parse_event_body(router.current_event.raw_event)
    fields = Fields(raw, allowed={name})
    if not fields.has(name):
        fields.add_error(name, "is required")
    value = fields.read(name, parse, "")
    fields.raise_if_invalid()
    return value
