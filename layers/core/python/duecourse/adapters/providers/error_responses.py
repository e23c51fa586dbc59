"""Parse an error response of a provider, or of a gateway in front of it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from duecourse.adapters.http.json_response import name_at, parse_object_or_none, text_at, value_at
from duecourse.adapters.providers.errors import ProviderError
from duecourse.adapters.providers.rate_limit_headers import retry_after_from_headers
from duecourse.domain.http.exchange import HttpResponse

MAX_MESSAGE_LENGTH = 4_000
_ERROR_STATUSES = range(400, 600)
_MAX_PAGE_BYTES = 20_000
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,500})", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,2000}>")


def error_from_response(
    provider: str, response: HttpResponse, *, model: str, now: datetime
) -> ProviderError:
    body = parse_object_or_none(response.body)
    status = response.status if response.status >= 300 else _status_in(body)
    message = _message_in(body) if body is not None else _page_text(response.body)
    kind = name_at(body, "error", "type")
    message = message[:MAX_MESSAGE_LENGTH] or "no message"
    return ProviderError(
        f"{provider} answered {status or 'with an error'}: {message}",
        type=kind,
        code=name_at(body, "error", "code") or kind,
        status=status,
        retry_after=retry_after_from_headers(response.headers, status=status or 0, now=now),
        model=model,
    )


def is_error_response(response: HttpResponse) -> bool:
    """Return whether it is an error. Some gateways report errors with a success status."""
    if not 200 <= response.status < 300:
        return True
    return bool(value_at(parse_object_or_none(response.body), "error"))


def _status_in(body: Mapping[str, Any] | None) -> int | None:
    code = value_at(body, "error", "code")
    return code if isinstance(code, int) and code in _ERROR_STATUSES else None


def _message_in(body: Mapping[str, Any]) -> str:
    places: list[tuple[str, ...]] = [("error", "message"), ("error",), ("message",), ("detail",)]
    return next(filter(None, (text_at(body, *place) for place in places)), "")


def _page_text(body: bytes) -> str:
    """Return the title of an HTML page, or its text."""
    page = body[:_MAX_PAGE_BYTES].decode("utf-8", "replace")
    title = _TITLE.search(page)
    words = title[1] if title else _TAG.sub(" ", page)
    return " ".join(html.unescape(words).split())[:500]
