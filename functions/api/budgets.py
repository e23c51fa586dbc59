"""The routes of budgets: what a day may cost, and what of it is spent."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import parts
from duecourse.adapters.http.json_body import read_event
from duecourse.domain.budget import Budget, budget_name, dollars, micros_from
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.fields import Fields
from duecourse.domain.instant import to_text

from .reply import json_reply

router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/budgets/<name>")
def show(name: str) -> Response[str]:
    budget = parts.budgets().today(_checked(name), now=parts.clock().now())
    return json_reply(_to_json(budget))


@router.put("/budgets/<name>")
def limit(name: str) -> Response[str]:
    wanted = _limit_in(read_event(router.current_event.raw_event))
    budget = parts.budgets().set_limit(_checked(name), wanted, now=parts.clock().now())
    return json_reply(_to_json(budget))


def _limit_in(raw: dict[str, Any]) -> int:
    fields = Fields(raw, known={"limit"})
    if not fields.has("limit"):
        fields.refuse("limit", "is required, in dollars a day")
    wanted = fields.read("limit", micros_from, 0)
    fields.check()
    return wanted


def _checked(name: str) -> str:
    try:
        return budget_name(name)
    except ValueError as error:
        raise InvalidFieldsError([FieldError("name", str(error))]) from error


def _to_json(budget: Budget) -> dict[str, Any]:
    return {
        "name": budget.name,
        "day": budget.day.isoformat(),
        "limit": dollars(budget.limit),
        "spend": dollars(budget.spent),
        "reserved": dollars(budget.reserved),
        "remaining": dollars(budget.remaining),
        "calls": budget.calls,
        "resets_at": to_text(budget.resets_at),
    }
