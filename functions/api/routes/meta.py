"""Routes of the API itself: health, the OpenAPI document, and a page that shows it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.domain.access.scope import Scope
from duecourse.version import __version__

from ..http.csp import PAGE_HEADERS, inline_page_csp
from ..http.responses import json_response
from ..openapi.operation import NO_TOKEN, Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import ref

DOCS_FILE = Path(__file__).parents[1] / "docs.html"
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/health")
@describe_operation(Operation(tag=Tag.META, scope=NO_TOKEN, responses=ok_response(ref("Health"))))
def health() -> Response[str]:
    """Check that the API responds."""
    return json_response({"status": "ok", "version": __version__})


@router.get("/openapi.json")
@describe_operation(
    Operation(tag=Tag.META, scope=Scope.READ, responses=ok_response({"type": "object"}))
)
def show_openapi() -> Response[str]:
    """Get the OpenAPI 3.1 document of this API."""
    return Response(200, "application/json", _openapi_json(), headers=dict(PAGE_HEADERS))


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
    headers = {**PAGE_HEADERS, "content-security-policy": inline_page_csp(html)}
    return Response(200, "text/html; charset=utf-8", html, headers=headers)


@cache
def _openapi_json() -> str:
    """Return the document. It does not change while the container lives."""
    from ..openapi.generator import build_document

    return json.dumps(build_document(router.api_resolver))  # type: ignore[arg-type]


@cache
def _docs_html() -> str:
    return DOCS_FILE.read_text()
