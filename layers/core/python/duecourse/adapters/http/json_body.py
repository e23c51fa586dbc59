"""A request's body as a JSON object, read with care: it may be anything."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, NoReturn

from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.validation.strict_json import parse_strict_json

# The longest task, with every character written as an escape, is well within it.
MAX_BODY_SIZE = 256 * 1024


def parse_event_body(event: Mapping[str, Any]) -> dict[str, Any]:
    """The body of an API Gateway event, which is base64 where it was not plain text."""
    body = str(event.get("body") or "")
    if not event.get("isBase64Encoded"):
        return parse_object(body)
    try:
        return parse_object(base64.b64decode(body, validate=True).decode())
    except ValueError:
        _raise_invalid_body("is not text in UTF-8")


def parse_object(text: str) -> dict[str, Any]:
    """Raises InvalidFieldsError on the field `body`."""
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
