"""A request's body as a JSON object, read with care: it may be anything."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from duecourse.domain.errors import FieldError, InvalidFieldsError

LIMIT = 128 * 1024


def read_object(text: str | None) -> dict[str, Any]:
    """Raises InvalidFieldsError on the field `body`."""
    if text is not None and len(text) > LIMIT:
        _refuse(f"must be at most {LIMIT // 1024} KiB")
    try:
        value = json.loads(text or "", parse_constant=_not_json)
    except (ValueError, RecursionError):
        _refuse("is not valid JSON")
    if not isinstance(value, dict):
        _refuse("must be a JSON object")
    return value


def _not_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _refuse(message: str) -> NoReturn:
    raise InvalidFieldsError([FieldError("body", message)])
