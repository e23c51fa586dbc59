"""What lies in the JSON that somebody answered with, of whatever shape it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_LONGEST_NAME = 200
_LARGEST_NAME = 10**9


def read_json(body: bytes) -> Mapping[str, Any] | None:
    """None for what is no JSON object."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def at(value: Any, *path: str | int) -> Any:
    """What lies there, or None: nothing about the shape of an answer is certain."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int) and isinstance(value, list) and len(value) > step:
            value = value[step]
        else:
            return None
    return value


def text_at(value: Any, *path: str | int) -> str:
    found = at(value, *path)
    return found if isinstance(found, str) else ""


def name_at(value: Any, *path: str | int) -> str | None:
    """A short text, or a number as one."""
    found = at(value, *path)
    if isinstance(found, int) and not isinstance(found, bool) and abs(found) < _LARGEST_NAME:
        found = str(found)
    is_name = isinstance(found, str) and 0 < len(found) <= _LONGEST_NAME and found.isprintable()
    return found if is_name else None
