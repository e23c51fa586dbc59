"""The route of the audit log: which actions were carried out, by whom, and at what cost."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import parts
from duecourse.domain.budget import day_of
from duecourse.domain.fields import Reader
from duecourse.ports import AuditPage

from .cursor import from_cursor, to_cursor
from .described import Operation, Tag, describes, ok, page
from .query import CURSOR, Query, number_up_to
from .reply import page_reply

router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


def _day(said: str) -> date:
    try:
        return date.fromisoformat(said)
    except ValueError:
        raise ValueError("must be a day such as 2026-02-17") from None


DAY = Reader(_day, {"type": "string", "format": "date"})
QUERY = Query({"day": DAY, "limit": number_up_to(200, default=50), "cursor": CURSOR})


@router.get("/audit")
@describes(Operation(tag=Tag.AUDIT, query=QUERY, answers=ok(page("AuditEntry"))))
def listing() -> Response[str]:
    """List the actions of a day.

    Of one UTC day, today unless told otherwise, oldest first.
    """
    asked = QUERY.read(router.current_event)
    day = asked["day"] or day_of(parts.clock().now())

    def read(limit: int) -> AuditPage:
        after = from_cursor(asked["cursor"]) if asked["cursor"] else None
        found = parts.journal().audit(day, limit=limit, after=after)
        last = found.next_cursor
        return AuditPage(found.items, to_cursor(last) if last else None)

    return page_reply(read, _as_kept, limit=asked["limit"])


def _as_kept(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return entry
