"""Who changed what over HTTP, for the audit log."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

from duecourse.domain.text.redaction import truncate_middle
from duecourse.domain.time.instant import to_text

LOG_PREFIX = "[API]"
DETAIL_LIMIT = 80
PATH_LIMIT = 300  # a kilobyte is a write unit


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiChange:
    """`token` is the token's name. `id` only tells it from others of the same moment. `detail` is
    what was changed, as far as that is short."""

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
        """As in an address, where no blank and no end of a line could forge another entry."""
        return truncate_middle(quote(self.path), PATH_LIMIT)

    @property
    def text(self) -> str:
        """One line for people and for grep."""
        told = (
            f"{LOG_PREFIX} token={self.token_name} {self.method} {self.escaped_path} {self.status}"
        )
        told = f"{told} task={self.task_id}" if self.task_id else told
        return f"{told} {self.escaped_detail}" if self.detail else told

    @property
    def escaped_detail(self) -> str:
        return truncate_middle(quote(self.detail or "", safe="=,"), DETAIL_LIMIT)

    def to_json(self) -> dict[str, Any]:
        shown = {
            "text": self.text,
            "at": to_text(self.at),
            "token": self.token_name,
            "method": self.method,
            "path": self.escaped_path,
            "status": self.status,
        }
        shown |= {"task_id": self.task_id} if self.task_id else {}
        return shown | ({"detail": self.escaped_detail} if self.detail else {})
