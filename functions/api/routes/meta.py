"""The routes of the API itself: whether it is alive, its description, and a page that shows it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import __version__
from duecourse.domain.access.scope import Scope

from ..http.csp import PAGE_HEADERS, policy_of
from ..http.responses import json_reply
from ..openapi.operation import NO_TOKEN, Operation, Tag, describes, ok
from ..openapi.schemas.types import one

PAGE = Path(__file__).parents[1] / "docs.html"
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/health")
@describes(Operation(tag=Tag.ITSELF, scope=NO_TOKEN, answers=ok(one("Health"))))
def health() -> Response[str]:
    """Tell whether it is alive."""
    return json_reply({"status": "ok", "version": __version__})


@router.get("/openapi.json")
@describes(Operation(tag=Tag.ITSELF, scope=Scope.READ, answers=ok({"type": "object"})))
def description() -> Response[str]:
    """Describe the API, as OpenAPI 3.1."""
    return Response(200, "application/json", _description(), headers=dict(PAGE_HEADERS))


@router.get("/docs")
@describes(
    Operation(
        tag=Tag.ITSELF,
        scope=Scope.READ,
        answers=ok({"type": "string"}),
        content_types=("text/html",),
    )
)
def page() -> Response[str]:
    """Show the description to people."""
    html = _page()
    headers = {**PAGE_HEADERS, "content-security-policy": policy_of(html)}
    return Response(200, "text/html; charset=utf-8", html, headers=headers)


@cache
def _description() -> str:
    """What it is made of does not change while this container lives."""
    from ..openapi.generator import describe

    return json.dumps(describe(router.api_resolver))  # type: ignore[arg-type]


@cache
def _page() -> str:
    return PAGE.read_text()
