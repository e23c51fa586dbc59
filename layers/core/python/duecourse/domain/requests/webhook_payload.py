"""What a webhook's payload says: where it goes, and what is sent there."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from duecourse.domain.http.header import check_header
from duecourse.domain.http.url import Url, check_reachable, read_url
from duecourse.domain.validation.fields import whole_number
from duecourse.domain.validation.payload_keys import named, read_key

MOST_HEADERS = 20
LONGEST_HEADER = 2_000
DEFAULT_TIMEOUT = 10  # seconds
LONGEST_TIMEOUT = 30
KEYS = ("url", "body", "headers", "timeout")
_OURS = frozenset({"idempotency-key"})  # and all that begins with webhook-


@dataclass(frozen=True)
class Webhook:
    """`body` as JSON; None: nothing was said of it. Header names in lower case."""

    url: str
    host: str
    body: bytes | None
    headers: Mapping[str, str]
    timeout: timedelta


def read_webhook(payload: Mapping[str, Any], *, loopback_allowed: bool) -> Webhook:
    """Raises ValueError naming the key of the payload that is wrong."""
    if "url" not in payload:
        raise ValueError("url: is required")
    url = named("url", payload["url"], partial(_url, loopback_allowed=loopback_allowed))
    seconds = read_key(payload, "timeout", whole_number(1, LONGEST_TIMEOUT), DEFAULT_TIMEOUT)
    return Webhook(
        url=payload["url"],
        host=url.host,
        body=as_json(payload["body"]) if "body" in payload else None,
        headers=read_key(payload, "headers", _headers, {}),
        timeout=timedelta(seconds=seconds),
    )


def as_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _url(value: Any, *, loopback_allowed: bool) -> Url:
    if not isinstance(value, str):
        raise ValueError("must be a text")
    url = read_url(value)
    check_reachable(url, loopback_allowed=loopback_allowed)
    return url


def _headers(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > MOST_HEADERS:
        raise ValueError(f"must be a JSON object of at most {MOST_HEADERS} headers")
    for name, text in value.items():
        _check(name, text)
    return {name.lower(): text for name, text in value.items()}


def _check(name: str, value: Any) -> None:
    if not isinstance(value, str) or len(value) > LONGEST_HEADER:
        raise ValueError(f"every value must be a text of at most {LONGEST_HEADER:,} characters")
    check_header(name, value)
    if name.lower() in _OURS or name.lower().startswith("webhook-"):
        raise ValueError(f"{name} cannot be set")
