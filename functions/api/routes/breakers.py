"""The routes of breakers: how each provider stands, and what happened to it."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.limits.circuit_breaker import Breaker
from duecourse.domain.limits.circuit_breakers import journal_key
from duecourse.domain.tasks.event import Event
from duecourse.domain.time.instant import to_text_or_none

from ..http.responses import json_reply, newest_reply
from ..openapi.operation import Operation, Tag, describes, ok
from ..openapi.schemas.types import several

router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/breakers")
@describes(Operation(tag=Tag.BREAKERS, scope=Scope.READ, answers=ok(several("Breaker"))))
def listing() -> Response[str]:
    """List the breakers.

    One for each provider that has failed: how it stands now.
    """
    standing = stores.breakers().load().standing(stores.clock().now())
    return json_reply({"items": [breaker_to_json(*named) for named in standing]})


@router.get("/breakers/<provider>/history")
@describes(Operation(tag=Tag.BREAKERS, scope=Scope.READ, answers=ok(several("BreakerEvent"))))
def history(provider: str) -> Response[str]:
    """Show what happened to a breaker.

    The latest 500 events, oldest first.
    """
    events = stores.journal().history(journal_key(provider))
    return newest_reply([_event_to_json(event) for event in events])


def breaker_to_json(provider: str, breaker: Breaker) -> dict[str, Any]:
    return {
        "provider": provider,
        "state": str(breaker.state),
        "failures": breaker.failures,
        "opened_at": to_text_or_none(breaker.opened_at),
        "until": to_text_or_none(breaker.until),
        "admits_per_minute": breaker.admits_per_minute,
    }


def _event_to_json(event: Event) -> dict[str, Any]:
    return {"type": str(event.type), "at": to_text_or_none(event.at), "detail": event.detail}
