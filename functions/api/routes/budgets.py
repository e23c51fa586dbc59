"""Routes of budgets: daily limits and spending."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.json_body import parse_event_body
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.limits.budget import (
    MAX_DOLLARS,
    Budget,
    parse_budget_name,
    parse_micros,
    to_dollars,
)
from duecourse.domain.time.instant import to_text
from duecourse.domain.validation.fields import Fields, Reader

from ..http.query import parse_parameter
from ..http.responses import json_response
from ..openapi.operation import (
    Body,
    Operation,
    Tag,
    describe_operation,
    ok_response,
    required_fields_schema,
)
from ..openapi.schemas.types import item_list, ref

LIMIT = Reader(parse_micros, {"type": ["number", "string"], "minimum": 0, "maximum": MAX_DOLLARS})
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/budgets")
@describe_operation(
    Operation(tag=Tag.BUDGETS, scope=Scope.READ, responses=ok_response(item_list("Budget")))
)
def list_budgets() -> Response[str]:
    """List today's budgets.

    Returns at most 200 budgets that were used or set on the current UTC day, sorted by name.
    """
    found = stores.budgets().list_used_on(stores.clock().now())
    return json_response({"items": [budget_to_json(budget) for budget in found]})


@router.get("/budgets/<budget>")
@describe_operation(
    Operation(tag=Tag.BUDGETS, scope=Scope.READ, responses=ok_response(ref("Budget")))
)
def show_budget(budget: str) -> Response[str]:
    """Get a budget.

    Returns its daily limit and its spend on the current UTC day, in dollars.
    """
    found = stores.budgets().get_today(_validate_name(budget), now=stores.clock().now())
    return json_response(budget_to_json(found))


@router.put("/budgets/<budget>")
@describe_operation(
    Operation(
        tag=Tag.BUDGETS,
        scope=Scope.ADMIN,
        body=Body(
            required_fields_schema(limit=LIMIT),
            {"5.25 dollars a day": {"limit": 5.25}},
        ),
        responses=ok_response(ref("Budget")),
    )
)
def set_limit(budget: str) -> Response[str]:
    """Set the daily limit of a budget.

    `limit` is in dollars, with at most six decimals. It applies at once, including to today.
    """
    limit = _parse_limit(parse_event_body(router.current_event.raw_event))
    found = stores.budgets().set_limit(_validate_name(budget), limit, now=stores.clock().now())
    return json_response(budget_to_json(found))


def _parse_limit(body: dict[str, Any]) -> int:
    fields = Fields(body, allowed={"limit"})
    if not fields.has("limit"):
        fields.add_error("limit", "is required: give the dollars per day, such as 5.25")
    limit = fields.read("limit", LIMIT, 0)
    fields.raise_if_invalid()
    return limit


def _validate_name(name: str) -> str:
    return parse_parameter("budget", parse_budget_name, name)


def budget_to_json(budget: Budget) -> dict[str, Any]:
    return {
        "name": budget.name,
        "day": budget.day.isoformat(),
        "limit": to_dollars(budget.limit),
        "spend": to_dollars(budget.spent),
        "reserved": to_dollars(budget.reserved),
        "remaining": to_dollars(budget.remaining),
        "used_percent": budget.used_percent,
        "calls": budget.calls,
        "resets_at": to_text(budget.resets_at),
    }
