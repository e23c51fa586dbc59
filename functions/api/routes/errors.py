"""The routes of the error log."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.journal.error_log import error_to_json
from duecourse.domain.requests.task_request import NAME
from duecourse.usecases.tasks.get_task import find_task

from ..http.cursor import Walk
from ..http.query import CURSOR, Query, number_up_to
from ..http.responses import newest_reply, page_reply
from ..openapi.operation import Operation, Tag, describes, ok
from ..openapi.schemas.types import page, several

QUERY = Query(
    {
        "category": NAME,
        "subject": NAME,
        "limit": number_up_to(200, default=50),
        "cursor": CURSOR,
    }
)
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/tasks/<task_id>/errors")
@describes(Operation(tag=Tag.FAILURES, scope=Scope.READ, answers=ok(several("Error"))))
def of_task(task_id: str) -> Response[str]:
    """List a task's failures.

    The latest 500, oldest first.
    """
    task = find_task(task_id, store=stores.task_store())
    errors = stores.error_log().of_task(task.id)
    return newest_reply([error_to_json(error) for error in errors])


@router.get("/errors")
@describes(Operation(tag=Tag.FAILURES, scope=Scope.READ, query=QUERY, answers=ok(page("Error"))))
def listing() -> Response[str]:
    """List failures of a category or a subject.

    Newest first. Give either `category` or `subject`; of a category, those of the last 31 days.
    """
    asked = QUERY.read(router.current_event)
    if (asked["category"] is None) == (asked["subject"] is None):
        raise InvalidFieldsError([FieldError("category", "give either category or subject")])
    log = stores.error_log()
    find = log.of_category if asked["category"] else log.of_subject
    name = asked["category"] or asked["subject"]

    def read(after: str | None, limit: int) -> Any:
        return find(name, limit=limit, cursor=after, now=stores.clock().now())

    return page_reply(read, error_to_json, Walk("errors", asked), limit=asked["limit"])
