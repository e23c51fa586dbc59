"""Routes of the error log."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.journal.error_log import error_to_json
from duecourse.domain.requests.task_fields import NAME_FIELD
from duecourse.usecases.tasks.get_task import get_task

from ..http.cursor import CursorCodec
from ..http.query import CURSOR, Query, integer_up_to
from ..http.responses import newest_items_response, page_response
from ..openapi.operation import Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import item_list, item_page

QUERY = Query(
    {
        "category": NAME_FIELD,
        "subject": NAME_FIELD,
        "limit": integer_up_to(200, default=50),
        "cursor": CURSOR,
    }
)
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/tasks/<task_id>/errors")
@describe_operation(
    Operation(tag=Tag.FAILURES, scope=Scope.READ, responses=ok_response(item_list("Error")))
)
def list_task_errors(task_id: str) -> Response[str]:
    """List a task's failures.

    Returns the latest 500, oldest first.
    """
    task = get_task(task_id, store=stores.task_store())
    errors = stores.error_log().list_by_task(task.id)
    return newest_items_response([error_to_json(error) for error in errors])


@router.get("/errors")
@describe_operation(
    Operation(
        tag=Tag.FAILURES, scope=Scope.READ, query=QUERY, responses=ok_response(item_page("Error"))
    )
)
def list_errors() -> Response[str]:
    """List the failures of a category or a subject.

    Returns the newest first. Give either `category` or `subject`. By category, only failures of the
    last 31 days are listed.
    """
    parameters = QUERY.read(router.current_event)
    category, subject = parameters["category"], parameters["subject"]
    if (category is None) == (subject is None):
        raise InvalidFieldsError([FieldError("category", "give either category or subject")])
    log = stores.error_log()
    find = log.list_by_category if category else log.list_by_subject
    name = category or subject

    def read(after: str | None, limit: int) -> Any:
        return find(name, limit=limit, cursor=after, now=stores.clock().now())

    cursor = CursorCodec("errors", parameters)
    return page_response(read, error_to_json, cursor, limit=parameters["limit"])
