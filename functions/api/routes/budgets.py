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
    """List the budgets of today.

    Those that were used or set on this UTC day, by name; 200 at most.
    """
    found = stores.budgets().list_used_on(stores.clock().now())
    return json_response({"items": [budget_to_json(budget) for budget in found]})


@router.get("/budgets/<budget>")
@describe_operation(
    Operation(tag=Tag.BUDGETS, scope=Scope.READ, responses=ok_response(ref("Budget")))
)
def show_budget(budget: str) -> Response[str]:
    """Show today's budget.

    What this UTC day may cost, and what of it is spent, in dollars.
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
            {"five dollars and a quarter a day": {"limit": 5.25}},
        ),
        responses=ok_response(ref("Budget")),
    )
)
def set_limit(budget: str) -> Response[str]:
    """Set what a day may cost.

    In dollars with at most six decimals; it holds from now on, today included.
    """
    wanted = _parse_limit(parse_event_body(router.current_event.raw_event))
    found = stores.budgets().set_limit(_validate_name(budget), wanted, now=stores.clock().now())
    return json_response(budget_to_json(found))


def _parse_limit(body: dict[str, Any]) -> int:
    fields = Fields(body, allowed={"limit"})
    if not fields.has("limit"):
        fields.add_error("limit", "is required, in dollars a day")
    wanted = fields.read("limit", LIMIT, 0)
    fields.raise_if_invalid()
    return wanted


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
