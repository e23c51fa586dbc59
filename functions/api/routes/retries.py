"""Route of pending retries."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.lifecycle.retry_throttle import next_attempt
from duecourse.domain.tasks.failure_kind import kind_to_json
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text

from ..http.query import Query, integer_up_to
from ..http.responses import fit_items, json_response
from ..openapi.operation import Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import item_list

QUERY = Query({"limit": integer_up_to(200, default=50)})
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/retries")
@describe_operation(
    Operation(
        tag=Tag.FAILURES, scope=Scope.READ, query=QUERY, responses=ok_response(item_list("Retry"))
    )
)
def list_retries() -> Response[str]:
    """List pending retries.

    Returns the soonest first, at most `limit`. `attempt` is the number of the next attempt.
    """
    limit = QUERY.read(router.current_event)["limit"]
    tasks = stores.task_store().list_retries(limit)
    return json_response({"items": fit_items(retry_to_json(task) for task in tasks)})


def retry_to_json(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "short_id": task.short_id,
        "description": task.description,
        "next_retry_at": to_text(task.next_retry_at) if task.next_retry_at else None,
        "category": task.last_error_category,
        **kind_to_json(task.last_error_kind),
        "attempt": next_attempt(task),
        "retry_count": task.retry_count,
        "policy": task.policy,
        "subject": task.subject,
        "last_error": task.last_error,
    }
