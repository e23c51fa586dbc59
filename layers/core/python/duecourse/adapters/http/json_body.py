"""Parse a request body as a JSON object, with a size limit."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, NoReturn

from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.validation.strict_json import parse_strict_json

# Holds the longest task, even with every character escaped.
MAX_BODY_SIZE = 256 * 1024


def parse_event_body(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of an API Gateway event as an object.

    API Gateway encodes bodies in base64 if they are not plain text.
    """
    body = str(event.get("body") or "")
    if not event.get("isBase64Encoded"):
        return parse_object(body)
    try:
        return parse_object(base64.b64decode(body, validate=True).decode())
    except ValueError:
        _raise_invalid_body("must be UTF-8 text")


def parse_object(text: str) -> dict[str, Any]:
    """Return the JSON object in `text`. Raises InvalidFieldsError for the field `body`."""
    if len(text) > MAX_BODY_SIZE:
        _raise_invalid_body(f"must be at most {MAX_BODY_SIZE // 1024} KiB")
    try:
        value = parse_strict_json(text)
    except ValueError:
        _raise_invalid_body("is not valid JSON")
    if not isinstance(value, dict):
        _raise_invalid_body("must be a JSON object")
    return value


def _raise_invalid_body(message: str) -> NoReturn:
    raise InvalidFieldsError([FieldError("body", message)])
