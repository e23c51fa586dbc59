"""The route of the audit log: which actions were carried out, by whom, and at what cost."""

from __future__ import annotations

from datetime import date

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import parts
from duecourse.domain.budget import day_of
from duecourse.domain.errors import FieldError, InvalidFieldsError

from .query import given, only_known, whole_number_in
from .reply import json_reply

PAGE = 50
LONGEST_PAGE = 200
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/audit")
def listing() -> Response[str]:
    """Of one UTC day, today unless told otherwise, oldest first."""
    query = given(router.current_event.query_string_parameters)
    only_known(query, frozenset({"day", "limit", "cursor"}))
    limit = whole_number_in(query, "limit", default=PAGE, most=LONGEST_PAGE)
    day = _day(query["day"]) if "day" in query else day_of(parts.clock().now())
    try:
        page = parts.journal().audit(day, limit=limit, after=query.get("cursor"))
    except ValueError as error:
        raise InvalidFieldsError([FieldError("cursor", str(error))]) from error
    return json_reply({"items": list(page.items), "next_cursor": page.next_cursor})


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        message = "must be a day such as 2026-02-17"
        raise InvalidFieldsError([FieldError("day", message)]) from None
