"""Read values from JSON responses of any shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_MAX_NAME_LENGTH = 200
_MAX_NUMERIC_NAME = 10**9


def parse_object_or_none(body: bytes) -> Mapping[str, Any] | None:
    """Return the JSON object in `body`, or None if it holds none."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def value_at(value: Any, *path: str | int) -> Any:
    """Return the value at `path`, or None if the response has another shape."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and len(value) > step:
            value = value[step]
        else:
            return None
    return value


def text_at(value: Any, *path: str | int) -> str:
    found = value_at(value, *path)
    return found if isinstance(found, str) else ""


def name_at(value: Any, *path: str | int) -> str | None:
    """Return a short text, or an integer as text, or None."""
    found = value_at(value, *path)
    if isinstance(found, int) and not isinstance(found, bool) and abs(found) < _MAX_NUMERIC_NAME:
        found = str(found)
    is_name = isinstance(found, str) and 0 < len(found) <= _MAX_NAME_LENGTH and found.isprintable()
    return found if is_name else None
