"""Cursors of the error listings: where the next page begins."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any

from duecourse.domain.time.instant import from_text, to_text

ERROR_PREFIX = "x#"
MAX_ID_LENGTH = 100
_LAST_POSITION = f"{ERROR_PREFIX}~"


def encode_cursor(at: datetime, run_id: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([to_text(at), run_id]).encode()).decode()


def decode_cursor(cursor: str | None) -> str:
    """Return the sort key to continue after. Raises ValueError for a cursor we did not issue."""
    if cursor is None:
        return _LAST_POSITION
    try:
        text, run_id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        at = from_text(text)
        if not _is_valid_id(run_id) or encode_cursor(at, run_id) != cursor:
            raise ValueError("it can be read, but was not written so")
    except (AttributeError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError("is not a cursor of this listing") from error
    return f"{ERROR_PREFIX}{to_text(at)}#{run_id}"


def _is_valid_id(value: Any) -> bool:
    is_text = isinstance(value, str) and value.isascii() and value.isprintable()
    return is_text and 1 <= len(value) <= MAX_ID_LENGTH
