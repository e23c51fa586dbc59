"""What went wrong, as a value: short enough to store, and without secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass

MESSAGE_LIMIT = 1_000
_SECRET = re.compile(
    r"(?i)(bearer\s+|(?:api[_-]?key|token|secret|password|authorization)[\"']?\s*[=:]\s*[\"']?)"
    r"[^\s\"',;&]{4,200}"
)


@dataclass(frozen=True, slots=True)
class Failure:
    message: str
    category: str = "unknown"

    @classmethod
    def from_exception(cls, error: Exception) -> Failure:
        return cls(clean(f"{type(error).__name__}: {error}"))


def clean(text: str) -> str:
    """Redacted first, then cut, so that a cut can leave no half of a secret readable."""
    redacted = _SECRET.sub(r"\1[redacted]", text[: 20 * MESSAGE_LIMIT])
    return redacted.encode("utf-8", "replace").decode()[:MESSAGE_LIMIT]
