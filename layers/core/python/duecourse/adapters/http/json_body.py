"""A request's body as a JSON object, read with care: it may be anything."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, NoReturn

from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.validation.strict_json import read_strictly

# The longest task, with every character written as an escape, is well within it.
LIMIT = 256 * 1024


def read_event(event: Mapping[str, Any]) -> dict[str, Any]:
    """The body of an API Gateway event, which is base64 where it was not plain text."""
    body = str(event.get("body") or "")
    if not event.get("isBase64Encoded"):
        return read_object(body)
    try:
        return read_object(base64.b64decode(body, validate=True).decode())
    except ValueError:
        _refuse("is not text in UTF-8")


def read_object(text: str) -> dict[str, Any]:
    """Raises InvalidFieldsError on the field `body`."""
    if len(text) > LIMIT:
        _refuse(f"must be at most {LIMIT // 1024} KiB")
    try:
        value = read_strictly(text)
    except ValueError:
        _refuse("is not valid JSON")
    if not isinstance(value, dict):
        _refuse("must be a JSON object")
    return value


def _refuse(message: str) -> NoReturn:
    raise InvalidFieldsError([FieldError("body", message)])
