"""Routes of the dashboard: its page and the page's files.

Both are open: they contain only code. The page requests its data with a token.
"""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.problem import problem
from duecourse.adapters.http.security_headers import SECURITY_HEADERS
from duecourse.app import stores

from ..http.csp import dashboard_csp
from ..http.responses import problem_response
from ..openapi.operation import NO_BODY, NO_TOKEN, Operation, Tag, describe_operation, ok_response

DASHBOARD_FOLDER = Path(__file__).parents[1] / "dashboard"
INDEX_FILE = "index.html"
CONTENT_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
METHODS = ["GET", "HEAD"]
# Always revalidate: after a deployment, old and new files must not mix.
HEADERS = {**SECURITY_HEADERS, "cache-control": "no-cache"}
_BODY_TAG = re.compile(r"<body\b[^>]*>")
_DATA_ATTRIBUTES = re.compile(r'\s+data-(?:live-url|modules)="[^"]*"')
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Asset:
    text: str
    content_type: str
    etag: str


@router.route("/", METHODS)
@describe_operation(
    Operation(
        tag=Tag.META,
        scope=NO_TOKEN,
        responses=ok_response({"type": "string"}),
        content_types=("text/html",),
    )
)
def show_dashboard() -> Response[str]:
    """Get the dashboard's web page.

    The page contains no data. It asks for a token and requests its data with it.
    """
    if router.current_event.path != "/":  # the resolver accepts a trailing newline
        return problem_response(problem(HTTPStatus.NOT_FOUND, "no such page"))
    settings = stores.settings()
    page = _fill_body_attributes(
        _load_index(), live_url=settings.live_url, modules=",".join(settings.page_modules)
    )
    headers = {**HEADERS, "content-security-policy": dashboard_csp(settings.live_url)}
    return Response(200, "text/html; charset=utf-8", page, headers=headers)


@router.route("/assets/<name>", METHODS)
@describe_operation(
    Operation(
        tag=Tag.META,
        scope=NO_TOKEN,
        responses={**ok_response({"type": "string"}), HTTPStatus.NOT_MODIFIED: NO_BODY},
        content_types=tuple(CONTENT_TYPES.values()),
    )
)
def show_asset(name: str) -> Response[str]:
    """Get a file of the dashboard.

    The response has an `ETag`. Send it as `If-None-Match` to get 304 if the file has not changed.
    """
    found = load_assets().get(name)
    if found is None:
        return problem_response(
            problem(HTTPStatus.NOT_FOUND, f"the dashboard has no file {name[:100]}")
        )
    headers = {**HEADERS, "etag": found.etag}
    if _is_not_modified(found.etag, router.current_event.headers.get("if-none-match", "")):
        return Response(HTTPStatus.NOT_MODIFIED.value, headers=headers)
    return Response(200, f"{found.content_type}; charset=utf-8", found.text, headers=headers)


@cache
def load_assets() -> Mapping[str, Asset]:
    """Return the files by name. A requested name never becomes a path."""
    files = [
        file
        for file in DASHBOARD_FOLDER.iterdir()
        if file.suffix in CONTENT_TYPES and file.is_file()
    ]
    return {file.name: _load_asset(file) for file in files}


def _load_asset(file: Path) -> Asset:
    text = file.read_text(encoding="utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    return Asset(text, CONTENT_TYPES[file.suffix], f'"{digest}"')


@cache
def _load_index() -> str:
    return (DASHBOARD_FOLDER / INDEX_FILE).read_text(encoding="utf-8")


def _fill_body_attributes(page: str, *, live_url: str, modules: str) -> str:
    """Return the page with the live URL and the modules to load set on its body."""
    data = {"data-live-url": live_url, "data-modules": modules}
    attributes = "".join(f' {name}="{html.escape(value)}"' for name, value in data.items())

    def fill(body: re.Match[str]) -> str:
        return _DATA_ATTRIBUTES.sub("", body[0]).removesuffix(">") + attributes + ">"

    return _BODY_TAG.sub(fill, page, count=1)


def _is_not_modified(etag: str, if_none_match: str) -> bool:
    etags = [tag.strip().removeprefix("W/") for tag in if_none_match.split(",")]
    return "*" in etags or etag in etags
