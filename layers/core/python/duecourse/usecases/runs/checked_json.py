"""Check that what a handler returns can be stored as JSON."""

from __future__ import annotations

import json
from typing import Any

from duecourse.domain.errors import NotJsonError, ResultTooLargeError


def checked_json(name: str, value: Any, max_size: int) -> Any:
    """Return `value` as it will be read back from JSON.

    Raises NotJsonError or ResultTooLargeError before anything is written.
    """
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise NotJsonError(name, error) from error
    if len(text) > max_size:
        raise ResultTooLargeError(name, len(text), max_size)
    return json.loads(text)


def json_size(value: Any) -> int:
    return len(json.dumps(value))
