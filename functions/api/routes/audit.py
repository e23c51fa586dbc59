"""Route of the audit log: executed work with its cost, and changes with their caller."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.limits.budget import utc_date
from duecourse.domain.tasks.failure_kind import Kind, kind_to_json
from duecourse.domain.validation.fields import Reader
from duecourse.ports.journal import AuditItem, AuditPage
from duecourse.usecases.journal.read_audit import AuditDeps, read_audit

from ..http.cursor import CursorCodec
from ..http.query import CURSOR, Query, integer_up_to
from ..http.responses import page_response
from ..openapi.operation import Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import item_page

router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


def _parse_day(text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or day.isoformat() != text:  # fromisoformat accepts other formats too
        raise ValueError("must be a date such as 2026-02-17")
    return day


DAY = Reader(_parse_day, {"type": "string", "format": "date"})
QUERY = Query({"day": DAY, "limit": integer_up_to(200, default=50), "cursor": CURSOR})


@router.get("/audit")
@describe_operation(
    Operation(
        tag=Tag.AUDIT, scope=Scope.READ, query=QUERY, responses=ok_response(item_page("AuditEntry"))
    )
)
def list_audit() -> Response[str]:
    """List the audit log of a day.

    Returns the calls to providers, and the changes made over HTTP and in the operators' chat, on
    one UTC day, oldest first. `day` defaults to today.
    """
    parameters = QUERY.read(router.current_event)

    def read(after: str | None, limit: int) -> AuditPage:
        day = parameters["day"] or _resolve_day(after)
        return read_audit(day, _audit_deps(), limit=limit, after=after)

    cursor = CursorCodec("audit", parameters)
    return page_response(read, _to_json, cursor, limit=parameters["limit"])


def _resolve_day(after: str | None) -> date:
    """Return the day to list. Later pages stay on the day of the first. Raises ValueError."""
    return _parse_day(after[:10]) if after else utc_date(stores.clock().now())


def _audit_deps() -> AuditDeps:
    return AuditDeps(
        journal=stores.journal(),
        counters=stores.counters(),
        error_log=stores.error_log(),
    )


def _to_json(item: AuditItem) -> Mapping[str, Any]:
    """Return the entry, the one of an execution with its kind. Only failures store theirs."""
    is_execution = "outcome" in item.entry
    kind = kind_to_json(Kind.parse(item.entry.get("kind"))) if is_execution else {}
    return {**item.entry, **kind}
