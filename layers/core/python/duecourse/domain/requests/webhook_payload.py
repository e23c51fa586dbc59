"""The payload of a webhook: its URL, body, headers and timeout."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from duecourse.domain.http.header import check_header
from duecourse.domain.http.url import Url, check_reachable, parse_url
from duecourse.domain.requests.header_secret import (
    SECRET_KEY,
    SecretReference,
    is_secret_reference,
)
from duecourse.domain.validation.fields import integer_field
from duecourse.domain.validation.payload_keys import parse_named, read_key

MAX_HEADERS = 20
MAX_HEADER_LENGTH = 2_000
DEFAULT_TIMEOUT = 10  # seconds
MAX_TIMEOUT = 30
KEYS = ("url", "body", "headers", "timeout")
_RESERVED_HEADERS = frozenset({"idempotency-key"})  # and every name that starts with webhook-


@dataclass(frozen=True)
class Webhook:
    """`body` is JSON, or None if the payload has none. Header names are in lower case.

    A header is a text, or names the secret that holds its value.
    """

    url: str
    host: str
    body: bytes | None
    headers: Mapping[str, str | SecretReference]
    timeout: timedelta


def parse_webhook(payload: Mapping[str, Any], *, is_loopback_allowed: bool) -> Webhook:
    """Parse a webhook's payload. Raises ValueError naming the wrong key."""
    if "url" not in payload:
        raise ValueError("url: is required")
    url = parse_named(
        "url", payload["url"], partial(_parse_url, is_loopback_allowed=is_loopback_allowed)
    )
    seconds = read_key(payload, "timeout", integer_field(1, MAX_TIMEOUT), DEFAULT_TIMEOUT)
    return Webhook(
        url=payload["url"],
        host=url.host,
        body=to_json_bytes(payload["body"]) if "body" in payload else None,
        headers=read_key(payload, "headers", _parse_headers, {}),
        timeout=timedelta(seconds=seconds),
    )


def to_json_bytes(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _parse_url(value: Any, *, is_loopback_allowed: bool) -> Url:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    url = parse_url(value)
    check_reachable(url, is_loopback_allowed=is_loopback_allowed)
    return url


def _parse_headers(value: Any) -> dict[str, str | SecretReference]:
    if not isinstance(value, dict) or len(value) > MAX_HEADERS:
        raise ValueError(f"must be a JSON object of at most {MAX_HEADERS} headers")
    return {name.lower(): _parse_header(name, one) for name, one in value.items()}


def _parse_header(name: str, value: Any) -> str | SecretReference:
    is_secret = is_secret_reference(value)
    if not is_secret and (not isinstance(value, str) or len(value) > MAX_HEADER_LENGTH):
        raise ValueError(
            f"every value must be a string of at most {MAX_HEADER_LENGTH:,} characters, or "
            '{"secret": "NAME"}'
        )
    check_header(name, "" if is_secret else value)
    if name.lower() in _RESERVED_HEADERS or name.lower().startswith("webhook-"):
        raise ValueError(f"{name} is set by Duecourse and cannot be given")
    return SecretReference(value[SECRET_KEY]) if is_secret else str(value)
