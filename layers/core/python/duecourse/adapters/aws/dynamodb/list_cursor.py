"""Encode and decode the cursor of the task listing."""

from __future__ import annotations

import base64
import json

from duecourse.domain.time.instant import from_text

_MAX_KEY = "~"


def encode_cursor(position: tuple[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode()


def decode_cursor(cursor: str | None) -> tuple[str, str]:
    """Return creation time and id to continue after.

    Raises ValueError for a cursor we did not issue.
    """
    if cursor is None:
        return (_MAX_KEY, _MAX_KEY)
    try:
        created_at, task_id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        from_text(created_at)
        return created_at, str(task_id)
    except (AttributeError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError("is not a cursor of this listing") from error
