"""Routes of the API itself: health, the OpenAPI document, and a page that shows it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.security_headers import SECURITY_HEADERS
from duecourse.domain.access.scope import Scope
from duecourse.version import __version__

from ..http.csp import inline_page_csp
from ..http.responses import json_response
from ..middleware.auth import caller_from_event
from ..openapi.operation import NO_TOKEN, Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import ref

DOCS_FILE = Path(__file__).parents[1] / "docs.html"
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/health")
@describe_operation(Operation(tag=Tag.META, scope=NO_TOKEN, responses=ok_response(ref("Health"))))
def health() -> Response[str]:
    """Check that the API responds."""
    return json_response({"status": "ok", "version": __version__})


@router.get("/me")
@describe_operation(
    Operation(tag=Tag.META, scope=Scope.READ, responses=ok_response(ref("CurrentToken")))
)
def show_current_token() -> Response[str]:
    """Get the name and the scope of your token.

    A client can use the scope to offer only what the token may do.
    """
    caller = caller_from_event(router.current_event.raw_event)
    body = {"name": caller.name, "scope": caller.scope} if caller else {}
    return json_response(body)


@router.get("/openapi.json")
@describe_operation(
    Operation(tag=Tag.META, scope=Scope.READ, responses=ok_response({"type": "object"}))
)
def show_openapi() -> Response[str]:
    """Get the OpenAPI 3.1 document of this API."""
    return Response(200, "application/json", _openapi_json(), headers=dict(SECURITY_HEADERS))


@router.get("/docs")
@describe_operation(
    Operation(
        tag=Tag.META,
        scope=Scope.READ,
        responses=ok_response({"type": "string"}),
        content_types=("text/html",),
    )
)
def show_docs() -> Response[str]:
    """Show this API's documentation as a web page."""
    html = _docs_html()
    headers = {**SECURITY_HEADERS, "content-security-policy": inline_page_csp(html)}
    return Response(200, "text/html; charset=utf-8", html, headers=headers)


@cache
def _openapi_json() -> str:
    """Return the document. It does not change while the container lives."""
    from ..openapi.generator import build_document

    return json.dumps(build_document(router.api_resolver))  # type: ignore[arg-type]


@cache
def _docs_html() -> str:
    return DOCS_FILE.read_text()
