"""The routes of the error log."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import parts
from duecourse.domain.error_log import error_to_json
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.usecases.find_task import find_task

from .query import given, only_known, whole_number_in
from .reply import json_reply

PAGE = 50
LONGEST_PAGE = 200
LONGEST_NAME = 256
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/tasks/<task_id>/errors")
def of_task(task_id: str) -> Response[str]:
    task = find_task(task_id, store=parts.task_store())
    errors = parts.error_log().of_task(task.id)
    return json_reply({"items": [error_to_json(error) for error in errors]})


@router.get("/errors")
def listing() -> Response[str]:
    query = given(router.current_event.query_string_parameters)
    only_known(query, frozenset({"category", "subject", "limit", "cursor"}))
    by, name = _wanted(query)
    log = parts.error_log()
    walk = log.of_category if by == "category" else log.of_subject
    limit = whole_number_in(query, "limit", default=PAGE, most=LONGEST_PAGE)
    try:
        page = walk(name, limit=limit, cursor=query.get("cursor"), now=parts.clock().now())
    except ValueError as error:
        raise InvalidFieldsError([FieldError("cursor", str(error))]) from error
    items = [error_to_json(error) for error in page.items]
    return json_reply({"items": items, "next_cursor": page.next_cursor})


def _wanted(query: dict[str, str]) -> tuple[str, str]:
    found = [(by, query[by]) for by in ("category", "subject") if by in query]
    if len(found) != 1:
        raise InvalidFieldsError([FieldError("category", "give either category or subject")])
    [(by, name)] = found
    if len(name) > LONGEST_NAME:
        raise InvalidFieldsError([FieldError(by, f"must be at most {LONGEST_NAME} characters")])
    return by, name
