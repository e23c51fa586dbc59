"""The route of the audit log: what was carried out, at what cost, and what was changed, by whom."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.limits.budget import day_of
from duecourse.domain.validation.fields import Reader
from duecourse.ports.journal import AuditPage

from ..http.cursor import Walk
from ..http.query import CURSOR, Query, number_up_to
from ..http.responses import page_reply
from ..openapi.operation import Operation, Tag, describes, ok
from ..openapi.schemas.types import page

router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


def _day(said: str) -> date:
    try:
        day = date.fromisoformat(said)
    except ValueError:
        day = None
    if day is None or day.isoformat() != said:  # it reads other ways to write a day as well
        raise ValueError("must be a day such as 2026-02-17")
    return day


DAY = Reader(_day, {"type": "string", "format": "date"})
QUERY = Query({"day": DAY, "limit": number_up_to(200, default=50), "cursor": CURSOR})


@router.get("/audit")
@describes(Operation(tag=Tag.AUDIT, scope=Scope.READ, query=QUERY, answers=ok(page("AuditEntry"))))
def listing() -> Response[str]:
    """List what was done and changed on a day.

    Of one UTC day, today unless told otherwise, oldest first.
    """
    asked = QUERY.read(router.current_event)

    def read(after: str | None, limit: int) -> AuditPage:
        day = asked["day"] or _day_begun(after)
        return stores.journal().audit(day, limit=limit, after=after)

    return page_reply(read, _as_kept, Walk("audit", asked), limit=asked["limit"])


def _day_begun(after: str | None) -> date:
    """A walk through today goes on with the day that it began on. Raises ValueError."""
    return _day(after[:10]) if after else day_of(stores.clock().now())


def _as_kept(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return entry
