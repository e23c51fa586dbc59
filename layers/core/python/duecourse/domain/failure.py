"""What went wrong, as a value: short enough to store, and without secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass

MESSAGE_LIMIT = 1_000
_NAME = r"(?:api[_-]?key|token|secret|password|passwd|credential|signature)[\w-]{0,40}"
_SECRETS = (
    (r"(authorization[\"']?\s*[=:]\s*[\"']?)(?:\w{1,20}\s+)?[^\s\"',;&]+", r"\1[redacted]"),
    (r"(bearer\s+)[^\s\"',;&]{4,}", r"\1[redacted]"),
    (rf"({_NAME}[\"']?\s*[=:]\s*[\"']?)[^\s\"',;&]{{4,}}", r"\1[redacted]"),
    (r"(://[^\s/:@]{0,100}:)[^\s/@]{1,200}(?=@)", r"\1[redacted]"),
    (r"(/bot\d{1,20}:)[\w-]+", r"\1[redacted]"),
)
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), shown) for pattern, shown in _SECRETS]


@dataclass(frozen=True, slots=True)
class Failure:
    message: str
    category: str = "unknown"

    @classmethod
    def from_exception(cls, error: Exception) -> Failure:
        return cls(clean(f"{type(error).__name__}: {error}"))


def clean(text: str) -> str:
    """Redacted first, then cut, so that a cut can leave no half of a secret readable."""
    text = text[: 20 * MESSAGE_LIMIT]
    for pattern, shown in _PATTERNS:
        text = pattern.sub(shown, text)
    return text.encode("utf-8", "replace").decode()[:MESSAGE_LIMIT]
