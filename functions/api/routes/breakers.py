"""Routes of circuit breakers: current state and history."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.limits.circuit_breaker import CircuitBreaker
from duecourse.domain.limits.circuit_breakers import journal_key, snapshot
from duecourse.domain.tasks.event import Event
from duecourse.domain.time.instant import to_text_or_none

from ..http.responses import json_response, newest_items_response
from ..openapi.operation import Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import item_list

router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/breakers")
@describe_operation(
    Operation(tag=Tag.BREAKERS, scope=Scope.READ, responses=ok_response(item_list("Breaker")))
)
def list_breakers() -> Response[str]:
    """List circuit breakers.

    Returns the current state of one circuit breaker for each provider that has failed, and for each
    chat channel that had no valid bot token (`channel:slack`).
    """
    breakers = snapshot(stores.breakers().list_all(), stores.clock().now())
    return json_response({"items": [breaker_to_json(*named) for named in breakers]})


@router.get("/breakers/<provider>/history")
@describe_operation(
    Operation(tag=Tag.BREAKERS, scope=Scope.READ, responses=ok_response(item_list("BreakerEvent")))
)
def list_breaker_events(provider: str) -> Response[str]:
    """List the events of a provider's circuit breaker.

    Returns the latest 500, oldest first.
    """
    events = stores.journal().list_events(journal_key(provider))
    return newest_items_response([_event_to_json(one.event) for one in events])


def breaker_to_json(provider: str, breaker: CircuitBreaker) -> dict[str, Any]:
    return {
        "provider": provider,
        "state": str(breaker.state),
        "key_refused": breaker.is_key_refused,
        "failures": breaker.failures,
        "opened_at": to_text_or_none(breaker.opened_at),
        "until": to_text_or_none(breaker.state_until),
        "admits_per_minute": breaker.limit_per_minute,
    }


def _event_to_json(event: Event) -> dict[str, Any]:
    return {"type": str(event.type), "at": to_text_or_none(event.at), "detail": event.detail}
