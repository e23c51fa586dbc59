"""Audit log entries for changes made through the HTTP API."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from duecourse.domain.text.redaction import truncate_middle
from duecourse.domain.time.instant import to_text

LOG_PREFIX = "[API]"
DETAIL_LIMIT = 80
PATH_LIMIT = 300  # keeps the item below 1 KB, one write unit


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiChange:
    """A change made through the API.

    `id` only tells apart changes of the same moment. `detail` says what was changed, if that is
    short.
    """

    id: str
    at: datetime
    token_name: str
    method: str
    path: str
    status: int
    task_id: str | None = None
    detail: str | None = None

    @property
    def escaped_path(self) -> str:
        """The URL-encoded path. Without spaces and line breaks it cannot forge a log entry."""
        return truncate_middle(quote(self.path), PATH_LIMIT)

    @property
    def text(self) -> str:
        """The entry as one line for the log."""
        line = (
            f"{LOG_PREFIX} token={self.token_name} {self.method} {self.escaped_path} {self.status}"
        )
        line = f"{line} task={self.task_id}" if self.task_id else line
        return f"{line} {self.escaped_detail}" if self.detail else line

    @property
    def escaped_detail(self) -> str:
        return truncate_middle(quote(self.detail or "", safe="=,"), DETAIL_LIMIT)

    def to_json(self) -> dict[str, Any]:
        values = {
            "text": self.text,
            "at": to_text(self.at),
            "token": self.token_name,
            "method": self.method,
            "path": self.escaped_path,
            "status": self.status,
        }
        values |= {"task_id": self.task_id} if self.task_id else {}
        return values | ({"detail": self.escaped_detail} if self.detail else {})
