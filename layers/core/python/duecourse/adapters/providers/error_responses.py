"""An answer that is an error: what the provider, or something on the way to it, says about it."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from duecourse.adapters.http.json_response import at, name_at, read_json, text_at
from duecourse.adapters.providers.errors import ProviderError
from duecourse.adapters.providers.rate_limit_headers import wait_told_by
from duecourse.domain.http.exchange import Answer

LONGEST_MESSAGE = 4_000
_REFUSALS = range(400, 600)
_LONGEST_PAGE = 20_000
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,500})", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,2000}>")


def refusal_of(provider: str, answer: Answer, *, model: str, now: datetime) -> ProviderError:
    told = read_json(answer.body)
    status = answer.status if answer.status >= 300 else _status_in(told)
    said = _message_in(told) if told is not None else _page_text(answer.body)
    kind = name_at(told, "error", "type")
    return ProviderError(
        f"{provider} answered {status or 'with an error'}: {said[:LONGEST_MESSAGE] or 'no words'}",
        type=kind,
        code=name_at(told, "error", "code") or kind,
        status=status,
        retry_after=wait_told_by(answer.headers, status=status or 0, now=now),
        model=model,
    )


def is_refusal(answer: Answer) -> bool:
    """Some gateways give an error the status of a success."""
    if not 200 <= answer.status < 300:
        return True
    return bool(at(read_json(answer.body), "error"))


def _status_in(told: Mapping[str, Any] | None) -> int | None:
    code = at(told, "error", "code")
    return code if isinstance(code, int) and code in _REFUSALS else None


def _message_in(told: Mapping[str, Any]) -> str:
    places: list[tuple[str, ...]] = [("error", "message"), ("error",), ("message",), ("detail",)]
    return next(filter(None, (text_at(told, *place) for place in places)), "")


def _page_text(body: bytes) -> str:
    """The title of a page, or else its words."""
    page = body[:_LONGEST_PAGE].decode("utf-8", "replace")
    title = _TITLE.search(page)
    words = title[1] if title else _TAG.sub(" ", page)
    return " ".join(html.unescape(words).split())[:500]
