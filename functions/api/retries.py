"""The route of retries: what waits to be tried again."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import parts
from duecourse.domain.instant import to_text
from duecourse.domain.pending_retries import attempt_to_come
from duecourse.domain.task import Task

from .query import given, only_known, whole_number_in
from .reply import json_reply

PAGE = 50
LONGEST_PAGE = 200
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/retries")
def listing() -> Response[str]:
    query = given(router.current_event.query_string_parameters)
    only_known(query, frozenset({"limit"}))
    limit = whole_number_in(query, "limit", default=PAGE, most=LONGEST_PAGE)
    tasks = parts.task_store().retries(limit)
    return json_reply({"items": [_retry_to_json(task) for task in tasks]})


def _retry_to_json(task: Task) -> dict[str, Any]:
    return {
        "id": task.id,
        "short_id": task.short_id,
        "description": task.description,
        "next_retry_at": to_text(task.next_retry_at) if task.next_retry_at else None,
        "category": task.last_error_category,
        "attempt": attempt_to_come(task),
        "retry_count": task.retry_count,
        "policy": task.policy,
        "subject": task.subject,
        "last_error": task.last_error,
    }
