"""Removes from a response what the request contained, because receivers quote what they got."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import unquote_plus

from duecourse.domain.text.redaction import MAX_REDACTED_LENGTH, REDACTED, redact

MIN_SECRET_LENGTH = 8  # shorter texts occur by chance
_HARMLESS_HEADERS = frozenset({"accept", "content-type"})


def redact_response(
    text: str, *, url: str, headers: Mapping[str, str], body: Any, limit: int
) -> str:
    """Return the beginning of a response without secrets and without values that were sent."""
    values = {*_header_values(headers), *_query_values(url), *_texts_in(body)}
    known = {form for value in values for form in _written_forms(value)}
    # The longest first, because one may contain another.
    for secret in sorted(known, key=len, reverse=True):
        if len(secret) >= MIN_SECRET_LENGTH:
            text = text.replace(secret, REDACTED)
    return redact(text[:MAX_REDACTED_LENGTH], MAX_REDACTED_LENGTH)[:limit]


def _written_forms(value: str) -> Iterator[str]:
    """Yield the value as it is, as in JSON, and as in JSON inside of JSON."""
    for _ in range(3):
        yield value
        value = json.dumps(value)[1:-1]


def _header_values(headers: Mapping[str, str]) -> Iterator[str]:
    for name, value in headers.items():
        if name.lower() not in _HARMLESS_HEADERS:
            scheme, _, credentials = value.rpartition(" ")
            yield from (value, credentials)  # `Bearer abc` may be quoted as `abc`
            if scheme.lower() == "basic":
                yield from _decoded_pair(credentials)


def _decoded_pair(credentials: str) -> Iterator[str]:
    """Yield name and password of Basic authentication as one text, and the password."""
    with suppress(ValueError):
        pair = b64decode(credentials, validate=True).decode()
        yield from (pair, pair.partition(":")[2])


def _query_values(url: str) -> Iterator[str]:
    for part in url.partition("#")[0].partition("?")[2].split("&"):
        value = part.partition("=")[2] or part
        yield from (value, unquote_plus(value))


def _texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in `value`, and its numbers as text."""
    parts: Iterable[Any] = ()
    if isinstance(value, str | int | float):
        yield str(value)
    elif isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, list):
        parts = value
    for part in parts:
        yield from _texts_in(part)
