"""The routes of budgets: what a day may cost, and what of it is spent."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.json_body import read_event
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.limits.budget import MOST_DOLLARS, Budget, budget_name, dollars, micros_from
from duecourse.domain.time.instant import to_text
from duecourse.domain.validation.fields import Fields, Reader

from ..http.query import part_of_request
from ..http.responses import json_reply
from ..openapi.operation import Body, Operation, Tag, describes, ok, with_all
from ..openapi.schemas.types import one, several

LIMIT = Reader(micros_from, {"type": ["number", "string"], "minimum": 0, "maximum": MOST_DOLLARS})
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/budgets")
@describes(Operation(tag=Tag.BUDGETS, scope=Scope.READ, answers=ok(several("Budget"))))
def listing() -> Response[str]:
    """List the budgets of today.

    Those that were used or set on this UTC day, by name; 200 at most.
    """
    found = stores.budgets().used_on(stores.clock().now())
    return json_reply({"items": [budget_to_json(budget) for budget in found]})


@router.get("/budgets/<budget>")
@describes(Operation(tag=Tag.BUDGETS, scope=Scope.READ, answers=ok(one("Budget"))))
def show(budget: str) -> Response[str]:
    """Show today's budget.

    What this UTC day may cost, and what of it is spent, in dollars.
    """
    found = stores.budgets().today(_checked(budget), now=stores.clock().now())
    return json_reply(budget_to_json(found))


@router.put("/budgets/<budget>")
@describes(
    Operation(
        tag=Tag.BUDGETS,
        scope=Scope.ADMIN,
        body=Body(with_all(limit=LIMIT), {"five dollars and a quarter a day": {"limit": 5.25}}),
        answers=ok(one("Budget")),
    )
)
def limit(budget: str) -> Response[str]:
    """Set what a day may cost.

    In dollars with at most six decimals; it holds from now on, today included.
    """
    wanted = _limit_in(read_event(router.current_event.raw_event))
    found = stores.budgets().set_limit(_checked(budget), wanted, now=stores.clock().now())
    return json_reply(budget_to_json(found))


def _limit_in(raw: dict[str, Any]) -> int:
    fields = Fields(raw, known={"limit"})
    if not fields.has("limit"):
        fields.refuse("limit", "is required, in dollars a day")
    wanted = fields.read("limit", LIMIT, 0)
    fields.check()
    return wanted


def _checked(name: str) -> str:
    return part_of_request("budget", budget_name, name)


def budget_to_json(budget: Budget) -> dict[str, Any]:
    return {
        "name": budget.name,
        "day": budget.day.isoformat(),
        "limit": dollars(budget.limit),
        "spend": dollars(budget.spent),
        "reserved": dollars(budget.reserved),
        "remaining": dollars(budget.remaining),
        "used_percent": budget.used_percent,
        "calls": budget.calls,
        "resets_at": to_text(budget.resets_at),
    }
