"""Encode and decode the cursor of the task listing: a key of the index that the listing reads."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass

from duecourse.domain.time.instant import from_text

Key = tuple[str, str]  # a time as text, and the id of a task
_DUE = "due"


@dataclass(frozen=True)
class ListCursor:
    """The key to continue after: by due time, or by creation time like every older cursor."""

    key: Key
    is_by_due_time: bool = False

    def encode(self) -> str:
        position = [_DUE, *self.key] if self.is_by_due_time else self.key
        return base64.urlsafe_b64encode(json.dumps(position).encode()).decode()

    @classmethod
    def decode(cls, cursor: str) -> ListCursor:
        """Raises ValueError for a cursor we did not issue."""
        try:
            *kind, time, task_id = json.loads(base64.urlsafe_b64decode(cursor.encode()))
            from_text(time)
            if kind not in ([], [_DUE]):
                raise TypeError
            return cls((time, str(task_id)), is_by_due_time=bool(kind))
        except (AttributeError, OverflowError, RecursionError, TypeError, ValueError) as error:
            raise ValueError("is not a cursor of this listing") from error
