"""What went wrong, as a value: redacted and cut at the door, whatever it came from."""

from __future__ import annotations

import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

SUMMARY_LIMIT = 1_000
MESSAGE_LIMIT = 16_000
REDACTED_LIMIT = 40_000  # more takes longer to look through than it is worth
SEAM = 400  # longer than a user name and password in a URL
TRACEBACK_LIMIT = 4_000
NAME_LIMIT = 200
_HUGE = 10**18  # no code is
LONGEST_RETRY_AFTER = timedelta(days=30)
_CUT = " […] "
_WORD_ENDS = re.compile(r"[\s\"',;&]")
_NAME = r"(?:api[_-]?key|token(?!s\b)|secret|password|passwd|credential|signature)[\w-]{0,40}"
_SECRETS = (
    (r"(authorization[\"']?\s*[=:]\s*[\"']?)(?:\w{1,20}\s+)?[^\s\"',;&]+", r"\1[redacted]"),
    (r"(bearer\s+)[^\s\"',;&]{4,}", r"\1[redacted]"),
    (rf"({_NAME}[\"']?\s*[=:]\s*[\"']?)[^\s\"',;&]{{4,}}", r"\1[redacted]"),
    (r"(://[^\s/:@]{0,100}:)[^\s/@]{1,200}(?=@)", r"\1[redacted]"),
    (r"(/bot\d{1,20}:)[\w-]+", r"\1[redacted]"),
)
_PATTERNS = [(re.compile(pattern, re.IGNORECASE), shown) for pattern, shown in _SECRETS]


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Make one with `of`, `from_exception` or `from_json`: they redact and cut.

    `message` keeps enough to be understood, `summary` what is shown and stored. `code` is what a
    machine calls the error (ECONNRESET, insufficient_quota), `status` its HTTP status.
    """

    message: str
    type: str | None = None
    code: str | None = None
    status: int | None = None
    retry_after: timedelta | None = None
    phase: str | None = None
    traceback: str | None = None

    @property
    def summary(self) -> str:
        return cut(self.message, SUMMARY_LIMIT)

    @classmethod
    def of(cls, message: str, /, **evidence: Any) -> Failure:
        """From anything that describes an error; evidence that makes no sense is left out."""
        return cls(
            message=clean(message, MESSAGE_LIMIT),
            type=_name(evidence.get("type")),
            code=_name(evidence.get("code")),
            status=_status(evidence.get("status")),
            retry_after=_wait(evidence.get("retry_after")),
            phase=_name(evidence.get("phase")),
            traceback=_text(evidence.get("traceback")),
        )

    @classmethod
    def from_exception(cls, error: BaseException, *, phase: str | None = None) -> Failure:
        """An exception that tells of somebody else's error has its type, code, status or
        retry_after as attributes: where in our code it was raised says nothing about it."""
        named = {name: getattr(error, name, None) for name in ("code", "status", "retry_after")}
        if hasattr(error, "type"):
            return cls.of(_said_by(error), type=error.type, phase=phase, **named)
        name = type(error).__name__
        told = "".join(traceback.format_exception(error))
        return cls.of(f"{name}: {_said_by(error)}", type=name, phase=phase, traceback=told, **named)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Failure:
        return cls.of(str(stored.get("message", "")), **stored)

    def to_json(self) -> dict[str, Any]:
        waits = self.retry_after.total_seconds() if self.retry_after is not None else None
        stored = {
            "message": self.message,
            "type": self.type,
            "code": self.code,
            "status": self.status,
            "retry_after": waits,
            "phase": self.phase,
            "traceback": self.traceback,
        }
        return {name: value for name, value in stored.items() if value is not None}


def _said_by(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # noqa: BLE001 - a message that cannot be made must not hide the failure
        return "(its message cannot be shown)"


def clean(text: str, limit: int = SUMMARY_LIMIT) -> str:
    """Redacted, then cut. Of a text that is hopelessly long, both ends are looked at."""
    if len(text) <= REDACTED_LIMIT:
        return cut(_redacted(text), limit)
    half = REDACTED_LIMIT // 2
    head, tail = _redacted(text[:half]), _redacted(text[-half:])
    # At the seam may lie half of a secret, which only the whole would show to be one.
    whole = _WORD_ENDS.search(tail, SEAM)
    return cut(head[:-SEAM] + _CUT + (tail[whole.end() :] if whole else ""), limit)


def _redacted(text: str) -> str:
    for pattern, shown in _PATTERNS:
        text = pattern.sub(shown, text)
    return text.encode("utf-8", "replace").decode()


def cut(text: str, limit: int) -> str:
    """The beginning and the end, where errors say what they are."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return text[:half] + _CUT + text[-(limit - half - len(_CUT)) :]


def _name(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _HUGE:
        value = str(value)
    return clean(value, NAME_LIMIT) if isinstance(value, str) and value.strip() else None


def _text(value: Any) -> str | None:
    return clean(value, TRACEBACK_LIMIT) if isinstance(value, str) and value.strip() else None


def _status(value: Any) -> int | None:
    is_status = isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599
    return value if is_status else None


def _wait(value: Any) -> timedelta | None:
    """Seconds, as a number or in digits; anything else is no promise of the server."""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    try:
        seconds = float(value)
    except (OverflowError, TypeError, ValueError):
        return None
    if not 0 <= seconds <= LONGEST_RETRY_AFTER.total_seconds():
        return None
    return timedelta(seconds=seconds)
